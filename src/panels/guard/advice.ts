/** From what a dry run found to what should be changed before training: the setting by name, the most urgent first. */

import type { DryRunReport } from '../../core/dry-run'
import type { SettingKey } from '../../store/settings'
import { GUARD_STRINGS } from '../../ui/guard-strings'

export interface Advice {
  /** What to change; null where it is no setting. */
  setting: SettingKey | null
  text: string
}

/** A step of more than this is longer than most people wait, seconds. */
export const LONG_STEP = 120
/** From this share on something is the rule and no accident. */
const OFTEN = 0.5
/** Calls that cannot be parsed cost more than they teach from here on. */
const UNREADABLE = 0.3

const W = GUARD_STRINGS.advice

/** None where nothing stands against training. */
export function adviceOn(report: DryRunReport): Advice[] {
  const { grpo, rewards, groups, useful, solved, error } = report
  const advice: Advice[] = []
  const say = (setting: SettingKey | null, text: string) => advice.push({ setting, text })
  const episodes = rewards.length
  const scorable = rewards.filter((reward) => reward !== null)
  const attempts = report.calls + report.unparsed
  const allEqual = scorable.length > 1 && scorable.every((reward) => reward === scorable[0])
  const cut = report.outOfTokens / episodes >= OFTEN

  if (error !== null) say(null, W.unscorable(episodes - scorable.length, episodes, error))
  if (cut) say('max_completion_length', W.max_completion_length(report.outOfTokens, episodes, grpo.max_completion_length))
  if (attempts > 0 && report.unparsed / attempts >= UNREADABLE) say(null, W.unparsed(report.unparsed, attempts))
  if (report.noCall / episodes >= OFTEN) say(null, W.noCall(report.noCall, episodes))
  if (report.calls > 0 && report.toolErrors / report.calls >= OFTEN) say(null, W.toolErrors(report.toolErrors, report.calls))
  if (report.outOfTurns / episodes >= OFTEN && solved !== scorable.length) say('max_tool_calling_iterations', W.max_tool_calling_iterations(report.outOfTurns, episodes, grpo.max_tool_calling_iterations))
  if (allEqual && solved === scorable.length) say(null, W.solved(scorable.length))
  else if (allEqual && !cut) {
    say('temperature', W.temperature(scorable.length, scorable[0] ?? 0, grpo.temperature))
    say('num_generations', W.num_generations(grpo.num_generations))
    if (solved === 0) say(null, W.unsolved)
  } else if (useful < groups && scorable.length > 1 && !allEqual) {
    say('prompts_per_step', W.prompts_per_step(groups - useful, groups, grpo.prompts_per_step))
    if (!grpo.dynamic_sampling) say('dynamic_sampling', W.dynamic_sampling)
  }
  const step = report.step.sampling + report.step.training
  if (step > LONG_STEP) {
    const smaller = grpo.prompts_per_step > 1 ? 'prompts_per_step' : grpo.num_generations > 4 ? 'num_generations' : 'max_completion_length'
    say(smaller, W.long(step, smaller, grpo[smaller]))
  }
  return advice
}
