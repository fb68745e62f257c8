/** Whose tools a rollout function is shown: each prompt's own environment's, and one list for all only where there is one. */

import type { Environment } from '../../core/environment'
import { isRecord } from '../../core/records'
import type { Tool } from '../../core/tools'

/** The tools of every environment of the run; null where they differ, so that no list is right for every prompt. */
export function commonTools({ members, tools }: Pick<Environment, 'members' | 'tools'>): readonly Tool[] | null {
  const lists = members?.map((member) => member.tools) ?? [tools]
  return new Set(lists.map((list) => JSON.stringify(list))).size > 1 ? null : (lists[0] ?? [])
}

/** Those that a call of apply_chat_template means: what it says in `tools`, those of the prompt that it names in `row`, or all environments' common ones. */
export function templateTools(options: unknown, toolsOf: (row: unknown) => readonly Tool[], environment: Pick<Environment, 'members' | 'tools'>): readonly Tool[] {
  const { row, tools } = isRecord(options) ? options : {}
  if (Array.isArray(tools)) {
    if (!tools.every(isTool)) throw new Error('tools of trainer.apply_chat_template is a list of tools as trainer.rows[i].tools has them.')
    return tools
  }
  if (tools === null) return []
  if (row !== undefined) return toolsOf(row)
  const common = commonTools(environment)
  if (!common) throw new Error('The environments of this run have different tools: say for which prompt trainer.apply_chat_template(messages, { row }) is to be, row being its number in prompts.')
  return common
}

const isTool = (value: unknown): value is Tool => isRecord(value) && isRecord(value['function']) && typeof value['function']['name'] === 'string'
