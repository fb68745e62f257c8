import { describe, expect, it } from 'vitest'
import { readAnswer, sandboxClient } from './sandbox-client'
import { LINES_BEFORE, workerSource } from './sandbox-source'

const read = (answer: object, completions = 2) => readAnswer('mine', { id: 1, ...answer }, completions, 10)

/** What structured clones can carry and JSON cannot. */
const CIRCLE: { self?: unknown } = {}
CIRCLE.self = CIRCLE

describe('answers of the sandbox', () => {
  it('are numbers, null for no opinion, and means of what was logged', () => {
    expect(read({ rewards: [1, null, undefined, Number.NaN, true], metrics: { length: [1, 3] }, logs: ['hi'] }, 5)).toEqual({ rewards: [1, null, null, null, 1], metrics: { length: 2 }, counts: { length: 2 }, logs: ['hi'], nan: 1 })
  })

  it.each([
    [{ rewards: 3 }, 'returned 3 instead of a list'],
    [{}, 'returned nothing instead of a list'],
    [{ rewards: '1' }, 'returned "1" instead of a list'],
    [{ rewards: ['1', 1] }, 'gave completion 1 "1", which is no number'],
    [{ rewards: [1] }, '1 rewards for 2 completions'],
    [{ rewards: [1, 'good'] }, 'gave completion 2 "good", which is no number'],
    [{ rewards: [1n, 2] }, 'gave completion 1 1n, which is no number'],
    [{ rewards: [1, CIRCLE] }, 'gave completion 2 an object, which is no number'],
    [{ rewards: [1, Infinity] }, 'gave completion 2 Infinity'],
    [{ timedOut: true }, 'longer than 10 s'],
    [{ refused: true }, 'was not allowed to run'],
    [{ stopped: true }, 'The run was stopped.'],
    [{ error: 'Uncaught SyntaxError: Unexpected token', line: 3 }, `at line ${3 - LINES_BEFORE}: SyntaxError: Unexpected token.`],
    [{ error: 'x is not defined', stack: 'ReferenceError: x is not defined\n    at mine (blob:null/7a-b:5:9)' }, `at line ${5 - LINES_BEFORE}: x is not defined.`],
  ])('%o: %s', (answer, sentence) => {
    expect(() => read(answer)).toThrow(sentence)
  })

  it('reach whoever called, also when they come in another order', async () => {
    const { port1, port2 } = new MessageChannel()
    const client = sandboxClient(port1)
    const asked: { id: number }[] = []
    const both = new Promise<void>((resolve) => {
      port2.onmessage = ({ data }: MessageEvent<{ id: number; source: string }>) => {
        expect(data.source).toBe(workerSource('mine', 'code'))
        asked.push(data)
        if (asked.length === 2) resolve()
      }
    })
    const [first, second] = [client.call({ called: 'mine', code: 'code' }, { completions: [1] }), client.call({ called: 'mine', code: 'code' }, { completions: [1] })]
    await both
    port2.postMessage({ id: asked[1]?.id, rewards: [2] })
    port2.postMessage({ id: asked[0]?.id, rewards: [1] })
    expect([(await first).rewards, (await second).rewards]).toEqual([[1], [2]])
    client.close()
  })
})
