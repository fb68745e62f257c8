/** The training loop's events → the view: which episode grew, what was scored, what the update measured. */

import { type Episode, UNSCORABLE_EXITS, unparsed, verdictOf } from '../core/episode'
import { summarise } from '../core/run-record'
import { addSpans, type TimelineSpan } from '../core/timeline'
import type { StepRecord, TrainEvent } from '../worker/protocol'
import type { TokenLog } from './token-log'
import {
  type EpisodeView,
  KEPT_EPISODE_STEPS,
  KEPT_NOTICES,
  KEPT_STEPS,
  type NoticeView,
  type RunView,
  type StepView,
} from './view'

/** The view after one event; `now` in ms. Events about a step or an episode that is not kept change nothing. */
export function reduceEvent(view: RunView, event: TrainEvent, tokens: TokenLog, now: number): RunView {
  switch (event.type) {
    case 'step-started': {
      tokens.startStep(event.step)
      const started: StepView = {
        step: event.step,
        groupCount: event.groups,
        episodeCount: event.episodes,
        episodes: [],
        groups: null,
        training: null,
        finished: false,
      }
      // One that was sampled ahead is sampled again where the one before it is.
      const kept = view.steps.filter((s) => s.step < event.step).slice(1 - KEPT_EPISODE_STEPS)
      return { ...view, steps: [...kept, started], waits: { queue: null, away: null } }
    }
    case 'resampled': {
      const { step, groups, episodes, discarded } = event
      return changeStep(view, step, (s) => ({ ...s, groupCount: groups, episodeCount: episodes, discarded }))
    }
    case 'step-dropped':
      return { ...view, steps: view.steps.filter((s) => s.step !== event.step), waits: { queue: null, away: null } }
    case 'episode-started': {
      tokens.startEpisode(event.step, event.index, event.prompt)
      const { step, index, group, seed, scene, environment, columns, rewardless } = event
      const length = event.prompt.length
      const episode: EpisodeView = { ...FRESH, step, index, group, seed, scene, promptLength: length, length, ...(environment !== undefined && { environment }), ...(columns && { columns }), ...(rewardless && { rewardless }) }
      return changeStep(view, step, (s) => ({
        ...s,
        episodes: [...s.episodes.filter((e) => e.index !== index), episode].sort((a, b) => a.index - b.index),
      }))
    }
    case 'tokens':
      tokens.append(event.step, event.index, event.tokens)
      return changeEpisode(view, event, (e) => ({ ...e, length: e.length + event.tokens.length }))
    case 'environment-waiting':
      return changeEpisode(view, event, (e) => ({ ...e, turn: event.turn, waitingSince: now }))
    case 'environment-answered': {
      const { turn, reward, rubric, done, ms, scene } = event
      return changeEpisode(view, event, (e) => ({
        ...e,
        turn: done ? turn : turn + 1,
        waitingSince: null,
        answers: [...e.answers, { turn, reward, ...(rubric !== undefined && { rubric }), done, ms, scene }],
      }))
    }
    case 'environment-queue': {
      const { waiting, seconds } = event
      const queue = waiting === 0 ? null : { waiting, until: untilOf(seconds, now) }
      return { ...view, waits: { ...view.waits, queue } }
    }
    case 'environment-away': {
      const { text, seconds } = event
      const away = text === null ? null : { text, until: untilOf(seconds, now) }
      return { ...view, waits: { ...view.waits, away } }
    }
    case 'episode-finished': {
      const { step, episode } = event
      return changeEpisode(view, { step, index: episode.index }, (e) => ({ ...e, ...outcomeOf(episode) }))
    }
    case 'scored':
      return changeStep(view, event.step, (s) => ({
        ...s,
        groups: event.groups,
        ...(event.ahead && { ahead: event.ahead }),
        episodes: s.episodes.map((e) => {
          const scores = event.rewards?.[e.index]
          return { ...e, advantage: event.advantages[e.index] ?? null, ...(scores && { reward: scores.reward, parts: scores.parts, ...judgedNow(e, scores) }) }
        }),
      }))
    case 'training':
      return changeStep(view, event.step, (s) => ({ ...s, training: { done: event.done, total: event.total } }))
    case 'timeline':
      return changeStep(view, event.step, (s) => ({ ...s, timeline: withSpans(s.timeline, event.spans) }))
    case 'step-finished':
      return finishStep(view, event.record, tokens)
    case 'evaluation': {
      const { type: _, ...evaluation } = event
      return { ...view, evaluation }
    }
    case 'evaluated': {
      const before = view.evaluations.filter(({ step }) => !event.records.some((record) => record.step === step))
      return { ...view, evaluation: null, evaluations: [...before, ...event.records] }
    }
    case 'notice':
      return { ...view, notices: addNotice(view.notices, event.level, event.text) }
  }
}

const untilOf = (seconds: number | null, now: number) => (seconds === null ? null : now + seconds * 1000)

function withSpans(before: readonly TimelineSpan[] = [], spans: readonly TimelineSpan[]): readonly TimelineSpan[] {
  const all = [...before]
  addSpans(all, spans)
  return all
}

/** Where no environment has judged it before. */
function judgedNow({ rewardless, exit }: EpisodeView, { reward, success }: { reward: number | null; success?: boolean }): Partial<EpisodeView> {
  if (!rewardless || exit === null) return {}
  return { success: success ?? null, verdict: verdictOf({ exit, reward, turns: [], rewardless }) }
}

/** What is known of an episode once it has ended. */
export function outcomeOf(episode: Episode) {
  const { reward, success, exit, error, terminated, turns, rewardless, columns, rewards } = episode
  const solved = reward === null ? null : (success ?? null)
  const parseErrors = turns.reduce((count, turn) => count + unparsed(turn), 0)
  const toolErrors = turns.flatMap(({ calls }) => calls).filter((call) => call.error).length
  const more = { ...(rewards && { parts: rewards }), ...(rewardless && { rewardless }), ...(columns && { columns }) }
  // Reward functions are asked once all episodes of the step are there.
  const waits = rewardless === true && rewards === undefined && !UNSCORABLE_EXITS.includes(exit)
  return { ...more, waitingSince: null, finished: true, reward, success: solved, exit, error, terminated, verdict: waits ? null : verdictOf(episode), parseErrors, toolErrors } satisfies Partial<EpisodeView>
}

const FRESH = {
  turn: 0,
  waitingSince: null,
  answers: [],
  finished: false,
  reward: null,
  success: null,
  exit: null,
  error: null,
  terminated: null,
  verdict: null,
  parseErrors: 0,
  toolErrors: 0,
  advantage: null,
} satisfies Partial<EpisodeView>

function finishStep(view: RunView, record: StepRecord, tokens: TokenLog): RunView {
  for (const episode of record.episodes) tokens.score(episode)
  const byIndex = new Map(record.episodes.map((e) => [e.index, e]))
  const history = [...view.history.filter((s) => s.step !== record.step), summarise(record)].slice(-KEPT_STEPS)
  const updated = changeStep(view, record.step, (s) => ({
    ...s,
    training: null,
    finished: true,
    groups: record.groups,
    ...(record.timeline && { timeline: record.timeline }),
    episodes: s.episodes.map((e) => ({ ...e, advantage: byIndex.get(e.index)?.advantage ?? e.advantage })),
  }))
  return { ...updated, history }
}

const STEP = /\bstep (\d+)\b/i
/** What a notice says whatever the step: equal for two that are about different steps. */
const withoutStep = (text: string) => text.replace(STEP, 'step')

function addNotice(notices: readonly NoticeView[], level: NoticeView['level'], text: string): readonly NoticeView[] {
  const kind = withoutStep(text)
  const last = notices.find((n) => withoutStep(n.text) === kind && n.level === level)
  const step = STEP.exec(text)?.[1]
  const steps = [...new Set([...(last?.steps ?? []), ...(step === undefined ? [] : [Number(step)])])].sort((a, b) => a - b)
  if (last) return [...notices.filter((n) => n !== last), { ...last, text, steps, count: last.count + 1 }]
  const id = notices.reduce((most, n) => Math.max(most, n.id), 0) + 1
  return [...notices, { id, level, text, steps, count: 1 }].slice(-KEPT_NOTICES)
}

function changeStep(view: RunView, step: number, change: (step: StepView) => StepView): RunView {
  if (!view.steps.some((s) => s.step === step)) return view
  return { ...view, steps: view.steps.map((s) => (s.step === step ? change(s) : s)) }
}

function changeEpisode(view: RunView, at: { step: number; index: number }, change: (e: EpisodeView) => EpisodeView): RunView {
  return changeStep(view, at.step, (s) => ({ ...s, episodes: s.episodes.map((e) => (e.index === at.index ? change(e) : e)) }))
}
