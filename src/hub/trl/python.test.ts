import { describe, expect, it } from 'vitest'
import { comment, docstring, isIdentifier, methodNames, py, pyString } from './python'

describe('literals', () => {
  it.each([
    ['plain', '"plain"'],
    ['a "b" \\ \'c\'', '"a \\"b\\" \\\\ \'c\'"'],
    ['"""', '"\\"\\"\\""'],
    ['line\nline\r\ttab', '"line\\nline\\r\\ttab"'],
    ['\u0000\u001b\u007f\u0085', '"\\x00\\x1b\\x7f\\x85"'],
    ['é 你 🙂', '"é 你 🙂"'],
    // Half a character, a line separator, and a letter that turns the text around it.
    ['\ud800 \u2028 \u202e \ufeff', '"\\ud800 \\u2028 \\u202e \\ufeff"'],
    // A pair is one character: two escapes would be two halves in Python.
    ['\u{e0001}', '"\\U000e0001"'],
    ['{x} %s \\N{DASH}', '"{x} %s \\\\N{DASH}"'],
  ])('%j is %s', (text, literal) => {
    expect(pyString(text)).toBe(literal)
    expect(literal).not.toMatch(/[\r\n]/)
  })

  it('writes data as Python does', () => {
    expect(py({ a: true, b: null, c: [1, -0.5, 1e-8], d: undefined })).toBe('{"a": True, "b": None, "c": [1, -0.5, 1e-8]}')
    expect([py([]), py({}), py(NaN), py(-Infinity)]).toEqual(['[]', '{}', 'float("nan")', 'float("-inf")'])
  })

  it('breaks what is long into lines, indented', () => {
    const long = py({ one: 'x'.repeat(60), two: ['y'.repeat(60)] }, 4)
    expect(long.split('\n').map((line) => line.search(/\S/))).toEqual([0, 8, 8, 4])
    expect(long).toContain('",\n')
  })
})

describe('docstrings and comments', () => {
  it('cannot be ended by what they hold', () => {
    for (const text of ['""" + evil() + """', 'ends in a quote"', 'ends in a slash\\', '\\"""', 'a\n"""\nb']) {
      const inner = docstring(text, 4).slice(3, -3)
      expect(inner.replaceAll(/\\[^]/g, '')).not.toContain('"')
      expect(inner.replaceAll(/\\[^]/g, '')).not.toContain('\\')
    }
  })

  it('indents further lines', () => {
    expect(docstring('One.\n\nTwo:\n    x: y', 4)).toBe('"""One.\n\n    Two:\n        x: y\n    """')
  })

  it('a comment stays one, whatever ends a line', () => {
    expect(comment('a\nb\rc\r\nd\u2028e\u0000', 2)).toBe('  # a\n  # b\n  # c\n  # d\\u2028e\\x00')
  })
})

describe('names', () => {
  it.each([
    ['move', true],
    ['class', false],
    ['None', false],
    ['2x', false],
    ['a-b', false],
    ['ünder', false],
    ['', false],
  ])('%j is an identifier: %s', (name, is) => {
    expect(isIdentifier(name)).toBe(is)
  })

  it('gives every tool a public method of its own', () => {
    const tools = ['move', 'look-around', 'look_around', 'reset', 'class', '__init__', '9', '-', 'a.b']
    const names = methodNames(tools, ['reset', 'get_reward'])
    expect(names).toEqual(['move', 'look_around', 'tool_look_around', 'tool_reset', 'tool_class', 'init__', 'tool_9', 'tool_', 'a_b'])
    expect(new Set(names).size).toBe(tools.length)
    expect(names.every((name) => isIdentifier(name) && !name.startsWith('_') && name !== 'reset')).toBe(true)
  })
})
