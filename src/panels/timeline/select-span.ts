/** What a press on a span selects: its episode, and the first token of its turn. */

import type { TimelineSpan } from '../../core/timeline'
import type { Stores } from '../../store/hooks'
import { findStep } from '../../store/view'
import { segmentsOf } from '../trajectory/segments'

/** The trainer's spans are of all episodes and select none. */
export function selectSpan({ shown, selection }: Pick<Stores, 'shown' | 'selection'>, { episode: index, turn: wanted }: Pick<TimelineSpan, 'episode' | 'turn'>): void {
  const step = findStep(shown.getState(), selection.getState().step)
  const episode = step?.episodes.find((e) => e.index === index)
  if (!step || !episode) return
  const segments = segmentsOf(shown.tokens.read(step.step, index), episode.promptLength)
  const turn = segments.find((segment) => segment.turn === wanted)
  selection.setState({ episode: index, token: turn ? turn.start : null })
}
