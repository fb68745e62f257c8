/** The question about what a link names, which is fetched where there is one. */

import { later } from '../../ui/later'

export const LinkedConsent = later(() => import('./LinkedConsent').then((part) => part.LinkedConsent))
