/** Whoever imports this has zod/mini say in English what is wrong with a field, for people to read: by itself it has no words. */

import * as z from 'zod/mini'
import english from 'zod/v4/locales/en.js'

z.config(english())
