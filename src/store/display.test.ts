import { describe, expect, it } from 'vitest'
import { DEFAULT_DISPLAY, DISPLAY_KEYS, type Display, readDisplay, writeDisplay } from './display'

const OTHER: Display = {
  heat: 'kl',
  blanks: true,
  order: 'worst',
  only: 'parse',
  curves: ['reward', 'completions/mean_length'],
  smoothing: 0.6,
  log: true,
  axis: 'time',
  grain: 'token',
  speed: 0.5,
  lesson: 'why-groups',
  card: 3,
  compare: { split: 'train', seed: 7, greedy: false },
  open: ['chat'],
  hide: ['chat', 'play'],
  bench: true,
}

describe('display', () => {
  it('writes nothing of what is as the page has it', () => {
    expect(writeDisplay(DEFAULT_DISPLAY)).toEqual([])
  })
  it('reads back every key that it writes', () => {
    const written = writeDisplay(OTHER)
    expect(written.map(([key]) => key).sort()).toEqual([...DISPLAY_KEYS].sort())
    const back = written.map(([key, text]) => readDisplay(key as keyof Display, text)).map((read) => (read.ok ? read.value : null))
    expect(Object.assign({}, ...back)).toEqual(OTHER)
  })
  it('says what a value must be', () => {
    for (const [key, text] of [['heat', 'red'], ['log', '1'], ['smoothing', '1'], ['speed', '-1'], ['lesson', 'a b'], ['hide', 'x,,y'], ['axis', ''], ['card', '0'], ['card', '1.5'], ['open', 'chat,window'], ['compare', 'heldout-x-greedy'], ['compare', 'heldout-2147483648-greedy']] as const) {
      expect(readDisplay(key, text), key).toMatchObject({ ok: false, expects: expect.stringMatching(/\w/) })
    }
  })
})
