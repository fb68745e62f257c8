/** Words of what stands before training: recipes and the dry run. They come with their parts, not with the page. */

import { number, percent, plain, plural, roughTime } from './format'

/** Short times by their digits: two that are rounded to seconds may not add up. */
const rough = (seconds: number) => (seconds < 10 ? `${number(seconds, 2)} s` : roughTime(seconds))

export const GUARD_STRINGS = {
  recipe: {
    name: 'Recipe',
    own: 'own',
    trl: 'TRL’s defaults',
    same: 'The settings of the loss are TRL’s defaults.',
    changes: (what: string) => `Beside TRL’s defaults: ${what}.`,
    refused: (name: string, why: string) => `${name} was not taken: ${why}`,
  },
  dry: {
    open: 'Dry run',
    openHint: 'Play a few episodes and time a training pass with these settings, before anything is trained',
    title: 'Dry run',
    lead: 'Two groups of episodes and one training pass without an optimizer step: what a run with these settings would meet. The adapter and the run stay as they are.',
    close: 'Close',
    run: 'Run it',
    again: 'Run it again',
    playing: (done: number, total: number) => (total === 0 ? 'Waiting for the model' : done < total ? `${done} of ${total} episodes played` : 'Timing a training pass'),
    blocked: {
      load: 'Another model or adapter is chosen: press Load under Model first.',
      changed: 'The settings differ from those of the run: press Reset to take them over, then try them.',
      recording: 'A recording from a file is shown, and nothing can be tried under it. Press Reset for a run of your own.',
      consent: 'Agree under Task to what the link names first.',
      active: 'A step is being trained. Press Pause at its end, then try.',
      midStep: 'The run is in the middle of a step. Finish it first: choose GRPO step beside Step and press it.',
      loading: 'The model is being loaded.',
    },
    older: 'These figures are of other settings than those shown now.',
    found: 'What it found',
    advice: 'What to change',
    fine: 'Nothing here stands against training: the rewards differ, and the calls can be read.',
    facts: {
      rewards: 'rewards',
      useful: 'useful groups',
      solved: 'solved',
      outOfTokens: 'ran out of tokens',
      unparsed: 'calls not parsed',
      toolErrors: 'tool errors',
      tokens: 'tokens an episode',
      step: 'a GRPO step',
      run: 'the whole run',
      memory: 'memory at its most',
    },
    spread: (low: number, high: number, mean: number, std: number | null) => (low === high ? `all ${number(low)}` : `${number(low)} to ${number(high)}, mean ${number(mean)}, std ${number(std)}`),
    noReward: 'none could be scored',
    of: (n: number, of: number) => `${n} of ${of}`,
    share: (n: number, of: number) => (of === 0 ? 'no calls' : `${n} of ${of} (${percent(n / of)})`),
    step: (sampling: number, training: number) => `about ${rough(sampling + training)} on this machine now: ${rough(sampling)} sampling, ${rough(training)} training`,
    whole: (seconds: number, steps: number) => `about ${roughTime(seconds)} for ${plural(steps, 'step')}, if the machine stays as busy as it is`,
    parallel: 'Two groups were timed, and a step has more: its time is reckoned from theirs.',
  },
  advice: {
    unscorable: (n: number, of: number, why: string) => `${n} of ${of} episodes could not be scored: ${why.replace(/\.$/, '')}. Mend the environment first; what has no reward is left out of every update.`,
    max_completion_length: (n: number, of: number, now: number) => `max_completion_length, now ${now}: ${n} of ${of} episodes ran out of tokens before their end. Raise it, or ask for shorter answers.`,
    unparsed: (n: number, of: number) => `${n} of ${plural(of, 'tool call')} could not be parsed. Take a larger model, or tools with fewer and plainer arguments (Edit under Tools).`,
    noCall: (n: number, of: number) => `In ${n} of ${of} episodes no call reached the environment. Say in the system prompt that a tool must be called, or take a larger model.`,
    toolErrors: (n: number, of: number) => `${n} of ${plural(of, 'call')} were answered with an error. Look at them under Play by hand, and describe the arguments more exactly (Edit under Tools).`,
    max_tool_calling_iterations: (n: number, of: number, now: number) => `max_tool_calling_iterations, now ${now}: ${n} of ${of} episodes ran out of turns. Raise it a little above what a good player needs.`,
    solved: (n: number) => `All ${n} episodes solved it: there is nothing to learn from. Take a harder task.`,
    unsolved: 'None of them solved it: take an easier task, or a reward that gives part marks on the way.',
    temperature: (n: number, reward: number, now: number) => `temperature, now ${plain(now)}: all ${n} rewards are ${number(reward)}, so no episode is better than another. Hotter sampling makes them differ more.`,
    num_generations: (now: number) => `num_generations, now ${now}: with more episodes in a group it is likelier that one differs.`,
    prompts_per_step: (silent: number, groups: number, now: number) => `prompts_per_step, now ${now}: ${silent} of ${groups} groups had no signal. With more groups it is likelier that some of a step have one.`,
    dynamic_sampling: 'dynamic_sampling: samples groups without a signal again, at the cost of time.',
    long: (seconds: number, setting: string, now: number) => `${setting}, now ${now}: a step would take about ${roughTime(seconds)}. Lower it, or take a smaller model.`,
  },
} as const
