/** The words of play by hand and of the tools' editor. */

import type { SeedComparison } from '../worker/protocol'

const seedsInWords = (n: number) => (n === 1 ? 'another seed' : `${n} other seeds`)

/** How sure the verdict is, from how often it would come by chance. */
function confidence(chance: number): string {
  const often = chance >= 0.005 ? `${Math.round(chance * 100)} of 100` : `${chance < 0.001 ? 'fewer than ' : ''}1 of ${chance < 0.001 ? 1000 : Math.round(1 / chance)}`
  const by = `An environment that ignores seeds would look so in ${often} comparisons`
  return chance > 0.05 ? `${by}, so this is weak evidence.` : `${by}.`
}

export const ENVIRONMENT_STRINGS = {
  title: 'Play by hand',
  lead: 'Play an episode of the environment yourself: what the model reads, what it may call, what comes back.',
  stopWaiting: 'Stop waiting for the environment',
  waitStopped: 'The waiting for the environment was stopped. Press Reset to connect again.',
  open: 'Open',
  close: 'Close',
  alone: 'This run has no environment: a row’s prompt, one answer. There is nothing to call; talk to the model under Chat.',
  notConnected: 'There is nothing to play yet: the environment is not connected, or the model is not loaded.',
  connected: (name: string) => `The controls name another environment: until Reset, you play ${name}, with the settings of the run.`,
  withChanges: 'You play with the changed prompts and tools; the run takes them over at Reset.',
  seed: 'seed',
  seedRefused: 'seed must be a whole number from 0 to 2147483646',
  reset: 'Reset',
  resetHint: 'Begins an episode in a session of its own, beside the run',
  step: 'Step',
  state: 'State',
  stateHint: 'The environment’s own account, which the model never sees',
  noState: 'This environment tells no state.',
  end: 'End',
  endHint: 'Ends the episode and gives its session back',
  compare: 'Test seeds',
  compareHint: 'Resets up to eight sessions with this seed and four with other seeds, one after the other, and compares what they say',
  busy: {
    reset: 'Waiting for the environment to reset.',
    call: 'Waiting for the environment to answer.',
    state: 'Waiting for the state.',
    end: 'Ending the episode.',
    compare: 'Resetting sessions one after the other.',
  },
  verdicts: {
    honoured: 'Seed honoured',
    ignored: 'Seeds ignored here',
    constant: 'Always the same start',
    mixed: 'Seed honoured in part',
  } satisfies Record<SeedComparison['verdict'], string>,
  verdictWhy: {
    honoured: (seed, { resets, others }, chance) =>
      `all ${resets} resets with seed ${seed} gave the same observation, ${seedsInWords(others)} not. ${confidence(chance ?? 1)}`,
    ignored: (seed, { resets, starts }) =>
      `${resets} resets with seed ${seed} gave ${starts} different observations, so the episodes of a group may not start alike.`,
    constant: (seed, { resets, others }) =>
      `${resets} resets with seed ${seed} and ${others} with other seeds gave the same observation, so it does not show whether seeds are honoured.`,
    mixed: (seed, { resets, starts, others }) =>
      `${resets} resets with seed ${seed} gave ${starts} different observations, mostly the same one, which ${seedsInWords(others)} seldom gave: the episodes of a group may not start alike.`,
  } satisfies Record<SeedComparison['verdict'], (seed: number, counts: SeedComparison['counts'], chance: number | null) => string>,
  stateDiffers: (names: readonly string[]) => `The state differs in ${names.join(', ')} although the seed is the same: what is hidden may not follow from the seed.`,
  observations: ['A reset', 'Another one with this seed', 'Another seed'],
  observation: 'Observation',
  picture: (name: string, width: number, height: number) => `${name}, ${width} × ${height} pixels`,
  observationNote: 'exactly as the model gets it',
  nothingSaid: 'The environment said nothing.',
  refused: 'refused: it never reached the environment',
  toolError: 'the tool reported an error',
  reward: 'reward',
  noReward: 'none given',
  done: 'done',
  yes: 'yes',
  no: 'no',
  took: 'took',
  pressReset: 'Press Reset to begin an episode.',
  over: 'The episode is over. Press Reset to play another.',
  left: 'This episode was ended before it was done; below is how far it came. Press Reset to play another.',
  calls: 'Tools',
  leftOut: 'left out',
  optional: 'optional',
  prompt: 'Prompt as the model reads it',
  frames: (n: number) => `Raw frames (${n})`,
  noFrames: 'No frames: this game plays inside the page.',
  noFramesYet: 'None yet.',
  frameNote: 'The frames of your own session, newest first. What may hold the answer is hidden while the episode is played; after it, State shows it.',
  frameHidden: 'what may hold the answer is hidden',
  sent: 'sent',
  received: 'received',
  metadata: 'metadata',
  cut: (shown: number) => `… cut after ${shown} characters`,
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not allow copying: select the text and copy it with the keyboard.',
  trajectory: 'Your episode',
  trajectoryNote: 'Your calls stand where the model’s would, written as it must write them. Nothing of it trains until you press Train on my play.',
  episode: (n: number, seed: number) => `Episode ${n} by hand · seed ${seed}`,
  writer: 'you',
  yourTurn: 'your turn',
  edit: 'Edit',
  editName: (name: string) => `Edit ${name}`,
  doneEditing: 'Close',
  doneEditingName: (name: string) => `Close ${name}`,
  changed: 'changed',
  hidden: 'left out',
  originally: (name: string) => `The environment calls it ${name}.`,
  name: 'Name',
  description: 'Description',
  hide: 'Leave this tool out',
  parameter: { describe: 'description', values: 'allowed values', list: 'only these values, with commas', minimum: 'at least', maximum: 'at most' },
  undo: 'Undo the changes of this tool',
  undoAll: 'Back to the environment’s own tools',
  test: 'Test',
  testHint: 'One reset and one call, in a session of your own; the result is shown here and under Play by hand',
  testing: 'Waiting for the environment.',
} as const
