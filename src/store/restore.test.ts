import { describe, expect, it } from 'vitest'
import type { Message } from '../worker/protocol'
import { reduce } from './reduce'
import { keptStep, restoredMessage } from './testing/kept'
import { engineMessages, stepMessages } from './testing/script'
import { TokenLog } from './token-log'
import { EMPTY_RUN, KEPT_STEPS, latestStep } from './view'

function play(messages: readonly Message[]) {
  const tokens = new TokenLog()
  return { view: messages.reduce((view, message) => reduce(view, message, tokens, 0), EMPTY_RUN), tokens }
}

describe('a run that was kept', () => {
  it('looks as if its steps had just run here, token by token', () => {
    const options = { broken: 3, groups: 2, size: 4 }
    const steps = Array.from({ length: 5 }, (_, i) => stepMessages(i + 1, options)).flat()
    const live = play([...engineMessages(), ...steps])
    const restored = play([...engineMessages(), restoredMessage(5, {}, options)])
    expect(restored.view).toEqual(live.view)
    const episodes = live.view.steps.flatMap((step) => step.episodes)
    expect(episodes).toHaveLength(24)
    for (const { step, index } of episodes) expect(restored.tokens.read(step, index)).toEqual(live.tokens.read(step, index))
    expect(restored.tokens.read(5, 0).some((token) => token.trainLogprob !== null && token.top !== null)).toBe(true)
  })

  it('takes the place of the run before it', () => {
    const { view, tokens } = play([...engineMessages(), ...stepMessages(8), ...stepMessages(9), restoredMessage(2)])
    expect([view.steps.map((s) => s.step), view.history.map((s) => s.step)]).toEqual([[1, 2], [1, 2]])
    expect(tokens.read(9, 0)).toHaveLength(0)
    expect(view.environment).not.toBeNull()
  })

  it('goes on from there', () => {
    const { view } = play([...engineMessages(), restoredMessage(4), ...stepMessages(5)])
    expect(view.steps.map((s) => s.step)).toEqual([3, 4, 5])
    expect(view.history.at(-1)?.step).toBe(5)
  })

  it('keeps its curves where the episodes were dropped for room', () => {
    const { view } = play([{ ...restoredMessage(4), episodes: [[], []] }])
    expect(view.steps).toEqual([])
    expect(view.history).toHaveLength(4)
  })

  it('keeps no more of a long run than a live one does', () => {
    const message = restoredMessage(1)
    const [first] = message.history
    const history = Array.from({ length: KEPT_STEPS + 7 }, (_, i) => ({ ...first, step: i + 1 }) as (typeof message.history)[number])
    const { view } = play([{ ...message, history, episodes: [2, 3, 4, 5].map((step) => keptStep(step, { groups: 1, size: 2 })) }])
    expect([view.history.length, view.history[0]?.step, view.steps.map((s) => s.step)]).toEqual([KEPT_STEPS, 8, [3, 4, 5]])
  })

  it('says where an episode stood whose server failed or refused a call', () => {
    const message = restoredMessage(1, {}, { groups: 1, size: 2 })
    const [kept] = message.episodes
    const turn = kept?.[0]?.turns[0]
    if (!kept?.[0] || !turn?.calls[0]) throw new Error('The script has no call.')
    kept[0].turns = [{ ...turn, calls: [{ ...turn.calls[0], done: false, refused: true }, { ...turn.calls[0], done: false, reward: 0.5 }] }]
    expect(latestStep(play([message]).view)?.episodes[0]).toMatchObject({ turn: 1, answers: [{ turn: 0, reward: 0.5 }] })
    kept[0].exit = 'env_error'
    expect(latestStep(play([message]).view)?.episodes[0]).toMatchObject({ turn: 0, answers: [{ reward: 0.5 }] })
  })

  it('is a recording where nothing can go on from it, until a run begins', () => {
    const { view } = play([...engineMessages(), restoredMessage(3, { name: 'theirs.parquet', checkpoint: null })])
    expect(view.recording).toBe('theirs.parquet')
    expect(reduce(view, { type: 'cleared' }, new TokenLog(), 0).recording).toBeNull()
    expect(play([restoredMessage(3)]).view.recording).toBeNull()
  })
})
