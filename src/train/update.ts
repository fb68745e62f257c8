/**
 * The update half of a GRPO step: episodes and advantages in, `num_iterations` optimizer steps on the adapter out.
 *
 * Everything is kept in episode order, whatever micro-batches the engine makes, so the same episodes give the same bits.
 */

import type { GrpoConfig } from '../core/config'
import type { SequenceGradient, SequenceScores, Trainer, TrainSequence } from '../core/engine'
import type { Episode } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import type { TrainingPart } from '../core/timeline'
import { countTrained, learningRateFactor, lossNormalizer, policyLoss, sum, trainingMask, type UpdateRecord } from '../rl'
import { assertFinite, assertNotStopped, nonFinite } from './guard'

export interface UpdateRequest {
  engine: Trainer
  grpo: GrpoConfig
  /** In index order. */
  episodes: readonly Episode[]
  /** [episodes] */
  advantages: ArrayLike<number>
  /** Optimizer steps of the run before this update; places it on the learning-rate schedule. */
  optimizerSteps: number
  /** false trains on every token after the prompt, also the environment's: for the test that the mask matters. */
  maskEnvironment: boolean
  /** Sequences done, over all iterations. */
  onProgress: (done: number, total: number) => void
  /** Told of what begins. */
  onPart?: (part: TrainingPart, iteration: number) => void
  /** Aborting before the first optimizer step throws 'stopped'; later it is too late and the update completes. */
  signal?: AbortSignal
}

export interface PolicyUpdate {
  /** One per optimizer step. */
  updates: UpdateRecord[]
  /** π_old by the training graph, [episodes][tokens]; null for episodes that were not trained on. */
  trainLogprobs: (Float64Array | null)[]
  /** Entropies at the same time, nats; null likewise. */
  entropies: (Float64Array | null)[]
  /** logπ_ref; null everywhere where beta is 0. */
  refLogprobs: (Float64Array | null)[]
  /** What the last of several optimizer steps began with; null everywhere with num_iterations 1. */
  lastLogprobs: (Float64Array | null)[]
}

/** One episode that takes part in the optimizer steps. */
interface Member {
  episode: Episode
  position: number
  sequence: TrainSequence
  advantage: number
  old: Float64Array | null
  reference: Float64Array | null
}

/**
 * Runs the update. Unscorable episodes take no part, not even in the normaliser: how far a broken episode got is chance and
 * must not scale the others' gradient (TRL, which knows no broken episodes, counts rows without a reward). Every other episode counts
 * in the normaliser. With beta 0 an episode of advantage 0 has no derivative, so it is scored for the metrics (forward
 * only) and not sent through the backward pass; nothing else about the numbers changes.
 *
 * The first optimizer step takes its own log-probs as π_old (ratio exactly 1, no extra pass), the later ones those.
 *
 * Without any signal the optimizer still steps with a zero gradient, as TRL does: Adam's momentum goes on.
 *
 * @throws PlaygroundError 'non-finite' (that optimizer step is not applied), 'stopped' (nothing is applied), 'engine'
 */
export async function updatePolicy(request: UpdateRequest): Promise<PolicyUpdate> {
  try {
    return await runUpdate(request)
  } catch (error) {
    try {
      request.engine.zeroGradients()
    } catch {
      // A lost device cannot clear anything; the first error is the one to report.
    }
    throw error
  }
}

async function runUpdate({ engine, grpo, episodes, advantages, optimizerSteps, maskEnvironment, onProgress, onPart, signal }: UpdateRequest) {
  const temperature = grpo.temperature || 1
  const members = episodes.flatMap((episode, position): Member[] => {
    if (episode.reward === null) return []
    const mask = trainingMask(maskEnvironment ? episode : withoutMask(episode), grpo.mask_truncated_completions)
    const sequence = { ids: episode.ids, mask, promptLength: episode.promptLength }
    return [{ episode, position, sequence, advantage: advantages[position] ?? 0, old: null, reference: null }]
  })
  const normalizer = lossNormalizer(members.map((member) => member.sequence.mask), grpo)
  const trained = members.filter((member) => countTrained(member.sequence.mask) > 0)
  const active = trained.filter((member) => grpo.beta !== 0 || member.advantage !== 0)
  const passive = trained.filter((member) => !active.includes(member))

  if (grpo.beta !== 0 && trained.length > 0) {
    onPart?.('reference', 0)
    const scores = await engine.score(trained.map((member) => member.sequence), { temperature, adapter: 'reference' })
    trained.forEach((member, i) => (member.reference = (scores[i] as SequenceScores).logprobs.slice()))
  }

  const none = () => episodes.map(() => null)
  const result: PolicyUpdate = { updates: [], trainLogprobs: none(), entropies: none(), refLogprobs: none(), lastLogprobs: none() }
  for (const member of trained) result.refLogprobs[member.position] = member.reference
  const total = trained.length * grpo.num_iterations
  let done = 0

  for (let iteration = 0; iteration < grpo.num_iterations; iteration++) {
    const learning_rate =
      grpo.learning_rate *
      learningRateFactor(grpo.lr_scheduler_type, optimizerSteps + iteration, grpo.warmup_steps, grpo.max_steps * grpo.num_iterations)
    const shares = new Map<Member, { loss: number; statistics: UpdateRecord['sequences'][number] }>()

    const take = (member: Member, scores: SequenceScores): SequenceGradient => {
      const { mask } = member.sequence
      const where = `of episode ${member.episode.index} in step ${member.episode.step}`
      assertFinite(scores.logprobs, mask, `The log-probability ${where}`, grpo.learning_rate)
      assertFinite(scores.entropies, mask, `The entropy ${where}`, grpo.learning_rate)
      const sequence = { mask, advantage: member.advantage, oldLogprobs: member.old, refLogprobs: member.reference }
      const { loss, dLogprobs, statistics } = policyLoss([sequence], [scores.logprobs], normalizer, grpo)
      const gradient = dLogprobs[0] as Float64Array
      if (!Number.isFinite(loss)) throw nonFinite(`The loss ${where} (${loss})`, grpo.learning_rate)
      assertFinite(gradient, mask, `The loss derivative ${where}`, grpo.learning_rate)
      if (iteration === 0) {
        member.old = scores.logprobs.slice()
        result.trainLogprobs[member.position] = member.old
        result.entropies[member.position] = scores.entropies.slice()
      } else if (iteration === grpo.num_iterations - 1) result.lastLogprobs[member.position] = scores.logprobs.slice()
      const entropy = sum(Array.from(scores.entropies).filter((_, t) => mask[t] === 1))
      const [counts] = statistics
      if (counts) shares.set(member, { loss, statistics: { ...counts, entropy } })
      onProgress(++done, total)
      return { dLogprobs: gradient }
    }

    if (active.length > 0) {
      onPart?.('gradient', iteration)
      await engine.accumulate(active.map((member) => member.sequence), { temperature }, (indices, scores) =>
        indices.map((index, i) => take(active[index] as Member, scores[i] as SequenceScores)),
      )
    }
    if (passive.length > 0) {
      onPart?.('score', iteration)
      const scores = await engine.score(passive.map((member) => member.sequence), { temperature })
      passive.forEach((member, i) => take(member, scores[i] as SequenceScores))
    }
    if (iteration === 0) assertNotStopped(signal)

    onPart?.('optimizer', iteration)
    const grad_norm = await optimizerStep(engine, { ...grpo, learning_rate })
    const inOrder = trained.flatMap((member) => shares.get(member) ?? [])
    result.updates.push({
      loss: sum(inOrder.map((share) => share.loss)),
      grad_norm,
      learning_rate,
      sequences: inOrder.map((share) => share.statistics),
    })
  }
  return result
}

/**
 * One optimizer step that is sure to have reached the sampler: the engine's version must have gone up by one.
 * @returns the gradient's norm before clipping
 * @throws PlaygroundError 'non-finite' or 'engine'
 */
export async function optimizerStep(engine: Trainer, params: Parameters<Trainer['optimizerStep']>[0]): Promise<number> {
  const before = engine.version
  const { learning_rate, adam_beta1, adam_beta2, adam_epsilon, weight_decay, max_grad_norm } = params
  const { grad_norm } = await engine.optimizerStep({ learning_rate, adam_beta1, adam_beta2, adam_epsilon, weight_decay, max_grad_norm })
  if (!Number.isFinite(grad_norm)) throw nonFinite(`The gradient norm (${grad_norm})`, learning_rate)
  if (engine.version !== before + 1) {
    throw new PlaygroundError(
      'engine',
      `The sampler's weights are at version ${engine.version} after an update that should have made version ${before + 1}.`,
      'Reload the page; if it happens again, please report it.',
    )
  }
  return grad_norm
}

function withoutMask(episode: Episode): { mask: (0 | 1)[]; terminated: boolean } {
  return { mask: episode.ids.map((_, t) => (t >= episode.promptLength ? 1 : 0)), terminated: episode.terminated }
}
