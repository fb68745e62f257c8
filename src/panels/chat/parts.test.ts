import { describe, expect, it } from 'vitest'
import type { Author } from '../../core/episode'
import type { ChatToken } from '../../worker/protocol'
import { partsOf, spoken } from './parts'

const tokens = (...pieces: [Author, ...string[]][]): ChatToken[] =>
  pieces.flatMap(([author, ...texts]) => texts.map((text) => ({ id: 0, author, text })))

const ANSWER = tokens(
  ['template', '<|im_start|>', 'user\n'],
  ['environment', 'A ', 'board.'],
  ['template', '<|im_end|>', '\n'],
  ['model', '<think>', '\nHm', '.\n', '</think>', '\n\n', 'I', ' go.', '<|im_end|>'],
)

describe('parts of an answer', () => {
  it('are its authors’ runs, thoughts apart, without the template', () => {
    expect(partsOf(ANSWER, false)).toEqual([
      { kind: 'text', author: 'environment', text: 'A board.' },
      { kind: 'thought', text: 'Hm.', tokens: 4, open: false },
      { kind: 'text', author: 'model', text: 'I go.' },
    ])
  })
  it('are all of its text when asked for', () => {
    const parts = partsOf(ANSWER, true)
    expect(parts.map((p) => (p.kind === 'text' ? p.author : p.kind))).toEqual(['template', 'environment', 'template', 'thought', 'model'])
    expect(parts.at(-1)).toEqual({ kind: 'text', author: 'model', text: '\n\nI go.<|im_end|>' })
  })
  it('find a thought whose tags lie in several tokens, and one that is still open', () => {
    expect(partsOf(tokens(['model', 'So <th', 'ink>a', 'b</', 'think>', ' c']), false)).toEqual([
      { kind: 'text', author: 'model', text: 'So ' },
      { kind: 'thought', text: 'ab', tokens: 3, open: false },
      { kind: 'text', author: 'model', text: ' c' },
    ])
    expect(partsOf(tokens(['model', '<think>', '\nHm']), false)).toEqual([{ kind: 'thought', text: 'Hm', tokens: 2, open: true }])
  })
  it('an empty thought is no part; nothing has no parts', () => {
    expect(partsOf(tokens(['model', '<think>', '\n\n', '</think>', '\n\n', 'Hi']), false)).toEqual([{ kind: 'text', author: 'model', text: 'Hi' }])
    expect(partsOf([], false)).toEqual([])
  })
  it('are read aloud without thoughts and template', () => {
    expect(spoken(ANSWER)).toBe('A board. I go.')
  })
})
