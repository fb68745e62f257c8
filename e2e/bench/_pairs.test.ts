/** Pairs are taken in turns, and rows say their middle, their range and whether the goal is met. */

import { describe, expect, it } from 'vitest'
import { exponent, judged, ownRow, pairedRow, refusedRow, takeTurns, WARM_UP } from './_pairs'

describe('takeTurns', () => {
  it('never lets both run, counts all but the first pairs, and tells of every one', async () => {
    const order: string[] = []
    const told: number[] = []
    let n = 0
    const side = (name: string) => async () => {
      order.push(name)
      await new Promise((resolve) => setTimeout(resolve, 1))
      order.push(`${name} done`)
      return ++n
    }
    const pairs = await takeTurns(2, side('ours'), side('peer'), (_, i) => told.push(i))
    expect(order.slice(0, 4)).toEqual(['ours', 'ours done', 'peer', 'peer done'])
    expect(order.length).toBe(4 * (2 + WARM_UP))
    expect(pairs).toEqual([
      { ours: 5, peer: 6 },
      { ours: 7, peer: 8 },
    ])
    expect(told).toEqual([-1, 0, 1, 2])
  })
})

const facts = { row: 'training/tiny', unit: 's', peer: 'PyTorch' }

describe('pairedRow', () => {
  it('takes the ratio pair by pair: a machine that is slow for a while is slow for both', () => {
    const pairs = [
      { ours: 2, peer: 1 },
      { ours: 20, peer: 10 },
      { ours: 3, peer: 2 },
    ]
    expect(pairedRow({ ...facts, goal: { most: 2 } }, pairs)).toEqual({
      bench: 'peers',
      row: 'training/tiny',
      value: 3,
      unit: 's',
      spread: [2, 20],
      peer: 'PyTorch',
      peerValue: 2,
      peerSpread: [1, 10],
      ratio: 2,
      ratioSpread: [1.5, 2],
      samples: 3,
      goal: '≤ 2',
      met: true,
    })
  })

  it.each([[[]], [[{ ours: 0, peer: 1 }]], [[{ ours: 1, peer: Number.NaN }]]])('makes no row of %j', (pairs) => {
    expect(() => pairedRow(facts, pairs)).toThrow('training/tiny was not measured')
  })
})

it('says whether a goal is met from either side', () => {
  expect(judged(3.9, { least: 4 })).toEqual({ goal: '≥ 4', met: false })
  expect(judged(4, { least: 4 })).toEqual({ goal: '≥ 4', met: true })
  expect(judged(1.06, { most: 1.05 })).toEqual({ goal: '≤ 1.05', met: false })
  expect(judged(1, undefined)).toEqual({})
})

it('has rows without a peer, and rows that only say why there is no figure', () => {
  expect(ownRow({ row: 'a', unit: 'B' }, [7])).toEqual({ bench: 'peers', row: 'a', value: 7, unit: 'B' })
  expect(ownRow({ row: 'a', unit: 'B', goal: { most: 5 } }, [7, 5, 6])).toMatchObject({ value: 6, spread: [5, 7], samples: 3, met: false })
  expect(refusedRow('grpo', new Error('TRL is not there.\nat x'))).toEqual({ bench: 'peers', row: 'grpo', note: 'not measured: TRL is not there.' })
})

it('finds how fast something grows', () => {
  const curve = (p: number) => [1, 2, 4, 64].map((x) => ({ x, y: 0.3 * x ** p }))
  for (const p of [0, 0.5, 1, 2]) expect(exponent(curve(p))).toBeCloseTo(p, 12)
  expect(() => exponent([{ x: 2, y: 1 }])).toThrow('1 places')
})
