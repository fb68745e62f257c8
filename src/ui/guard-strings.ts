/** Words of what stands before training: recipes and the dry run. They come with their parts, not with the page. */

export const GUARD_STRINGS = {
  recipe: {
    name: 'Recipe',
    own: 'own',
    trl: 'TRL’s defaults',
    same: 'The settings of the loss are TRL’s defaults.',
    changes: (what: string) => `Beside TRL’s defaults: ${what}.`,
    refused: (name: string, why: string) => `${name} was not taken: ${why}`,
  },
} as const
