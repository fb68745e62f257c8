import { describe, expect, it } from 'vitest'
import type { LoggedToken } from '../../store/token-log'
import { messagesOf, segmentsOf } from './segments'

const token = (text: string, author: LoggedToken['author'] = 'template'): LoggedToken => ({
  id: 1,
  text,
  author,
  mask: author === 'model' ? 1 : 0,
  logprob: null,
  trainLogprob: null,
  entropy: null,
  top: null,
})
const by = (authors: string) => [...authors].map((a) => token('x', a === 'm' ? 'model' : a === 'e' ? 'environment' : 'template'))

describe('turns of an episode', () => {
  it('begin where the model writes again', () => {
    expect(segmentsOf(by('tetmmtetmm'), 3)).toEqual([
      { turn: null, start: 0, end: 3 },
      { turn: 0, start: 3, end: 8 },
      { turn: 1, start: 8, end: 10 },
    ])
  })
  it('are none while only the prompt is there', () => {
    expect(segmentsOf(by('tet'), 3)).toEqual([{ turn: null, start: 0, end: 3 }])
  })
})

describe('what each side said', () => {
  it('in a turn is the model’s part and the answer', () => {
    expect(messagesOf(by('mmtet'), { turn: 0, start: 0, end: 5 })).toEqual([
      { role: 'model', start: 0, end: 2 },
      { role: 'environment', start: 2, end: 5 },
    ])
    expect(messagesOf(by('mmt'), { turn: 0, start: 0, end: 3 }).map(({ role }) => role)).toEqual(['model', 'template'])
  })
  it('in the prompt is what the chat template marks, a role in one token or in several', () => {
    const prompt = ['<|im_start|>', 'system', '\n', 'Drive.', '<|im_end|>', '<|im_start|>', 'us', 'er\nGo', '<|im_start|>', 'nobody\n'].map((text) => token(text))
    expect(messagesOf(prompt, { turn: null, start: 0, end: prompt.length })).toEqual([
      { role: 'system', start: 0, end: 5 },
      { role: 'user', start: 5, end: 8 },
      { role: 'template', start: 8, end: 10 },
    ])
  })
})
