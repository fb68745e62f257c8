import { describe, expect, it } from 'vitest'
import type { ToolEdit } from '../core/tool-edits'
import { findEdit, readToolEdits, withEdit, withoutEdit, writeToolEdits } from './tool-edits'

const rename = (name: string): ToolEdit => ({ kind: 'rename', tool: 'move', name })
const limit = (parameter: string, maximum: number): ToolEdit => ({ kind: 'restrict', tool: 'move', parameter, maximum })

describe('edits of tools', () => {
  it('hold one change of each thing, in the order of the first', () => {
    const edits = [rename('go'), limit('x', 1), limit('y', 2)].reduce(withEdit, [] as ToolEdit[])
    expect(withEdit(edits, limit('x', 5))).toEqual([rename('go'), limit('x', 5), limit('y', 2)])
    expect(withoutEdit(edits, limit('x', 9))).toEqual([rename('go'), limit('y', 2)])
    expect(findEdit(edits, 'restrict', 'move', 'y')).toEqual(limit('y', 2))
    expect(findEdit(edits, 'restrict', 'move', 'z')).toBeUndefined()
    expect(findEdit(edits, 'rename', 'stop')).toBeUndefined()
  })

  it("a tool's description and its argument's are two things", () => {
    const own: ToolEdit = { kind: 'describe', tool: 'move', description: 'Move.' }
    const edits = withEdit([own], { kind: 'describe', tool: 'move', parameter: 'to', description: 'Where.' })
    expect(edits).toHaveLength(2)
    expect(findEdit(edits, 'describe', 'move')).toEqual(own)
  })

  it('come back from a link as they were, and nothing else is taken', () => {
    const edits = [rename('go'), limit('x', 1)]
    expect(readToolEdits(writeToolEdits(edits))).toEqual({ ok: true, value: edits })
    for (const text of ['', '{}', 'null', '[1]', '[{"kind":"rename","tool":"a","name":"b","extra":1}]']) expect(readToolEdits(text).ok).toBe(false)
  })
})
