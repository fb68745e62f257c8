import { describe, expect, it } from 'vitest'
import { RandomStream } from '../core/random'
import { checkToolCall } from '../core/tool-schema'
import type { JsonSchema, Tool } from '../core/tools'
import { errorResult, parseTurn } from './tool-calls'

const wrap = (body: string): string => `<tool_call>\n${body}\n</tool_call>`
const call = (name: string, args: Record<string, unknown> = {}) => ({ kind: 'call', call: { name, arguments: args } })
const guess = wrap('{"name": "guess", "arguments": {"guess": "[crane]", "n": 3}}')
const GUESS = call('guess', { guess: '[crane]', n: 3 })

describe('parseTurn', () => {
  it('finds calls and the text around them', () => {
    expect(parseTurn(guess)).toEqual({ content: '', calls: [GUESS] })
    expect(parseTurn(`I try.\n${guess}`)).toEqual({ content: 'I try.', calls: [GUESS] })
    expect(parseTurn(`${guess}\nDone.`)).toEqual({ content: 'Done.', calls: [GUESS] })
    expect(parseTurn(`${guess}\n${wrap('{"name": "look"}')}`)).toEqual({ content: '', calls: [GUESS, call('look')] })
    expect(parseTurn('No call here. {"name": "guess"}').calls).toEqual([])
    expect(parseTurn('').calls).toEqual([])
  })
  it('ignores calls inside reasoning', () => {
    expect(parseTurn(`<think>\n${guess}\n</think>\n\nNo.`)).toEqual({ content: 'No.', calls: [] })
    expect(parseTurn(`<think>\n${guess}`)).toEqual({ content: '', calls: [] })
    expect(parseTurn(`<think>maybe ${guess}</think>${wrap('{"name": "look", "arguments": {}}')}`).calls).toEqual([call('look')])
  })
  it('reports what cannot be parsed, one sentence a call, and keeps the good ones', () => {
    const errors = (text: string): string[] => parseTurn(text).calls.map((each) => (each.kind === 'malformed' ? each.error : ''))
    expect(errors('<tool_call>\n{"name": "guess"}')).toEqual(['The tool call was not closed with </tool_call>.'])
    expect(errors(wrap('{"name": "guess", }'))).toEqual(['The tool call is not valid JSON.'])
    expect(errors(wrap(''))).toEqual(['The tool call is not valid JSON.'])
    expect(errors(wrap('[]'))).toEqual(['The tool call is not a JSON object.'])
    expect(errors(wrap('{}'))).toEqual(['The tool call has no "name".'])
    expect(errors(wrap('{"name": 3}'))).toEqual(['The tool call has no "name".'])
    for (const args of ['"{}"', '[]', 'null', '3']) {
      expect(errors(wrap(`{"name": "guess", "arguments": ${args}}`))).toEqual([
        'The "arguments" of the tool call are not a JSON object.',
      ])
    }
    expect(parseTurn(`${guess}${wrap('{')}`).calls.map((each) => each.kind)).toEqual(['call', 'malformed'])
    expect(parseTurn(`<tool_call>${guess}`).calls.map((each) => each.kind)).toEqual(['malformed', 'call'])
  })
  it('never throws on 3000 mutations of calls, and what it calls a call is one', () => {
    const random = new RandomStream(11)
    const seeds = [guess, `<think>\nhm\n</think>\n\n${guess}\n${wrap('{"name": "look", "arguments": {"a": [1, {"b": null}]}}')}`]
    const tags = ['<tool_call>', '</tool_call>', '<think>', '</think>']
    const bits = [...tags, '{', '}', '"', '\\', '[', ',', ':', '\u0000', '\ud800', '__proto__', '1e999']
    let parsed = 0
    let malformed = 0
    for (let i = 0; i < 3000; i++) {
      let text = random.pick(seeds)
      for (let edit = random.int(4); edit >= 0; edit--) {
        const at = random.int(text.length + 1)
        const cut = random.int(3) === 0 ? random.int(20) : 0
        text = text.slice(0, at) + (random.int(2) === 0 ? random.pick(bits) : '') + text.slice(at + cut)
      }
      for (const each of parseTurn(text).calls) {
        if (each.kind === 'malformed') {
          malformed++
          expect(each.error).toMatch(/^The .*\.$/)
          continue
        }
        parsed++
        expect(each.call.name).not.toBe('')
        expect(Object.prototype.toString.call(each.call.arguments)).toBe('[object Object]')
        checkToolCall(each.call, [tool('guess', { guess: { type: 'string' }, n: { type: 'integer' } }, ['guess'])])
      }
    }
    expect(parsed).toBeGreaterThan(500)
    expect(malformed).toBeGreaterThan(500)
  })
})

function tool(name: string, properties: Record<string, JsonSchema>, required: string[] = [], extra: JsonSchema = {}): Tool {
  return { type: 'function', function: { name, description: '', parameters: { type: 'object', properties, required, ...extra } } }
}

it('an error reads as an error', () => {
  expect(errorResult('It has no "n".')).toBe('Error: It has no "n".')
})
