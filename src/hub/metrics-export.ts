/** A run's curves for other programs: a CSV, the Trainer's trainer_state.json, and a folder that puts the run into trackio. */

import { datasetLabel } from '../core/dataset'
import { specName } from '../core/environment-spec'
import { csvLine, csvNumber } from '../core/csv'
import { runEvaluations } from '../core/evaluation'
import type { EvaluationRecord, ExportFile, RunRecord, StepSummary } from '../core/run-record'
import { wellFormedJson } from '../core/text'
import { withoutTokens } from './secrets'
import OPEN_IN_TRACKIO from '../../e2e/taken-away/open_in_trackio.py?raw'

/** Metrics of one step under the Trainer's names; null is "undefined", which is not 0. */
interface Logged {
  step: number
  metrics: Readonly<Record<string, number | null>>
}

/** A table with `step` first and the other columns in the order in which they first appear; cells of undefined metrics are empty. */
function csv(rows: readonly Logged[]): string {
  const names = [...new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)))]
  return csvLine(['step', ...names]) + rows.map(({ step, metrics }) => csvLine([String(step), ...names.map((name) => csvNumber(metrics[name]))])).join('')
}

/** One line per step, TRL's metric names as columns, every digit of every number; what the run evaluated itself stands beside its step as eval_…. */
export function metricsCsv(history: readonly StepSummary[], evaluations: readonly EvaluationRecord[] = []): string {
  return csv(merged(inOrder([...history, ...runEvaluations(evaluations)])))
}

/** By step; at one step, the training comes first. */
const inOrder = (rows: readonly Logged[]): Logged[] => [...rows].sort((a, b) => a.step - b.step)

/** What a run evaluated itself has the Trainer's names; what a person asked for, its names on a named evaluation set. */
function evaluated({ step, split, solved, scorable, reward, metrics }: EvaluationRecord): Logged {
  if (metrics) return { step, metrics }
  const success = scorable > 0 ? solved / scorable : null
  return { step, metrics: { [`eval_${split}_success`]: success, [`eval_${split}_reward`]: scorable > 0 ? reward : null } }
}

/** Steps and evaluations in order. Of those that a person asked for, the policy's own as it samples: the others have no name there. */
function logHistory(run: RunRecord, history: readonly StepSummary[]): Logged[] {
  return inOrder([...history, ...run.evaluations.filter(({ policy, greedy, metrics }) => metrics || (!policy && !greedy)).map(evaluated)])
}

/** trainer_state.json as transformers' TrainerState reads it. One epoch is the whole run. */
export function trainerState(run: RunRecord, history: readonly StepSummary[]): string {
  const { grpo } = run.config
  const epoch = (step: number) => (grpo.max_steps > 0 ? step / grpo.max_steps : 0)
  const state = {
    best_global_step: null,
    best_metric: null,
    best_model_checkpoint: null,
    epoch: epoch(run.step),
    eval_steps: grpo.eval_strategy === 'steps' ? grpo.eval_steps : grpo.max_steps,
    global_step: run.step,
    is_hyper_param_search: false,
    is_local_process_zero: true,
    is_world_process_zero: true,
    log_history: logHistory(run, history).map(({ step, metrics }) => ({ epoch: epoch(step), ...metrics, step })),
    logging_steps: 1,
    max_steps: grpo.max_steps,
    num_input_tokens_seen: history.at(-1)?.metrics.num_tokens ?? 0,
    num_train_epochs: 1,
    save_steps: 1,
    stateful_callbacks: {},
    total_flos: 0,
    train_batch_size: grpo.num_generations * grpo.prompts_per_step,
    trial_name: null,
    trial_params: null,
  }
  return `${JSON.stringify(state, null, 2)}\n`
}

const TRACKIO_PROJECT = 'grpo-playground'

/**
 * A folder with the run's metrics, its settings and a script that logs both to trackio. The names are those that a TRL run logs
 * there (train/…, eval/…), so that both lie in the same charts. (trackio's own CSV import cuts every name to ten letters.)
 */
export function trackioFiles(run: RunRecord, history: readonly StepSummary[]): ExportFile[] {
  const { environment, model, model_revision, precision, enable_thinking, grpo } = run.config
  const where = specName(environment)
  const dataset = run.environment.dataset && datasetLabel(run.environment.dataset)
  const config = { model, model_revision, model_sha: run.modelSha, precision, environment: where, ...(dataset && { dataset }), enable_thinking, ...grpo, peft_config: run.lora }
  const settings = { project: TRACKIO_PROJECT, name: run.name, config: { ...config, grpo_playground_version: run.version } }
  const rows = merged(logHistory(run, history)).map(({ step, metrics }) => ({ step, metrics: renamed(metrics) }))
  return [
    { path: 'metrics.csv', content: csv(rows) },
    { path: 'run.json', content: `${withoutTokens(wellFormedJson(settings, 2))}\n` },
    { path: 'open_in_trackio.py', content: OPEN_IN_TRACKIO },
    { path: 'README.md', content: TRACKIO_README },
  ]
}

const TRACKIO_README = `# This run in trackio

\`\`\`sh
pip install trackio
python open_in_trackio.py
trackio show --project ${TRACKIO_PROJECT}
\`\`\`
`

/** One row per step: trackio draws a metric of a step once. */
function merged(rows: readonly Logged[]): Logged[] {
  const steps = new Map<number, Logged>()
  for (const { step, metrics } of rows) steps.set(step, { step, metrics: { ...steps.get(step)?.metrics, ...metrics } })
  return [...steps.values()]
}

/** As transformers renames what it logs to trackers. */
function renamed(metrics: Logged['metrics']): Record<string, number | null> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name.startsWith('eval_') ? `eval/${name.slice(5)}` : `train/${name}`, value]))
}
