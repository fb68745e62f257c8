/** The card's numbers against training's own: all that it explains of a step adds up to the loss of that step. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO, LOSS_TYPES } from '../../core/config'
import type { StepRecord } from '../../core/events'
import { lossNormalizer, policyLoss, type PolicySequence, TERM_OF } from '../../rl'
import { reduce } from '../../store/reduce'
import { stepMessages } from '../../store/testing/script'
import { TokenLog } from '../../store/token-log'
import { EMPTY_RUN, findStep, type StepView } from '../../store/view'
import type { Message } from '../../worker/protocol'
import { explainToken, type LossSettings, stepLoss, stepMeans } from './explain'

type Finished = Extract<Message, { type: 'event' }> & { event: { type: 'step-finished' } }
const isFinished = (m: Message): m is Finished => m.type === 'event' && m.event.type === 'step-finished'

/** A step with an unscorable episode, and whatever `change` makes of its record. */
function play(change: (record: StepRecord) => void = () => {}, upTo?: string) {
  const messages = stepMessages(1, { groups: 6, size: 4, broken: 3, skill: () => 0.5 })
  const last = messages.find(isFinished) as Finished
  change(last.event.record)
  const end = messages.findIndex((m) => m.type === 'event' && m.event.type === upTo)
  const log = new TokenLog()
  const view = messages.slice(0, end < 0 ? undefined : end + 1).reduce((v, m) => reduce(v, m, log, 0), EMPTY_RUN)
  return { step: findStep(view, null) as StepView, log, record: last.event.record }
}

/** Log-probs of a second update and of a reference, some beyond the clip range. */
function withMore(record: StepRecord) {
  for (const episode of record.episodes) {
    const old = episode.trainLogprobs ?? []
    episode.lastLogprobs = old.map((l, t) => l + 0.5 * Math.sin(t + episode.index))
    episode.refLogprobs = old.map((l, t) => l - 0.3 * Math.cos(t))
  }
}

const settings = (change: Partial<LossSettings> = {}): LossSettings => ({ ...DEFAULT_GRPO, vllm_importance_sampling_correction: false, ...change })

describe('explained contributions', () => {
  it.each([...LOSS_TYPES])('%s: add up to policyLoss, and so do the derivatives', (loss_type) => {
    const { step, log, record } = play(withMore)
    const options = settings({ loss_type, beta: 0.04, num_iterations: 2 })
    const episodes = record.episodes.filter((e) => e.reward !== null)
    const sequences = episodes.map(
      (e): PolicySequence => ({ mask: e.mask, advantage: e.advantage, oldLogprobs: e.trainLogprobs, refLogprobs: e.refLogprobs ?? null }),
    )
    const whole = policyLoss(sequences, episodes.map((e) => e.lastLogprobs ?? []), lossNormalizer(sequences.map((s) => s.mask), options), options)

    const loss = stepLoss(step, log, options)
    let sum = 0
    const branches = new Set<string>()
    episodes.forEach((e, i) => {
      const view = step.episodes.find((v) => v.index === e.index)
      if (!view) throw new Error('no view')
      log.read(1, e.index).forEach((token, t) => {
        const found = explainToken(token, t, view, loss, true, options)
        expect(found.kind).toBe(e.mask[t] === 1 ? 'numbers' : 'masked')
        if (found.kind !== 'numbers') return
        if (found.term.clip) branches.add(found.term.clip.branch)
        sum += found.contribution
        expect(found.update).toBe('last')
        expect(found.derivative).toBeCloseTo(whole.dLogprobs[i]?.[t] ?? NaN, 14)
        const product = found.dividedBy.reduce((p, d) => p * d.value, 1)
        expect(found.term.total / product).toBeCloseTo(found.contribution, 14)
      })
    })
    if (TERM_OF[loss_type] === 'clip') expect(branches).toEqual(new Set(['clipped', 'unclipped', 'equal']))
    expect(sum).toBeCloseTo(whole.loss, 12)
    const means = stepMeans(step, log, options)
    expect(means?.loss).toBeCloseTo(whole.loss, 12)
    const clipped = whole.statistics.reduce((n, s) => n + s.clippedLow + s.clippedHigh, 0)
    expect(means?.clipped).toBeCloseTo(clipped / whole.statistics.reduce((n, s) => n + s.tokens, 0), 12)
  })

  it('of episodes that other weights sampled have the ratio to those, and add up', () => {
    const { step, log, record } = play(({ episodes }) => {
      for (const episode of episodes) {
        episode.stale = true
        episode.trainLogprobs = episode.logprobs.map((l, t) => (episode.mask[t] === 1 ? l + 0.5 * Math.sin(t + episode.index) : 0))
      }
    })
    const options = settings()
    const episodes = record.episodes.filter((e) => e.reward !== null)
    const sequences = episodes.map((e): PolicySequence => ({ mask: e.mask, advantage: e.advantage, oldLogprobs: e.logprobs, refLogprobs: null }))
    const whole = policyLoss(sequences, episodes.map((e) => e.trainLogprobs ?? []), lossNormalizer(sequences.map((s) => s.mask), options), options)
    const means = stepMeans(step, log, options)
    expect(means?.update).toBe('ahead')
    expect(means?.clipped).toBeGreaterThan(0)
    expect(means?.loss).toBeCloseTo(whole.loss, 12)
  })

  it('with one update have the ratio 1 exactly; with more and nothing later recorded, too, and say so', () => {
    const { step, log } = play()
    const one = stepMeans(step, log, settings())
    expect(one).toMatchObject({ ratio: 1, clipped: 0, update: 'only', sequences: 23, kl: null })
    expect(stepMeans(step, log, settings({ num_iterations: 3 }))).toMatchObject({ ratio: 1, update: 'first' })
    expect(stepMeans(step, log, settings({ beta: 0.1 }))).toMatchObject({ kl: null, klMissing: true })
  })
})

describe('a token that contributes nothing', () => {
  const why = ({ step, log }: ReturnType<typeof play>, index: number, author: string, options = settings()) => {
    const episode = step.episodes.find((e) => e.index === index)
    if (!episode) throw new Error('no episode')
    const tokens = log.read(1, index)
    const position = author === 'prompt' ? 3 : tokens.findIndex((t, i) => i >= episode.promptLength && t.author === author)
    const token = tokens[position]
    return token && explainToken(token, position, episode, stepLoss(step, log, options), step.finished, options)
  }

  it('says who wrote it, or what became of its episode', () => {
    const played = play()
    const long = played.step.episodes.findIndex((e) => e.reward !== null && e.answers.length > 1)
    expect(long).toBeGreaterThanOrEqual(0)
    expect(why(played, long, 'prompt')).toEqual({ kind: 'masked', why: 'prompt' })
    expect(why(played, long, 'environment')).toEqual({ kind: 'masked', why: 'environment' })
    expect(why(played, long, 'template')).toEqual({ kind: 'masked', why: 'template' })
    expect(why(played, 3, 'model')).toEqual({ kind: 'masked', why: 'unscorable' })
  })

  it('of a truncated episode leaves N, and stays in B', () => {
    const played = play()
    const cut = { ...played, step: { ...played.step, episodes: played.step.episodes.map((e) => (e.index === 0 ? { ...e, terminated: false } : e)) } }
    const options = settings({ mask_truncated_completions: true })
    expect(why(cut, 0, 'model', options)).toEqual({ kind: 'masked', why: 'truncated' })
    expect(why(cut, 0, 'model')?.kind).toBe('numbers')
    const [whole, less] = [settings(), options].map((o) => stepLoss(cut.step, cut.log, o)?.normalizer)
    expect(less?.sequences).toBe(whole?.sequences)
    expect(less?.tokens).toBeLessThan(whole?.tokens ?? 0)
  })

  it('has no ratio before the update, and none that was not recorded', () => {
    expect(why(play(undefined, 'scored'), 0, 'model')).toMatchObject({ kind: 'waiting', advantage: expect.any(Number) })
    const bare = play((record) => record.episodes.forEach((e) => (e.trainLogprobs = null)))
    expect(why(bare, 0, 'model')).toEqual({ kind: 'unrecorded' })
    expect(stepMeans(bare.step, bare.log, settings())).toBeNull()
  })
})

it('groups that were sampled again are not in the step’s loss, and say so', () => {
  const { step, log } = play((record) => {
    const first = record.groups[1]
    if (first) first.discarded = true
    for (const episode of record.episodes) if (episode.group === 1) Object.assign(episode, { advantage: 0, trainLogprobs: null, entropies: null })
  })
  const loss = stepLoss(step, log, settings())
  expect([...(loss?.masks.keys() ?? [])].filter((index) => Math.floor(index / 4) === 1)).toEqual([])
  expect(stepMeans(step, log, settings())).not.toBeNull()
  const episode = step.episodes.find(({ group }) => group === 1) as StepView['episodes'][number]
  const tokens = log.read(step.step, episode.index)
  const at = tokens.findIndex((token, t) => t >= episode.promptLength && token.author === 'model')
  expect(explainToken(tokens[at] as (typeof tokens)[number], at, episode, loss, true, settings())).toEqual({ kind: 'masked', why: 'discarded' })
})
