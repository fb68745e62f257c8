/** A kept run → the view and the tokens that its steps would have left, had they just run here. */

import type { Episode, Turn } from '../core/episode'
import { runEvaluations } from '../core/evaluation'
import type { AppendedToken } from '../core/events'
import { type KeptEpisode, type StepSummary, timelineOf } from '../core/run-record'
import type { Message } from '../worker/protocol'
import { outcomeOf } from './reduce-event'
import type { TokenLog } from './token-log'
import { type AnswerView, EMPTY_RUN, type EpisodeView, KEPT_EPISODE_STEPS, KEPT_STEPS, type RunView, type StepView } from './view'

type Restored = Extract<Message, { type: 'restored' }>

/** The view of the run that was restored, in place of the one that was there; fills the token log with its last steps. */
export function restore(view: RunView, { run, history, episodes }: Restored, tokens: TokenLog): RunView {
  tokens.clear()
  const kept = episodes.filter((step) => step.length > 0).slice(-KEPT_EPISODE_STEPS)
  return {
    ...EMPTY_RUN,
    run: view.run,
    engine: view.engine,
    environment: view.environment,
    notices: view.notices,
    history: history.slice(-KEPT_STEPS),
    evaluations: runEvaluations(run.evaluations, run.checkpoint ?? run.step),
    stages: run.stages ?? [],
    steps: kept.map((step) => restoreStep(step, history, tokens)),
    recording: isRecording(run) ? run.name : null,
    recorded: isRecording(run) ? run.config : null,
  }
}

/** Nothing can go on from what is shown: it came from a file, without an adapter. */
export function isRecording(run: Restored['run']): boolean {
  return run.checkpoint === null
}

function restoreStep(kept: readonly KeptEpisode[], history: readonly StepSummary[], tokens: TokenLog): StepView {
  const step = (kept[0] as KeptEpisode).step
  const groups = history.find((s) => s.step === step)?.groups ?? null
  tokens.startStep(step)
  for (const episode of kept) fill(tokens, episode)
  const timeline = timelineOf(kept)
  return {
    step,
    groupCount: groups?.length ?? new Set(kept.map((e) => e.group)).size,
    episodeCount: kept.length,
    episodes: kept.map(restoreEpisode).sort((a, b) => a.index - b.index),
    groups,
    training: null,
    finished: true,
    ...(timeline && { timeline }),
  }
}

function fill(tokens: TokenLog, episode: KeptEpisode) {
  const { step, index, ids, texts, authors, mask, logprobs, alternatives, promptLength } = episode
  const appended = ids.map((id, i): AppendedToken => {
    const author = authors[i] ?? 'template'
    // Where nothing was sampled the record holds 0, which is no log-prob.
    const logprob = mask[i] === 1 ? (logprobs[i] ?? null) : null
    return { id, text: texts[i] ?? `[${id}]`, author, logprob, top: alternatives[i] ?? null }
  })
  tokens.startEpisode(step, index, appended.slice(0, promptLength))
  tokens.append(step, index, appended.slice(promptLength))
  tokens.score(episode)
}

function restoreEpisode(episode: KeptEpisode): EpisodeView {
  const { step, index, group, seed, environment, promptLength, ids, scene, advantage } = episode
  return { step, index, group, seed, promptLength, length: ids.length, ...answersOf(episode), scene, ...(environment !== undefined && { environment }), ...outcomeOf(episode), advantage }
}

/** What the environment answered, and the turn that the episode had come to. */
function answersOf({ turns, exit }: Pick<Episode, 'turns' | 'exit'>): { answers: AnswerView[]; turn: number } {
  const answers = turns.flatMap(answersTo)
  const last = answers.at(-1)
  // An environment that failed was asked in the last turn that the model wrote.
  if (!last || exit === 'env_error' || exit === 'env_unreadable') return { answers, turn: Math.max(0, turns.length - 1) }
  return { answers, turn: last.done ? last.turn : last.turn + 1 }
}

function answersTo({ calls, scene }: Turn, turn: number): AnswerView[] {
  const asked = calls.filter((call) => !call.refused)
  return asked.map(({ reward, rubric, done, ms }, i) => ({ turn, reward, ...(rubric !== undefined && { rubric }), done, ms, scene: i === asked.length - 1 ? scene : undefined }))
}
