/** What a dry run tells: a few episodes and one training pass, measured before any step is trained. Plain data. */

import type { GrpoConfig } from './config'

export interface DryRunReport {
  /** Settings that it was played with. */
  grpo: GrpoConfig
  /** [groups × num_generations], group-major; null = unscorable. */
  rewards: (number | null)[]
  groups: number
  /** Groups whose rewards differ. */
  useful: number
  /** Episodes that solved the task; null where the environment cannot say. */
  solved: number | null
  /** Episodes that ran out of tokens, and of rounds of tool calls. */
  outOfTokens: number
  outOfTurns: number
  /** Tool calls that were parsed, those of them that were answered with an error, and those that could not be parsed. */
  calls: number
  toolErrors: number
  unparsed: number
  /** Episodes in which no call reached the environment. */
  noCall: number
  /** Why episodes could not be scored: the first one's sentence; null where all could. */
  error: string | null
  /** Tokens that the model wrote in an episode, mean. */
  tokens: number
  /** Of the dry run itself. */
  seconds: { sampling: number; training: number }
  /** What a GRPO step with these settings would take at most, about. */
  step: { sampling: number; training: number }
}
