/** What an episode or a conversation begins with: the system prompt, where there is one, and the user's. */

import type { ChatMessage } from './tools'

/** An empty system prompt is left out, an empty user prompt is not: the observation follows it. */
export function firstMessages({ system_prompt, user_prompt }: { system_prompt: string; user_prompt: string }): ChatMessage[] {
  return withSystem([{ role: 'user', content: user_prompt }], system_prompt)
}

/** The conversation with a system prompt, unless that is empty or it has one. */
export function withSystem(messages: readonly ChatMessage[], system_prompt: string): ChatMessage[] {
  if (system_prompt === '' || messages[0]?.role === 'system') return [...messages]
  return [{ role: 'system', content: system_prompt }, ...messages]
}
