/** What a reward function is: it looks at a whole generation at once and gives each completion a number, or null for no opinion. */

/** A message of a completion, as a chat template writes it. */
export interface CompletionMessage {
  role: string
  content: string
}

/** TRL's keyword arguments; every list has one entry per completion. Other keys are columns: `solution`, or whatever an episode brought. */
export interface RewardArguments {
  prompts: readonly (readonly CompletionMessage[])[]
  /** What came after the prompt, tool results included. */
  completions: readonly (readonly CompletionMessage[])[]
  /** Tokens after the prompt, those of tools and template included. */
  completion_ids: readonly (readonly number[])[]
  [column: string]: unknown
}

/** One number per completion; null: no opinion, the function does not count for this completion. */
export type RewardFunction = (args: RewardArguments) => (number | null)[]

/** What the built-ins read of a completion: its first message, as in TRL. With tools that is the first turn, not the last. */
export function firstContents(completions: RewardArguments['completions']): string[] {
  return completions.map((completion) => completion[0]?.content ?? '')
}
