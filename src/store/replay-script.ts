/** A recorded step as the events that it was made of, each with its moment: what a live run would have sent, at a pace for reading. */

import type { Turn } from '../core/episode'
import type { AppendedToken, StepRecord, TrainEvent } from '../core/events'
import type { KeptEpisode, StepSummary } from '../core/run-record'
import { byStart, type TimelineSpan } from '../core/timeline'
import { DURATIONS } from '../ui/durations'
import type { Grain } from '../worker/protocol'
import { piecesOf } from './replay-timeline'

/** `at`: ms from the step's beginning, at speed 1; above 0, and never falling. */
export interface Beat {
  at: number
  event: TrainEvent
}

export interface StepScript {
  beats: readonly Beat[]
  /** Ms, with the rest after the last beat. */
  length: number
}

/** Pieces of the update's progress: one for each episode would be more than an eye sees. */
const TRAINING_BEATS = 16

const inOrder = (beats: readonly Beat[]): Beat[] => beats.toSorted((a, b) => a.at - b.at)

interface RecordedParts {
  trained: number
  episodes: readonly KeptEpisode[]
  timeline?: readonly TimelineSpan[]
}

/**
 * The record does not say when a token came; the engine samples one token of every episode that is being written at a time, and so does
 * this. What an environment answered comes a short while after it was asked, whatever it took.
 */
export function scriptOf(summary: StepSummary, { trained, episodes, timeline = [] }: RecordedParts): StepScript {
  const { step, groups, seconds } = summary
  const beats: Beat[] = []
  const say = (at: number, event: TrainEvent) => beats.push({ at, event })
  const { token, answer, scored, update, rest } = DURATIONS.replay

  say(token, { type: 'step-started', step, episodes: episodes.length, groups: groups.length })
  for (const { index, group, seed, scene, promptLength, ...episode } of episodes) {
    say(token, { type: 'episode-started', step, index, group, seed, prompt: tokensOf(episode, 0, promptLength), scene })
  }
  const sampled = inOrder(episodes.flatMap((episode) => playOf(episode, 2 * token, token, answer)))
  let at = (sampled.at(-1)?.at ?? token) + answer
  beats.push(...inOrder([...sampled, ...spanBeats(step, timeline, 'sampling', seconds, token, at)]))

  const advantages: number[] = []
  for (const { index, advantage } of episodes) advantages[index] = advantage
  say(at, { type: 'scored', step, advantages, groups: [...groups] })
  at += scored
  const pieces = Math.min(TRAINING_BEATS, trained)
  const progress = Array.from({ length: pieces }, (_, i): Beat => {
    const part = (i + 1) / pieces
    return { at: at + update * part, event: { type: 'training', step, done: Math.round(trained * part), total: trained } }
  })
  beats.push(...inOrder([...progress, ...spanBeats(step, timeline, 'training', seconds, at, at + update)]))
  at += update + token
  say(at, { type: 'step-finished', record: { ...recordOf(summary, episodes), ...(timeline.length > 0 && { timeline: byStart(timeline) }) } })
  return { beats, length: at + rest }
}

/**
 * Where one press of Step leads within a step of which `time` ms were played: to the next token of all that write, to the next end of an
 * episode, or to the rewards; null for the step's end.
 */
export function nextStop({ beats }: StepScript, time: number, grain: Grain): number | null {
  if (grain === 'step') return null
  const ends = ({ event }: Beat) => event.type === 'scored' || (grain === 'episode' ? event.type === 'episode-finished' : event.type === 'tokens' && event.tokens[0]?.author === 'model')
  return beats.find((beat) => beat.at > time && ends(beat))?.at ?? null
}

/** Ms from which on nothing comes any more but the rest after the step. */
export function endOf({ beats }: StepScript): number {
  return beats.at(-1)?.at ?? 0
}

/** The recorded spans of a phase as they come about while the replay goes from one moment to another. */
function spanBeats(step: number, timeline: readonly TimelineSpan[], phase: 'sampling' | 'training', seconds: StepSummary['seconds'], from: number, to: number): Beat[] {
  const spans = timeline.filter(({ kind }) => (kind === 'training') === (phase === 'training'))
  const begins = phase === 'training' ? seconds.sampling * 1000 : 0
  const count = Math.ceil((to - from) / DURATIONS.chart)
  return piecesOf(spans, begins, begins + seconds[phase] * 1000, count).flatMap((piece, i) =>
    piece.length > 0 ? [{ at: from + ((to - from) * (i + 1)) / count, event: { type: 'timeline', step, spans: piece } }] : [],
  )
}

/** One episode, from its first token to its end. */
function playOf(episode: KeptEpisode, from: number, token: number, answer: number): Beat[] {
  const { step, index, turns } = episode
  const beats: Beat[] = []
  let at = from
  const append = (start: number, end: number) => beats.push({ at, event: { type: 'tokens', step, index, tokens: tokensOf(episode, start, end) } })
  turns.forEach((turn, i) => {
    for (let position = turn.start; position < turn.end; position++) {
      append(position, position + 1)
      at += token
    }
    const asked = turn.calls.filter((call) => !call.refused)
    if (asked.length > 0) {
      beats.push({ at, event: { type: 'environment-waiting', step, index, turn: i } })
      at += answer
    }
    answersTo(turn, asked).forEach((said) => beats.push({ at, event: { type: 'environment-answered', step, index, turn: i, ...said } }))
    if (turn.resultEnd > turn.end) append(turn.end, turn.resultEnd)
  })
  beats.push({ at, event: { type: 'episode-finished', step, episode } })
  return beats
}

function answersTo({ scene }: Turn, asked: readonly Turn['calls'][number][]) {
  return asked.map(({ reward, done, ms }, i) => ({ reward, done, ms, ...(i === asked.length - 1 && { scene }) }))
}

function tokensOf({ ids, texts, authors, mask, logprobs, alternatives }: Pick<KeptEpisode, 'ids' | 'texts' | 'authors' | 'mask' | 'logprobs' | 'alternatives'>, start: number, end: number): AppendedToken[] {
  return ids.slice(start, end).map((id, i) => {
    const at = start + i
    return { id, text: texts[at] ?? '', author: authors[at] ?? 'template', logprob: mask[at] === 1 ? (logprobs[at] ?? null) : null, top: alternatives[at] ?? null }
  })
}

function recordOf({ step, groups, metrics, seconds, version }: StepSummary, episodes: readonly KeptEpisode[]): StepRecord {
  return { step, episodes: [...episodes], groups: [...groups], metrics, seconds, version }
}
