/** The words around an explanation; the explanations themselves stand in explainers/, which loads later. */

export const HELP_STRINGS = {
  loading: 'Reading the explanation.',
  failed: 'The explanation could not be loaded: the connection to this site is broken. Close it and press ? again.',
  missing: 'Nobody has explained this yet.',
  source: (title: string) => `Source: ${title}`,
  newTab: 'Opens in a new tab',
} as const
