/** Words of the kinds of environment that a person makes; they come with their fields, not with the page. */

export const KIND_STRINGS = {
  /** Before anything is contacted. */
  consent: 'This link names what follows. Nothing is contacted, and no code runs, until you press Allow.',
  server: (what: string) => `A server: ${what}`,
  dataset: (name: string) => `A dataset of the Hub: ${name}`,
  code: (called: string) => `Code that runs in the sandbox, without network: ${called}`,
  allow: 'Allow',
} as const
