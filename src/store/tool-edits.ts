/** A person's edits of the tools as the page handles them: one for each thing that is changed, and as text in the link. Pure. */

import { z } from 'zod/mini'
import { toolEditSchema } from '../core/tool-edit-schema'
import type { ToolEdit } from '../core/tool-edits'
import type { Read } from './settings'

/** Longer ones do not belong in a link. */
const MAX_TEXT = 32_000
const toolEdits = z.array(toolEditSchema).check(z.maxLength(500))

/** The edits as JSON, as the link holds them. */
export function writeToolEdits(edits: readonly ToolEdit[]): string {
  return JSON.stringify(edits)
}

/** JSON → edits. Whether they fit the tools is found out when the environment is connected. */
export function readToolEdits(text: string): Read<ToolEdit[]> {
  const why = 'tool_edits must be a JSON list of changes to tools, as this page writes it'
  if (text.length > MAX_TEXT) return { ok: false, why }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { ok: false, why }
  }
  const read = toolEdits.safeParse(json)
  return read.success ? { ok: true, value: read.data } : { ok: false, why }
}

const parameterOf = (edit: ToolEdit): string | null => ('parameter' in edit ? (edit.parameter ?? null) : null)
const sameThing = (a: ToolEdit, b: ToolEdit): boolean => a.kind === b.kind && a.tool === b.tool && parameterOf(a) === parameterOf(b)

/** The edits with this one: in the place of an earlier one of the same thing, else at the end. */
export function withEdit(edits: readonly ToolEdit[], edit: ToolEdit): ToolEdit[] {
  const known = edits.some((each) => sameThing(each, edit))
  return known ? edits.map((each) => (sameThing(each, edit) ? edit : each)) : [...edits, edit]
}

/** The edits without that of the same thing as `edit`. */
export function withoutEdit(edits: readonly ToolEdit[], edit: ToolEdit): ToolEdit[] {
  return edits.filter((each) => !sameThing(each, edit))
}

/** The edit of the same thing, if there is one. */
export function findEdit<K extends ToolEdit['kind']>(
  edits: readonly ToolEdit[],
  kind: K,
  tool: string,
  parameter: string | null = null,
): Extract<ToolEdit, { kind: K }> | undefined {
  return edits.find((each): each is Extract<ToolEdit, { kind: K }> => each.kind === kind && each.tool === tool && parameterOf(each) === parameter)
}
