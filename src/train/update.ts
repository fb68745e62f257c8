/**
 * The update half of a GRPO step: episodes and advantages in, `num_iterations` × `steps_per_generation` optimizer steps on the adapter out.
 *
 * Everything is kept in episode order, whatever micro-batches the engine makes, so the same episodes give the same bits.
 */

import type { GrpoConfig } from '../core/config'
import type { Adapter, SequenceGradient, SequenceScores, Trainer, TrainSequence } from '../core/engine'
import type { Episode } from '../core/episode'
import { PlaygroundError } from '../core/errors'
import type { TrainingPart } from '../core/timeline'
import { RandomStream } from '../core/random'
import {
  afterStep,
  appliedCoefficient,
  countTrained,
  entropyBonus,
  entropyThreshold,
  freshController,
  hasEntropyBonus,
  learningRateFactor,
  lossNormalizer,
  policyLoss,
  sum,
  trainingMask,
  undecided,
  type EntropyController,
  type UpdateRecord,
} from '../rl'
import { assertFinite, assertNotStopped, nonFinite } from './guard'

/** What an update needs of an engine. */
export type UpdateEngine = Pick<Trainer, 'score' | 'accumulate' | 'optimizerStep' | 'zeroGradients' | 'version'>

export interface UpdateRequest {
  engine: UpdateEngine
  grpo: GrpoConfig
  /** In index order. */
  episodes: readonly Episode[]
  /** [episodes] */
  advantages: ArrayLike<number>
  /** Optimizer steps of the run before this update; places it on the learning-rate schedule. */
  optimizerSteps: number
  /** false trains on every token after the prompt, also the environment's, with the loss's divisor as it is: for the test that the mask matters. */
  maskEnvironment: boolean
  /** Other weights than the present ones sampled the episodes: π_old is then what the sampler recorded. */
  stale?: boolean
  /** Sequences done, over all iterations. */
  onProgress: (done: number, total: number) => void
  /** Told of what begins. */
  onPart?: (part: TrainingPart, iteration: number) => void
  /** The adaptive entropy bonus as the last step left it; absent at the beginning of a run. */
  controller?: EntropyController
  /** Aborting before the first optimizer step throws 'stopped'; later it is too late and the update completes. */
  signal?: AbortSignal
}

export interface PolicyUpdate {
  /** One per optimizer step. */
  updates: UpdateRecord[]
  /** By the training graph before the update, [episodes][tokens]: π_old, but of a stale batch; null for episodes that were not trained on. */
  trainLogprobs: (Float64Array | null)[]
  /** Entropies before the update, nats; null likewise. */
  entropies: (Float64Array | null)[]
  /** logπ_ref; null everywhere where beta is 0. */
  refLogprobs: (Float64Array | null)[]
  /** What the last optimizer step on an episode began with; null where there was one alone. */
  lastLogprobs: (Float64Array | null)[]
  /** The adaptive entropy bonus after the last optimizer step. */
  controller: EntropyController
}

/** One episode that takes part in the optimizer steps. */
interface Member {
  episode: Episode
  position: number
  sequence: TrainSequence
  /** What the normaliser counts: the model's tokens, also where the environment's are trained on. */
  counted: readonly (0 | 1)[]
  advantage: number
  old: Float64Array | null
  reference: Float64Array | null
  /** The sampler's log-probs; null where the tokens were not sampled. */
  sampler: readonly number[] | null
  /** Trained ones. */
  tokens: number
}

/**
 * Runs the update. Unscorable episodes take no part, not even in the normaliser: how far a broken episode got is chance and
 * must not scale the others' gradient (TRL, which knows no broken episodes, counts rows without a reward). Every other episode counts
 * in the normaliser. With beta 0 an episode of advantage 0 has no derivative, so it is scored for the metrics (forward
 * only) and not sent through the backward pass; nothing else about the numbers changes.
 *
 * The first optimizer step takes its own log-probs as π_old (ratio exactly 1, no extra pass), the later ones those. Of a stale batch π_old is
 * the sampler's, as in TRL's AsyncGRPOTrainer: ρ then is how far the policy is from the one that sampled, and leaves nothing for the
 * mismatch correction to weigh.
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

async function runUpdate(request: UpdateRequest): Promise<PolicyUpdate> {
  const { engine, grpo, episodes, advantages, optimizerSteps, maskEnvironment, stale = false, onProgress, onPart, signal } = request
  const temperature = grpo.temperature || 1
  const members = episodes.flatMap((episode, position): Member[] => {
    if (episode.reward === null) return []
    const counted = trainingMask(episode, grpo.mask_truncated_completions)
    const mask = maskEnvironment ? counted : trainingMask(withoutMask(episode), grpo.mask_truncated_completions)
    const sequence = { ids: episode.ids, mask, promptLength: episode.promptLength }
    // What the environment wrote was never sampled: there is nothing to correct.
    const sampler = maskEnvironment ? episode.logprobs : null
    const old = stale && sampler ? Float64Array.from(sampler) : null
    return [{ episode, position, sequence, counted, advantage: advantages[position] ?? 0, old, reference: null, sampler, tokens: countTrained(mask) }]
  })
  const trained = members.filter(({ tokens }) => tokens > 0)
  const score = async (some: readonly Member[], adapter: Adapter) => {
    const scores = await engine.score(some.map((member) => member.sequence), { temperature, adapter })
    return some.map((member, i) => [member, scores[i] as SequenceScores] as const)
  }

  if (grpo.beta !== 0 && trained.length > 0) {
    onPart?.('reference', 0)
    for (const [member, scores] of await score(trained, 'reference')) member.reference = scores.logprobs.slice()
  }

  const none = () => episodes.map(() => null)
  const result: PolicyUpdate = {
    updates: [],
    trainLogprobs: none(),
    entropies: none(),
    refLogprobs: none(),
    lastLogprobs: none(),
    controller: request.controller ?? freshController(grpo),
  }
  for (const member of trained) result.refLogprobs[member.position] = member.reference
  const total = trained.length * grpo.num_iterations
  let done = 0

  const keepOld = (member: Member, scores: SequenceScores) => {
    const logprobs = scores.logprobs.slice()
    member.old ??= logprobs
    result.trainLogprobs[member.position] = logprobs
    result.entropies[member.position] = scores.entropies.slice()
  }
  const shares = sharesOf(members, grpo, optimizerSteps)
  // The first share's update changes what the others would be scored with.
  if (shares.length > 1 && trained.length > 0) {
    onPart?.('score', 0)
    for (const [member, scores] of await score(trained, 'current')) keepOld(member, scores)
  }

  for (let step = 0; step < grpo.num_iterations * shares.length; step++) {
    const iteration = Math.floor(step / shares.length)
    const share = shares[step % shares.length] as Member[]
    const taught = share.filter(({ tokens }) => tokens > 0)
    // The run's, as optimizerSteps counts them: fewer shares of a step with few episodes shorten no schedule.
    const stepsInAll = grpo.max_steps * grpo.num_iterations * grpo.steps_per_generation
    const learning_rate = grpo.learning_rate * learningRateFactor(grpo.lr_scheduler_type, optimizerSteps + step, grpo.warmup_steps, stepsInAll)
    const normalizer = lossNormalizer(share.map((member) => member.counted), grpo)
    const coefficient = appliedCoefficient(result.controller, grpo)
    const { threshold, tokens } = await undecidedTokens(taught, grpo, score)
    const found = new Map<Member, { loss: number; bonus: number; statistics: UpdateRecord['sequences'][number]; entropy: number }>()

    const take = (member: Member, scores: SequenceScores): SequenceGradient => {
      const { mask } = member.sequence
      const where = `of episode ${member.episode.index} in step ${member.episode.step}`
      assertFinite(scores.logprobs, mask, `The log-probability ${where}`, grpo.learning_rate)
      assertFinite(scores.entropies, mask, `The entropy ${where}`, grpo.learning_rate)
      const { advantage, old: oldLogprobs, reference: refLogprobs, sampler: samplerLogprobs } = member
      const sequence = { mask, advantage, oldLogprobs, refLogprobs, samplerLogprobs, entropies: scores.entropies }
      const { loss, dLogprobs, statistics } = policyLoss([sequence], [scores.logprobs], normalizer, grpo, threshold)
      const gradient = dLogprobs[0] as Float64Array
      if (!Number.isFinite(loss)) throw nonFinite(`The loss ${where} (${loss})`, grpo.learning_rate)
      assertFinite(gradient, mask, `The loss derivative ${where}`, grpo.learning_rate)
      if (result.trainLogprobs[member.position] === null) keepOld(member, scores)
      else if (iteration === grpo.num_iterations - 1) result.lastLogprobs[member.position] = scores.logprobs.slice()
      const bonus = entropyBonus(mask, scores.entropies, threshold, tokens, coefficient)
      const [counts] = statistics
      const entropy = undecided(mask, scores.entropies, null).entropy
      if (counts) found.set(member, { loss, bonus: bonus.loss, statistics: { ...counts, entropy }, entropy: undecided(mask, scores.entropies, threshold).entropy })
      onProgress(++done, total)
      return { dLogprobs: gradient, ...(coefficient !== 0 && { dEntropies: bonus.dEntropies }) }
    }

    const active = taught.filter((member) => grpo.beta !== 0 || coefficient !== 0 || member.advantage !== 0)
    const passive = taught.filter((member) => !active.includes(member))
    if (active.length > 0) {
      onPart?.('gradient', iteration)
      await engine.accumulate(active.map((member) => member.sequence), { temperature }, (indices, scores) =>
        indices.map((index, i) => take(active[index] as Member, scores[i] as SequenceScores)),
      )
    }
    if (passive.length > 0) {
      onPart?.('score', iteration)
      for (const [member, scores] of await score(passive, 'current')) take(member, scores)
    }
    if (step === 0) assertNotStopped(signal)

    onPart?.('optimizer', iteration)
    const grad_norm = await optimizerStep(engine, { ...grpo, learning_rate })
    const inOrder = taught.flatMap((member) => found.get(member) ?? [])
    if (taught.length > 0) result.controller = afterStep(result.controller, sum(inOrder.map(({ entropy }) => entropy)) / tokens, grpo)
    const policy_loss = sum(inOrder.map((part) => part.loss))
    result.updates.push({
      loss: policy_loss + sum(inOrder.map((part) => part.bonus)),
      policy_loss,
      ...(hasEntropyBonus(grpo) && { entropy_coef: result.controller.entropy_coef }),
      grad_norm,
      learning_rate,
      sequences: inOrder.map((part) => part.statistics),
    })
  }
  return result
}

/** Keeps the draw of shares apart from all other random numbers of a run. */
const SLICES = 0x51ce

/**
 * Members in the shares of a pass, one an optimizer step: of equal size (to one), drawn at random and each in episode order; fewer where there
 * are not enough members. `optimizerSteps` of the run before it.
 */
export function sharesOf<M extends { position: number }>(members: readonly M[], grpo: Pick<GrpoConfig, 'steps_per_generation' | 'seed'>, optimizerSteps: number): M[][] {
  const { steps_per_generation: count, seed } = grpo
  if (count === 1 || members.length < 2) return [[...members]]
  const shares = Array.from({ length: Math.min(count, members.length) }, (): M[] => [])
  new RandomStream(seed, SLICES, optimizerSteps).shuffle(members).forEach((member, i) => shares[i % shares.length]?.push(member))
  return shares.map((share) => share.sort((a, b) => a.position - b.position))
}

/**
 * What must be known of an optimizer step before its first gradient: the least entropy of a token that has a policy term, and how many
 * tokens have one (at least 1). It takes a pass of its own where not all have.
 */
async function undecidedTokens(
  taught: readonly Member[],
  { top_entropy_quantile }: GrpoConfig,
  score: (some: readonly Member[], adapter: Adapter) => Promise<(readonly [Member, SequenceScores])[]>,
): Promise<{ threshold: number | null; tokens: number }> {
  const all = Math.max(1, sum(taught.map(({ tokens }) => tokens)))
  if (top_entropy_quantile >= 1 || taught.length === 0) return { threshold: null, tokens: all }
  const scored = await score(taught, 'current')
  const threshold = entropyThreshold(scored.map(([, { entropies }]) => entropies), scored.map(([{ sequence }]) => sequence.mask), top_entropy_quantile)
  return { threshold, tokens: Math.max(1, sum(scored.map(([{ sequence }, { entropies }]) => undecided(sequence.mask, entropies, threshold).tokens))) }
}

/**
 * One optimizer step that is sure to have reached the sampler: the engine's version must have gone up by one.
 * @returns the gradient's norm before clipping
 * @throws PlaygroundError 'non-finite' or 'engine'
 */
export async function optimizerStep(engine: Pick<Trainer, 'optimizerStep' | 'version'>, params: Parameters<Trainer['optimizerStep']>[0]): Promise<number> {
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
