/** The words of before and after. */

import type { ComparedChoice } from '../store/display'
import type { Occupied } from '../store/occupied'
import { percent, plural } from './format'

const quoted = (token: string) => `“${token}”`
/** How likely a token is to each. */
const likelihoods = (token: string, base: number, lora: number) => `${quoted(token)} was ${percent(base)} likely to the base and is ${percent(lora)} likely with the LoRA`

export const COMPARE_STRINGS = {
  title: 'Before / after',
  lead: 'One scenario, the same random numbers: played by the base model alone, and by the base with its LoRA.',
  open: 'Open',
  close: 'Close',
  base: 'Before: base model',
  lora: 'After: with LoRA',
  /** Short names in a line. */
  before: 'Before',
  after: 'after',
  step: (step: number) => (step === 0 ? 'before the first step' : `after step ${step}`),
  scenario: 'Scenario',
  splits: { heldout: 'Held-out', train: 'Training' } satisfies Record<ComparedChoice['split'], string>,
  splitHints: { heldout: 'A scenario that training never draws', train: 'A scenario that training may draw' } satisfies Record<ComparedChoice['split'], string>,
  seed: 'seed',
  seedRefused: 'The seed must be a whole number from 0 to 2147483647',
  previous: 'Previous seed',
  next: 'Next seed',
  how: 'How tokens are chosen',
  ways: { greedy: 'Greedy', sampled: 'Sampled' },
  wayHints: { greedy: 'The likeliest token each time', sampled: 'Drawn at the temperature of the run, with the same random numbers on both sides' },
  choice: 'The compared episode',
  play: 'Play both',
  again: 'Play both again',
  playing: 'Playing: the base model first, then with the LoRA.',
  done: 'Both have played.',
  never: 'Press Play both: the same scenario by the base model and with the LoRA, side by side.',
  /** Where the panel is closed and there is nothing to tell. */
  closed: 'Open it to let both play the same scenario.',
  older: (made: number, now: number) => `Played after step ${made}; the LoRA now stands after step ${now}.`,
  why: {
    loading: 'The model is not loaded yet.',
    training: 'The model is being trained, so it cannot play now.',
    midStep: 'The run is paused in the middle of a step, which needs the model.',
  } satisfies Record<Occupied, string>,
  fromFile: 'What is shown came from a file, without a model that could play.',
  pause: 'Pause',
  finishStep: 'Finish the step',
  recorded: (steps: string) => `Recorded with the run, before training and after steps ${steps}. With a run of your own any seed can be played.`,
  notRecorded: (seeds: string) => `The recording does not hold this one. It holds held-out seeds ${seeds}.`,
  showRecorded: 'Show one that it holds',
  /** What the two episodes have in common and where they part. */
  parting: {
    prompt: 'The environment began in another way although the seed is the same, so there is nothing to compare token by token.',
    untrained: (n: number) => `The LoRA has not been trained yet: both wrote the same ${plural(n, 'token')}.`,
    unchanged: (n: number) => `Both wrote the same ${plural(n, 'token')}, each as likely as before.`,
    changed: (n: number, token: string, base: number, lora: number) => `Both wrote the same ${plural(n, 'token')}. Changed most: ${likelihoods(token, base, lora)}.`,
    token: (n: number, base: string, lora: string) => `${same(n)} there the LoRA wrote ${quoted(lora)}, the base ${quoted(base)}.`,
    because: (token: string, base: number, lora: number) => `${likelihoods(token, base, lora)}.`,
    end: (n: number, ended: 'base' | 'lora') => `${same(n)} there ${ended === 'base' ? 'the base ended and the LoRA wrote on' : 'the LoRA ended and the base wrote on'}.`,
    environment: (n: number) => `${same(n)} there the environment answered in another way, although scenario and calls are the same.`,
  },
  prompt: (n: number) => `The prompt, the same for both: ${plural(n, 'token')}`,
  legend: 'log-prob with LoRA − base, in nats: ▲ likelier with the LoRA, ▼ less likely',
  common: 'the same in both',
  first: 'the first token that differs',
  underBase: 'probability, base',
  underLora: 'probability, LoRA',
  change: 'log-prob change',
  tokens: (who: string) => `${who}: every token after the prompt`,
} as const

function same(n: number): string {
  return n === 0 ? 'They part at once:' : `The first ${n === 1 ? 'token is' : `${n} tokens are`} the same;`
}
