/** From a recorded action back to the call that it was made from: constants fit, words come back, templates are read. */

import { isRecord } from '../../core/records'
import type { JsonSchema, ToolCall } from '../../core/tools'
import type { Entry, EntryTool } from './catalogue'

/** The call that the action of a step frame was made from; the action itself, as a call of `step`, where no tool of the entry makes it. */
export function callOf(entry: Pick<Entry, 'tools'>, action: Readonly<Record<string, unknown>>): ToolCall {
  const { type, tool_name, arguments: given } = action
  if (type === 'call_tool' && typeof tool_name === 'string') return { name: tool_name, arguments: isRecord(given) ? given : {} }
  const made = toolOf(entry, action)
  return made === null ? { name: 'step', arguments: { ...action } } : { name: made.tool.tool.function.name, arguments: made.arguments }
}

/** The entry's tool that makes this action, and with which arguments. */
export function toolOf({ tools }: Pick<Entry, 'tools'>, action: Readonly<Record<string, unknown>>): { tool: EntryTool; arguments: Record<string, unknown> } | null {
  for (const each of tools) {
    const { tool, fields } = each
    const { properties = {}, required = [] } = tool.function.parameters
    const made: Record<string, unknown> = {}
    const fits = Object.entries(fields).every(([name, from]) => {
      const value = action[name]
      if (from.kind === 'constant') return value === from.value
      if (from.kind === 'text') {
        const filled = fromTemplate(from.template, value, properties)
        Object.assign(made, filled)
        return filled !== null
      }
      // An argument that the model left out is left out of the action.
      if (value === undefined) return !required.includes(from.from)
      const word = Object.entries(from.choices ?? {}).find(([, sent]) => sent === value)?.[0]
      if (from.choices !== undefined && word === undefined) return false
      made[from.from] = word ?? value
      return true
    })
    if (fits && Object.keys(action).every((name) => Object.hasOwn(fields, name))) return { tool: each, arguments: made }
  }
  return null
}

/** The arguments that a template was filled with; null when the text was not made from it. */
function fromTemplate(template: string, text: unknown, properties: Readonly<Record<string, JsonSchema>>): Record<string, unknown> | null {
  if (typeof text !== 'string') return null
  const names: { name: string; quoted: boolean }[] = []
  const pattern = template.replace(/\{(\w+)(!r)?\}|[.*+?^${}()|[\]\\]/g, (special, name?: string, literal?: string) => {
    if (name === undefined) return `\\${special}`
    names.push({ name, quoted: literal !== undefined })
    return literal === undefined ? '([^]*?)' : "'((?:[^'\\\\]|\\\\.)*)'"
  })
  const found = new RegExp(`^${pattern}$`).exec(text)
  if (found === null) return null
  return Object.fromEntries(
    names.map(({ name, quoted }, i) => {
      const written = quoted ? (found[i + 1] ?? '').replace(/\\(.)/g, '$1') : (found[i + 1] ?? '')
      return [name, properties[name]?.type === 'integer' ? Number(written) : written]
    }),
  )
}
