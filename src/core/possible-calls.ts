/** Which calls of an environment's tools can be drawn at random: those whose arguments are all a choice from a list. */

import type { JsonSchema, Tool, ToolCall } from './tools'

/** More different calls than this are no choice that one could draw from. */
const MOST_CALLS = 1000

/** Every call of tools whose arguments are all a choice from a list; none where there would be too many. */
export function possibleCalls(tools: readonly Tool[]): ToolCall[] {
  const calls = tools.flatMap(({ function: { name, parameters } }) => {
    const choices = Object.entries(parameters.properties ?? {}).map(([key, schema]) => [key, valuesOf(schema)] as const)
    if (choices.some(([, values]) => values.length === 0) || choices.reduce((n, [, values]) => n * values.length, 1) > MOST_CALLS) return []
    const all = choices.reduce<Record<string, unknown>[]>((found, [key, values]) => found.flatMap((args) => values.map((value) => ({ ...args, [key]: value }))), [{}])
    return all.map((args) => ({ name, arguments: args }))
  })
  return calls.length > MOST_CALLS ? [] : calls
}

const valuesOf = (schema: JsonSchema): readonly unknown[] => schema.enum ?? (schema.type === 'boolean' ? [true, false] : [])
