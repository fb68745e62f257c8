/** The fields of a dataset of prompts and of a class: alone in the picker, and within several environments. Fetched when they are wanted. */

import { later } from '../../ui/later'

export const PromptsField = later(() => import('../prompts/PromptsField').then((part) => part.PromptsField))
export const ClassField = later(() => import('../code/ClassField').then((part) => part.ClassField))
