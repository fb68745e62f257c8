/** The words of the tour: five questions, and answers of at most two sentences with the numbers that are in view. Fetched with the tour. */

import { number, plural, signed } from './format'

const list = (parts: readonly string[]) => (parts.length < 2 ? parts.join() : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`)

/** Before that many steps, and by less than that, a mean of rewards goes up and down by chance. */
const [ENOUGH_STEPS, CLEAR_RISE] = [8, 0.1]

export const TOUR_STRINGS = {
  name: 'Tour',
  place: (n: number, of: number) => `Question ${n} of ${of}`,
  back: 'Back',
  next: 'Next',
  finish: 'Done',
  close: 'Close the tour; it goes on from here',
  never: 'Skip for ever',
  keys: 'Space or → for the next question, ← back, Esc closes.',
  /** What stands for an answer while its part of the page is hidden or not there. */
  absent: 'The part of the page that shows it is hidden.',
  nothing: 'Nothing has been played yet: press Step, and the answer comes in the frame.',
  task: {
    question: 'What must the model do?',
    answer: (prompt: string, tools: readonly string[]) =>
      `${prompt ? `It is told “${prompt}”, then what it sees.` : 'It is told what it sees, and no more.'} ${tools.length > 0 ? `It answers by calling ${tools.length === 1 ? 'its one tool' : `one of ${tools.length} tools`}: ${list(tools)}.` : 'Its tools are known once the environment is connected.'}`,
  },
  tokens: {
    question: 'Which tokens does it learn from, and which not?',
    answer: (trained: number, total: number) =>
      trained === 0
        ? `Of this episode’s ${plural(total, 'token')} none is trained so far: the hatched ones are masked.`
        : `From the ${plural(trained, 'token')} that it wrote itself. The other ${total - trained} of this episode’s ${total} are masked (hatched): it reads them and is not trained on them.`,
  },
  group: {
    question: (size: number) => `Why is the same prompt played ${size} times?`,
    solved: (size: number, solved: number) =>
      `To compare: all ${size} began alike, and ${solved} solved it. So a difference in reward comes from what the model did, and nothing else is needed to learn from.`,
    rewarded: (size: number, low: number, high: number) =>
      `To compare: all ${size} began alike, and earned from ${number(low)} to ${number(high)}. So a difference in reward comes from what the model did, and nothing else is needed to learn from.`,
    open: (size: number) => `To compare: all ${size} begin alike, so a difference in reward will come from what the model did. Their rewards are not in yet.`,
  },
  advantages: {
    question: 'Which answers become likelier?',
    some: (up: number, best: number, down: number) =>
      `The ${up === 1 ? 'one' : up} above the group’s mean, marked ▲ (${up === 1 ? '' : 'up to '}${signed(best)}): advantage above 0. ${down === 1 ? 'The one' : `The ${down}`} marked ▼ become${down === 1 ? 's' : ''} less likely.`,
    none: 'In this group none: all rewards are equal, so every advantage is 0 and it teaches nothing. That is called no signal.',
    open: 'Those with a reward above the group’s mean. The rewards of this step are not in yet.',
  },
  learning: {
    question: 'Is it learning?',
    answer: (first: number, last: number, steps: number) =>
      `Watch the reward, not the loss: its mean went from ${number(first)} in the first step to ${number(last)} after ${plural(steps, 'step')}. ${steps >= ENOUGH_STEPS && last - first > CLEAR_RISE ? 'So it is.' : steps < ENOUGH_STEPS ? 'That is too early to tell.' : 'So not yet.'}`,
    one: (reward: number) => `Watch the reward, not the loss: its mean was ${number(reward)} in the first step. One step says nothing yet.`,
  },
} as const
