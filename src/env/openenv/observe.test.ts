/** What the policy reads of observations of all families, old and new spellings alike. */

import { describe, expect, it } from 'vitest'
import { observationScene, observationText, toolResultText, withoutPictures } from './observe'
import type { ObservationFrame } from './protocol'

const frame = (observation: Record<string, unknown>, metadata: Record<string, unknown> = {}): ObservationFrame => ({
  kind: 'observation',
  observation,
  metadata,
  reward: null,
  done: false,
})
const text = (observation: Record<string, unknown>, metadata = {}) =>
  observationText(withoutPictures(frame(observation, metadata)).frame).text

describe('observationText', () => {
  it('prefers text', () => expect(text({ text: 'height 6', other: 1 })).toBe('height 6'))
  it('else compact JSON without what is null', () => expect(text({ x: 1, y: null, m: 'go' })).toBe('{"x":1,"m":"go"}'))
  it('falls back on the task in the metadata only when there is nothing else', () => {
    expect(text({}, { status: 'ready', question: 'What is 2+2?' })).toBe('What is 2+2?')
    expect(text({}, { message: 5 })).toBe('')
    expect(text({}, { task: 'Buy milk' })).toBe('Buy milk')
    expect(text({}, { message: 'ready', instruction: 'Buy milk' })).toBe('Buy milk')
    expect(text({}, { message: 'ready', question: '' })).toBe('ready')
  })

  it('puts the task in the metadata before fields that do not hold it, once', () => {
    const metadata = { question: 'What is 2+2?', message: 'ready' }
    expect(text({ x: 1 }, metadata)).toBe('What is 2+2?\n{"x":1}')
    const { seen } = observationText(frame({ score: 0 }, metadata))
    expect(observationText(frame({ score: 1 }, metadata), seen).text).toBe('{"score":1}')
    expect(observationText(frame({ score: 1 }, { question: 'What is 3+3?' }), seen).text).toBe('What is 3+3?\n{"score":1}')
    expect(text({ x: 1 }, { message: 'ready' })).toBe('{"x":1}')
  })

  it('takes an empty text for none', () => {
    const board = [['x', '.'], ['.', 'o']]
    expect(text({ text: '', question: 'What is 2+2?', board })).toBe('{"question":"What is 2+2?"}\nboard:\nx .\n. o')
    expect(text({ text: '' }, { prompt: 'Go.' })).toBe('Go.')
    expect(text({ text: '' })).toBe('')
    expect(text({ text: '', prompt: 'P', messages: [{ content: 'Said.' }] })).toBe('Said.')
    expect(text({ tool_name: 't', result: { data: 'hi' }, text: '' })).toBe('hi')
  })

  it('shows only what is new where a server sends the latest lines of a conversation', () => {
    const said = (content: string) => frame({ prompt: 'p', messages: [{ content }] })
    expect(observationText(said('b\nc\nd'), 'a\nb\nc').text).toBe('d')
    expect(observationText(said('cd\ne'), 'a\nb\nc').text).toBe('cd\ne')
    expect(observationText(said('\nx'), 'a\n').text).toBe('\nx')
  })

  it('puts a placeholder where a picture was, keeps the picture for the scene, and cuts what is huge', () => {
    const pixels = Array.from({ length: 100 }, () => Array.from({ length: 90 }, () => [1, 2, 3]))
    expect(text({ url: 'x', screenshot: pixels })).toBe('{"url":"x","screenshot":"[image 90×100, not shown to a text-only model]"}')
    const { frame: plain, images } = withoutPictures(frame({ a: 1, pixels }))
    expect(observationScene(plain, images)).toMatchObject({
      kind: 'openenv',
      observation: { a: 1 },
      images: [{ name: 'pixels', width: 90, height: 100, mime: 'image/png' }],
    })
    expect(text({ text: 'y'.repeat(50_000) })).toMatch(/^y{20000} \[cut: 50000 characters\]$/)
    const [odd] = text({ text: `${'y'.repeat(19_999)}${'😀'.repeat(9)}` }).split(' ')
    expect(odd).toBe('y'.repeat(19_999))
    // In {"a":"y… the pictograph begins one character before the limit.
    expect(observationScene(frame({ a: `${'y'.repeat(19_993)}😀${'z'.repeat(9)}` }))).toEqual({ kind: 'openenv', observation: { cut: `{"a":"${'y'.repeat(19_993)}` } })
    expect(observationScene(frame({ a: 1 }))).toEqual({ kind: 'openenv', observation: { a: 1 } })
  })

  it('writes boards as lines, whether they come in rows or flat', () => {
    expect(
      text({
        board: [
          [0, 1],
          [-1, 0],
        ],
        turn: 3,
      }),
    ).toBe('{"turn":3}\nboard:\n 0  1\n-1  0')
    expect(text({ grid: [1, 2, 3, 4, 5, 6], width: 3, height: 2 })).toBe('{"width":3,"height":2}\ngrid:\n1 2 3\n4 5 6')
    expect(
      text({
        values: [
          [0, 1],
          [1, 0],
        ],
      }),
    ).toBe('{"values":[[0,1],[1,0]]}')
    expect(
      observationScene(
        frame({
          board: [
            ['x', '.'],
            ['.', 'o'],
          ],
        }),
      ),
    ).toMatchObject({
      boards: [
        {
          name: 'board',
          cells: [
            ['x', '.'],
            ['.', 'o'],
          ],
        },
      ],
    })
  })

  it('survives a nest that would exhaust the stack', () => {
    let deep: unknown = 'x'
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(text({ deep })).toContain('nested too deeply')
    expect(() => observationScene(withoutPictures(frame({ deep }, { deep })).frame)).not.toThrow()
  })

  it('cuts a long conversation without losing what is new', () => {
    const said = (content: string) => frame({ prompt: 'p', messages: [{ sender_id: 0, content }] })
    const { seen, text: first } = observationText(said('a'.repeat(30_000)))
    expect(first).toContain('[cut: 30000 characters]')
    expect(observationText(said(`${'a'.repeat(30_000)}b`), seen).text).toBe('b')
  })

  it('shows only the news of a conversation', () => {
    const message = (content: string) => frame({ prompt: 'Guess.', messages: [{ sender_id: 0, content }], info: {} })
    const first = observationText(message('Guess a word.'))
    expect(first.text).toBe('Guess a word.')
    expect(observationText(message('Guess a word.\n[crane] G---Y'), first.seen).text).toBe('[crane] G---Y')
    expect(observationText(message('Another game.'), first.seen).text).toBe('Another game.')
    expect(text({ prompt: 'Guess.', messages: [] })).toBe('Guess.')
  })

  it('tells MCP results from MCP errors', () => {
    const answer = (result: unknown, error: unknown = null) => observationText(frame({ tool_name: 't', result, error }))
    expect(answer({ data: 'hi', is_error: false })).toMatchObject({ text: 'hi', toolError: false })
    expect(answer(null, { error_type: 'tool_not_found', message: 'Unknown tool' })).toMatchObject({
      text: 'Error: Unknown tool',
      toolError: true,
    })
    expect(answer(null, { error_type: 'timeout' })).toMatchObject({ text: 'Error: timeout', toolError: true })
    expect(answer({ content: [{ type: 'text', text: 'bad' }], isError: true })).toMatchObject({ text: 'Error: bad', toolError: true })
  })
})

describe('toolResultText', () => {
  it.each([
    [{ data: { n: 1 }, structured_content: { n: 2 } }, '{"n":1}'],
    [{ data: 0 }, '0'],
    [{ data: null, structured_content: { result: 'x' } }, 'x'],
    [{ structuredContent: { a: 1, result: 'x' } }, '{"a":1,"result":"x"}'],
    [
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', data: '...' },
        ],
      },
      'a\n[image]',
    ],
    ['plain', 'plain'],
    [[1, 2], '[1,2]'],
    [{ own: true }, '{"own":true}'],
    [null, ''],
  ])('%j → %s', (result, expected) => expect(toolResultText(result)).toEqual({ text: expected, failed: false }))
})
