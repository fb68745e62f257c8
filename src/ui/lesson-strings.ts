/** The words of the lessons. Every number in them comes from the run that is on the page. Fetched with the first lesson. */

import type { LessonId } from '../store/lessons'
import { number, percent, plain, plural, signed } from './format'

const several = (values: readonly number[]) => values.map((value) => number(value)).join(', ')
const step = (n: number) => `step ${n}`

export const LESSON_TITLES: Record<LessonId, string> = {
  'one-step': 'One GRPO step by hand',
  'why-groups': 'Why groups',
  masking: 'What masking does',
  'reward-hacking': 'Reward hacking',
  'zero-variance': 'Groups without a signal',
  clipping: 'Clipping, with more iterations',
  temperature: 'Temperature and exploration',
}

export const LESSON_STRINGS = {
  lesson: 'Lesson',
  card: (n: number, of: number) => `${n} of ${of}`,
  back: 'Back',
  next: 'Next',
  end: 'End of the lesson',
  close: 'Close the lesson',
  closeHint: 'What stood on the page before the lesson comes back',
  fold: 'Fold',
  unfold: 'Unfold',
  predict: 'Your prediction',
  compute: 'Your result',
  reveal: 'Reveal',
  check: 'Check',
  again: 'Forget this answer',
  first: { guess: 'Predict first; then it is revealed.', exact: 'Work it out, then check.' },
  notYet: 'Not yet.',
  tryAgain: 'Change it and check again.',
  tell: 'Tell me',
  notNumber: 'Write a number, such as 0.5, −0.94 or 1/4.',
  gone: 'Its episodes are no longer kept: press Reset, then Step.',
  said: (what: string) => `You said ${what}.`,
  verdict: { right: 'Right', near: 'Close', off: 'Not so' },
  nothingYet: 'The page has no finished step to read this from: press Step in the bar.',
  wants: {
    /** The card's text until then. */
    later: 'This card speaks of a run that comes first.',
    /** Beside the button that reveals. */
    short: 'The run that answers it comes first.',
    set: (settings: string) => `This question needs a run of its own: ${settings}.`,
    setButton: 'Change the settings',
    reset: 'Press Reset in the bar: the run that is there stays under Runs.',
    step: 'Press Step in the bar: it plays one GRPO step.',
    train: (steps: number, done: number) => `Press Train (or Resume) in the bar and let ${step(steps)} come. ${plural(done, 'step')} done.`,
    running: (steps: number, done: number) => `Running: ${done} of ${plural(steps, 'step')} done.`,
    loading: 'The model is being loaded.',
  },
  oneStep: {
    mean: {
      text: (of: number, group: number, size: number, rewards: readonly number[]) =>
        `Here is group ${group} of ${step(of)}: ${size} episodes from one start. Take its first four alone; their rewards are ${several(rewards)}. What the page says of all ${size} is covered until you have answered.`,
      ask: 'What is the mean of these four?',
      label: 'mean',
      reveal: (mean: number, size: number) =>
        `The mean of the four is ${number(mean)}; the one under Rewards is that of all ${size}. GRPO asks of each episode: better or worse than that?`,
    },
    std: {
      text: (rewards: readonly number[], mean: number) =>
        `How far apart are ${several(rewards)}? Square each distance from the mean ${number(mean)}, add the squares, divide by 3 (one less than four), take the root.`,
      ask: 'What is the standard deviation of these four?',
      label: 'std',
      reveal: (std: number) => `The standard deviation is ${number(std)}. TRL divides by one less than the number of rewards, and so does this page.`,
    },
    advantages: {
      text: (rewards: readonly number[], mean: number, std: number) =>
        `An advantage is (reward − mean) ÷ (std + 0.0001). Rewards ${several(rewards)}, mean ${number(mean)}, std ${number(std)}.`,
      ask: 'What are the advantages of these four alone?',
      label: (place: number) => `episode ${place}`,
      reveal: (advantages: readonly number[]) => `${advantages.map((value) => signed(value)).join(', ')}. They add up to 0: some go up because others go down.`,
    },
    whole: {
      text: (size: number, mean: number, std: number) =>
        `The page does it with all ${size} of the group: mean ${number(mean)}, std ${number(std)}, below the bars under Rewards.`,
      ask: (place: number, reward: number) => `Episode ${place} earned ${number(reward)}. What is its advantage?`,
      label: 'advantage',
      reveal: (place: number, advantage: number) => `${signed(advantage)}, as the row of episode ${place} says.`,
    },
    push: {
      text: (token: string, place: number, advantage: number) =>
        `The token “${token}” of episode ${place} is selected; its numbers stand in the formula under Update. Every token of an episode has that episode’s advantage: ${signed(advantage)}.`,
      ask: 'What does the optimizer step do to this token?',
      options: { up: 'It becomes more likely', down: 'It becomes less likely', none: 'Nothing' },
      reveal: (derivative: number) =>
        derivative === 0
          ? 'Nothing: the derivative of the loss by its log-prob is 0.'
          : `The derivative of the loss by its log-prob is ${signed(derivative)}. The optimizer goes against it, so the token becomes ${derivative < 0 ? 'more' : 'less'} likely.`,
    },
  },
  whyGroups: {
    pairs: {
      text: (of: number, episodes: number, size: number, pairs: number) =>
        `${episodes} episodes were played in ${step(of)}, in groups of ${size}. Cut each group into pairs, as if G were 2: ${plural(pairs, 'pair')}. Two equal rewards teach nothing.`,
      ask: (pairs: number) => `How many of the ${pairs} pairs teach nothing?`,
      label: 'pairs',
      reveal: (silent: number, pairs: number) => `${silent} of ${pairs}, ${percent(silent / pairs)}: that share of the work would be thrown away.`,
    },
    fours: {
      text: (fours: number) => `The same episodes cut into fours, as if G were 4: ${plural(fours, 'group')}.`,
      ask: (fours: number) => `How many of the ${fours} teach nothing?`,
      label: 'groups of four',
      reveal: (silent: number, fours: number, whole: number, groups: number) =>
        `${silent} of ${fours}, ${percent(silent / fours)}. In the whole groups it is ${whole} of ${groups}.`,
    },
    pair: {
      text: (high: number, low: number) => `A pair of this step with different rewards: ${number(high)} and ${number(low)}. Mean and standard deviation come from these two alone.`,
      ask: 'What is the advantage of the better one?',
      label: 'advantage',
      reveal: (advantage: number) => `${signed(advantage)}. With two rewards it is always that, whether they differ by a hair or by everything: a pair has no measure of its own.`,
    },
    two: {
      text: 'Now really train it, first with G = 2: 32 groups of two are as many episodes as before.',
      ask: 'How many of the 32 groups will have a signal?',
      label: 'groups',
      reveal: (useful: number, groups: number, episodes: number) =>
        `${useful} of ${groups}: ${percent(useful / groups)} of the ${episodes} episodes taught something. The counts are those of the step under Group.`,
    },
    sixteen: {
      text: 'And with G = 16: four groups, as many episodes again.',
      ask: 'How many of the 4 groups will have a signal?',
      label: 'groups',
      reveal: (useful: number, groups: number, before: number | null) =>
        `${useful} of ${groups}, ${percent(useful / groups)}${before === null ? '' : `; with G = 2 it was ${percent(before / 32)}`}. Large groups waste less, and see fewer different starts in a step.`,
    },
  },
  masking: {
    count: {
      text: (total: number, turns: number) =>
        `This episode has ${total} tokens in ${plural(turns, 'turn')}: the prompt, what the model wrote, what the environment answered, and the chat template between them.`,
      ask: 'From how many of them does the model learn?',
      label: 'tokens',
      reveal: (trained: number, total: number) => `From ${trained} of ${total}, ${percent(trained / total)}: those that the model wrote. All others are hatched.`,
    },
    other: {
      text: (token: string, author: string) => `The token “${token}” is selected. It was written by the ${author}, not by the model. What the loss makes of it is covered under Update.`,
      ask: 'What does it add to the loss?',
      options: { zero: 'Nothing at all', half: 'Half of what a token of the model adds', full: 'As much as a token of the model' },
      reveal: { zero: 'It contributes 0. The model reads it, and is never trained to write it.', full: 'It is trained here.' },
    },
    own: {
      text: (token: string, advantage: number) => `Now a token of the model: “${token}”. Its episode has the advantage ${signed(advantage)}.`,
      ask: 'What does the optimizer step do to it?',
    },
    share: {
      text: (episodes: number, of: number) => `Take all ${episodes} episodes of ${step(of)}, prompts included.`,
      ask: 'What share of all tokens is trained, in percent?',
      label: 'percent',
      reveal: (trained: number, total: number) => `${percent(trained / total)}: ${trained} of ${total} tokens. Without the mask the model would learn mostly to recite prompts and to invent the environment’s answers.`,
    },
  },
  hacking: {
    before: {
      text: 'The task says: “Echo the message.” The reward says something else: a thirteenth for every character, up to 1. Nobody checks which characters.',
      ask: (episodes: number) => `Before it has learnt anything: how many of the ${episodes} episodes repeat the message exactly?`,
      label: 'episodes',
      reveal: (exact: number, longer: number, episodes: number, reward: number) =>
        `${exact} of ${episodes}; ${longer} said something longer than the message. The mean reward was ${number(reward)}.`,
    },
    learns: {
      text: 'Now let it train, for eighteen steps.',
      ask: 'What will it learn?',
      options: { repeat: 'To repeat the message exactly', longer: 'To say something longer, whatever was asked', neither: 'Neither' },
      reveal: (now: { exact: number; longer: number; episodes: number; reward: number; step: number }, exact: number | null, longer: number | null) =>
        `In ${step(now.step)} ${now.longer} of ${now.episodes} say something longer than the message${longer === null ? '' : ` (${longer} did before)`}, and ${now.exact} repeat it${exact === null ? '' : ` (before: ${exact})`}. The mean reward is ${number(now.reward)}.`,
    },
    best: {
      text: (wanted: string, said: string) => `Look at an episode of the newest step. Asked to repeat “${wanted}”, the model said “${said}”.`,
      ask: 'What reward did it get?',
      label: 'reward',
      reveal: (reward: number, faithful: number) =>
        `${number(reward)}. Repeating the message would have earned ${number(faithful)}. The model did what was paid, not what was meant: change the reward, not the model.`,
    },
  },
  silent: {
    advantage: {
      text: (of: number, group: number, size: number, reward: number) => `In group ${group} of ${step(of)} all ${size} episodes earned ${number(reward)}.`,
      ask: 'What is the advantage of its first episode?',
      label: 'advantage',
      reveal: (advantage: number) => `${number(advantage)}: equal rewards leave nothing to compare. The whole group teaches nothing, good or bad as it may be.`,
    },
    count: {
      text: (of: number, groups: number) => `${groups} groups were played in ${step(of)}. The buttons beside the heading of Group show each.`,
      ask: (groups: number) => `How many of the ${groups} teach nothing?`,
      label: 'groups',
      reveal: (silent: number, groups: number) => `${silent} of ${groups}. TRL’s metric frac_reward_zero_std says ${number(silent / groups)}.`,
    },
    trend: {
      text: (steps: number) => `The run has ${plural(steps, 'step')} so far. At first the model fails often and succeeds often.`,
      ask: 'Towards its end, are there more groups without a signal, or fewer?',
      options: { more: 'More', fewer: 'Fewer', same: 'As many' },
      reveal: (early: number, late: number, share: number) =>
        `${percent(early)} in the first ${plural(share, 'step')}, ${percent(late)} in the last. ${late > early ? 'Where every episode succeeds there is nothing left to learn from: harder tasks are needed.' : 'This run has not come to where its tasks are too easy.'}`,
    },
    work: {
      text: (episodes: number, of: number) => `${episodes} episodes were sampled in ${step(of)}.`,
      ask: 'How many of them pushed the model at all?',
      label: 'episodes',
      reveal: (pushing: number, episodes: number) => `${pushing} of ${episodes}: the others have advantage 0.`,
    },
  },
  clipping: {
    one: {
      text: (token: string) => `The ratio ρ is the token’s probability now over its probability when it was sampled. For “${token}” it stands in the formula under Update. This run updates once per batch.`,
      ask: 'What is ρ when there is one update per batch?',
      label: 'ρ',
      reveal: (ratio: number) => `${number(ratio)}: nothing has changed yet when the one update is computed, so nothing is ever clipped.`,
    },
    bound: {
      text: (epsilon: number) => `With several updates on the same episodes ρ drifts away from 1. epsilon is ${number(epsilon)}: beyond 1 ± epsilon, the clip stops a token from being pushed on.`,
      ask: 'A token with advantage above 0: from which ρ on is it pushed no more?',
      label: 'ρ',
      reveal: (bound: number) => `${number(bound)}, that is 1 + epsilon${'_high'} where that is set, else 1 + epsilon.`,
    },
    four: {
      text: 'Now four updates on every batch: num_iterations 4, three steps.',
      ask: 'What share of tokens will the clip hold back in the third step, in percent?',
      label: 'percent',
      reveal: (share: number, of: number) => `${percent(share)} in ${step(of)}: clip_ratio/region_mean under Curves. Most tokens are so likely already that their ratio hardly moves.`,
    },
    furthest: {
      text: (token: string, ratio: number, advantage: number) =>
        `Of all tokens of this step “${token}” went furthest: ρ is ${number(ratio)} at the last of the four updates. Its advantage is ${signed(advantage)}.`,
      ask: 'Which branch of the min has won?',
      options: { clipped: 'The clipped one: it is pushed no more', unclipped: 'The unclipped one: it is pushed on', equal: 'Both are equal' },
      reveal: {
        clipped: 'The clipped one. It went as far as one batch of episodes may take it.',
        unclipped: 'The unclipped one. The min takes the clip only where the token has already moved the way its advantage wants.',
        equal: 'Both are equal: it is within 1 ± epsilon, and pushed on.',
      },
    },
  },
  temperature: {
    sharper: {
      text: (token: string, prob: number, others: number) =>
        `Where “${token}” was written the model was least decided: ${percent(prob)} for the likeliest of the ${others} listed beside the tokens. Temperature divides the logits; at ½ every probability is squared, then all are scaled to add up to 1.`,
      ask: (others: number) => `Among these ${others}, what does the likeliest get at temperature ½, in percent?`,
      label: 'percent',
      reveal: (sharp: number, prob: number) => `${percent(sharp)} among those listed, where it has ${percent(prob)} at temperature 1: the likely becomes likelier, and the rest is tried less.`,
    },
    one: {
      text: (of: number) => `This is ${step(of)} at temperature 1, of an untrained adapter or nearly so.`,
      ask: (groups: number) => `How many of its ${groups} groups have a signal?`,
      label: 'groups',
      reveal: (useful: number, groups: number, reward: number, entropy: number) => `${useful} of ${groups}. Mean reward ${number(reward)}, entropy ${number(entropy)} nats.`,
    },
    cold: {
      text: 'Now the first step at temperature 0.3: the same model, the same seed, fewer surprises.',
      ask: 'How many of the 8 groups will have a signal?',
      label: 'groups',
    },
    hot: {
      text: 'And at temperature 2: it tries nearly everything.',
      ask: 'How many of the 8 groups will have a signal?',
      label: 'groups',
    },
    reveal: (useful: number, groups: number, reward: number, entropy: number, before: readonly number[] | null) =>
      `${useful} of ${groups}, mean reward ${number(reward)}, entropy ${number(entropy)} nats.${before ? ` At temperature 1: ${plain(before[0] ?? 0)} of ${groups}, mean reward ${number(before[1])}, entropy ${number(before[2])} nats.` : ''} A run can only learn from what it tries. Mildly cold often scores better at once; near 0 all episodes of a group are the same; too hot, and what it tries is noise.`,
  },
} as const
