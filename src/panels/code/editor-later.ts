/** The code editor, fetched when the first code is to be changed. */

import { later } from '../../ui/later'

export const EditorLater = later(() => import('./CodeEditor').then((module) => module.default))
