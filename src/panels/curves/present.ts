/** The id of the run that is shown, among those that are laid over it. */

export const PRESENT = 'present'
