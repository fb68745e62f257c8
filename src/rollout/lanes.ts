/** Writes down what every lane does while a step runs: a lane does one thing at a time, so its spans never overlap. */

import { addSpans, byStart, type SpanKind, type TimelineSpan, type TrainingPart } from '../core/timeline'

/** Least time between two reports of spans, ms. */
const REPORT_MS = 250

export class Lanes {
  private readonly open = new Map<number, TimelineSpan>()
  private readonly all: TimelineSpan[] = []
  private fresh: TimelineSpan[] = []
  private reported = 0

  /**
   * @param clock ms since the step began, without pauses
   * @param onSpans spans that have ended since the last report, and the beginnings of those that go on
   */
  constructor(
    private readonly clock: () => number,
    private readonly onSpans: (spans: TimelineSpan[]) => void,
  ) {}

  now(): number {
    return this.clock()
  }

  /** From now on (or from a moment not long ago) the lane does this; what it did before ends then. */
  begin(lane: number, kind: SpanKind, episode: number, turn: number, at = this.clock(), part?: TrainingPart): void {
    const before = this.open.get(lane)
    if (before && before.kind === kind && before.episode === episode && before.turn === turn && before.part === part) return
    this.end(lane, at)
    this.open.set(lane, { kind, lane, episode, turn, start: at, end: at, ...(part && { part }) })
  }

  /** The lane does nothing from now on. */
  end(lane: number, at = this.clock()): void {
    const span = this.open.get(lane)
    if (!span) return
    this.open.delete(lane)
    this.keep(span, at)
  }

  /** The lane did this from then until now. */
  add(lane: number, kind: SpanKind, episode: number, turn: number, from: number): void {
    this.begin(lane, kind, episode, turn, from)
    this.end(lane)
  }

  /** Every lane that does this (without `kind`: anything) rests: another has the engine. */
  endAll(kind?: SpanKind): void {
    const at = this.clock()
    for (const [lane, span] of this.open) if (kind === undefined || span.kind === kind) this.end(lane, at)
  }

  /** What the lane does now. */
  doing(lane: number): Readonly<TimelineSpan> | null {
    return this.open.get(lane) ?? null
  }

  /** Reports what is new, if the last report is some time ago; `now` at once. */
  report(now = false): void {
    const at = this.clock()
    if (!now && at - this.reported < REPORT_MS) return
    this.reported = at
    for (const [lane, span] of this.open) {
      this.keep(span, at)
      this.open.set(lane, { ...span, start: at, end: at })
    }
    if (this.fresh.length === 0) return
    const spans: TimelineSpan[] = []
    addSpans(spans, this.fresh)
    this.fresh = []
    addSpans(this.all, spans)
    this.onSpans(spans)
  }

  /** Ends everything; all spans of the step. */
  finish(): TimelineSpan[] {
    this.endAll()
    this.report(true)
    return byStart(this.all)
  }

  private keep(span: TimelineSpan, end: number): void {
    const kept = { ...span, start: rounded(span.start), end: rounded(end) }
    if (kept.end > kept.start) this.fresh.push(kept)
  }
}

/** Tenths of a millisecond: a neighbour's beginning stays its end, and what is shorter (an environment in this page answers in less) is not kept. */
const rounded = (ms: number): number => Math.round(ms * 10) / 10
