/** What an episode or a conversation begins with: the system prompt, where there is one, and the user's. */

import type { RunConfig } from '../core/config'
import type { ChatMessage } from '../core/tools'

/** An empty system prompt is left out, an empty user prompt is not: the observation follows it. */
export function firstMessages({ system_prompt, user_prompt }: Pick<RunConfig, 'system_prompt' | 'user_prompt'>): ChatMessage[] {
  const user: ChatMessage = { role: 'user', content: user_prompt }
  return system_prompt === '' ? [user] : [{ role: 'system', content: system_prompt }, user]
}
