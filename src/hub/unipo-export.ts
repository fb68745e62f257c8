/** A run in the canonical JSONL of UNIPO, the explainer of policy optimisation: a header, then one line per step with its groups. */

import { PlaygroundError } from '../core/errors'
import type { KeptEpisode, RunRecord, StepSummary } from '../core/run-record'
import { wellFormedJson } from '../core/text'
import { trainedMask } from '../core/trained-mask'
import { withoutEpisodeSecrets, withoutTokens } from './secrets'

/** UNIPO's keys, where it has a page for the formula. */
const ALGORITHMS: Partial<Record<string, string>> = { dr_grpo: 'drgrpo' }

/** UNIPO shows three representative prompts of a step. */
const GROUPS = 3

/** UNIPO's names of our metrics; all others keep theirs. */
const METRICS: Readonly<Record<string, string>> = {
  'completions/mean_length': 'response_length',
  'clip_ratio/region_mean': 'clip_fraction',
  loss: 'policy_loss',
}

/**
 * One JSON object a line. An episode is a response: its tokens after the prompt, those of the environment among them with advantage 0
 * and without a log-prob, since UNIPO knows no mask; tokens that the loss did not see have advantage 0 too. Episodes without a reward
 * are left out. Log-probs are those before the update (the sampler's where there was none), so the ratio is 1 and a token's objective is
 * its advantage; the reference's log-probs are not recorded.
 * @throws PlaygroundError('config') where there are no episodes
 */
export async function unipoJsonl(run: RunRecord, history: readonly StepSummary[], steps: AsyncIterable<KeptEpisode[]>): Promise<Blob> {
  const metrics = new Map(history.map((summary) => [summary.step, summary.metrics]))
  const line = (value: object) => `${withoutTokens(wellFormedJson(value))}\n`
  const parts: Blob[] = []
  for await (const step of steps) {
    const [first] = step
    if (!first) continue
    const entry = { type: 'step', step: first.step, is_first_step_after_rollout_phase: true }
    parts.push(new Blob([line({ ...entry, metrics: metricsOf(metrics.get(first.step) ?? {}), prompts: promptsOf(step.map(withoutEpisodeSecrets)) })]))
  }
  if (parts.length === 0) throw new PlaygroundError('config', `No trajectories of the run “${run.name}” are kept.`, 'Train a step first.')
  return new Blob([line(header(run)), ...parts], { type: 'application/jsonl' })
}

function header({ config, environment, name, step }: RunRecord) {
  const { grpo } = config
  return {
    type: 'header',
    task: environment.name,
    dataset: name,
    reward_strategy: `reward of the environment ${environment.name}`,
    algorithm: ALGORITHMS[grpo.loss_type] ?? grpo.loss_type,
    totalSteps: step,
    model_name: config.model,
    reference_model_name: config.model,
    hparams: { ...grpo, clip_eps: [grpo.epsilon, grpo.epsilon_high ?? grpo.epsilon], kl_coef: grpo.beta, group_size: grpo.num_generations },
  }
}

/** UNIPO wants numbers; what is undefined is left out. */
function metricsOf(metrics: StepSummary['metrics']): Record<string, number> {
  const named = Object.entries(metrics).flatMap(([name, value]) => (value === null ? [] : [[METRICS[name] ?? name, value] as const]))
  const loss = metrics.loss ?? null
  return { ...Object.fromEntries(named), ...(loss === null ? {} : { policy_objective: -loss }) }
}

function promptsOf(step: readonly KeptEpisode[]) {
  const scorable = step.filter(({ reward }) => reward !== null)
  const groups = [...new Set(scorable.map(({ group }) => group))].slice(0, GROUPS)
  return groups.map((group) => {
    const members = scorable.filter((episode) => episode.group === group)
    return { prompt: members[0]?.prompt ?? '', responses: members.map(responseOf) }
  })
}

function responseOf(episode: KeptEpisode) {
  const { step, group, index, reward, advantage, completion, promptLength, mask } = episode
  const after = <T>(values: readonly T[]) => values.slice(promptLength)
  const written = after(mask)
  const ofWritten = (logprobs: readonly number[]) => after(logprobs).map((logprob, i) => (written[i] === 1 ? logprob : null))
  const trained = episode.trainLogprobs ?? episode.logprobs
  const advantages = after(trainedMask(episode)).map((m) => (m === 1 ? advantage : 0))
  return {
    id: `step${step}_p${group}_sample${index}`,
    reward,
    advantage,
    response_text: completion,
    response_length: written.length,
    tokens: {
      ids: after(episode.ids),
      strings: after(episode.texts),
      log_probs: ofWritten(trained),
      old_log_probs: ofWritten(episode.stale ? episode.logprobs : trained),
      advantages,
      token_objective: advantages,
    },
  }
}
