/** Long episodes in blocks: only blocks near the window are in the page, and the others keep their room. Pure. */

import type { LoggedToken } from '../../store/token-log'

/** So many tokens after the prompt are drawn until a person asks for all; in longer episodes blocks that are far away are left out. */
export const FIRST_DRAWN = 1200

/** A block ends at the first line break after so many tokens, and without one at the most. */
const LEAST = 48
const MOST = 128

export interface Block {
  /** [start, end) in the episode's tokens. */
  start: number
  end: number
}

/** [start, end) in blocks that end with their line where lines are not too long. Blocks before the last stay as they are when tokens come. */
export function blocksOf(tokens: readonly LoggedToken[], start: number, end: number): Block[] {
  const blocks: Block[] = []
  let from = start
  for (let i = start; i < end; i++) {
    const size = i + 1 - from
    if (size >= MOST || (size >= LEAST && tokens[i]?.text.endsWith('\n'))) {
      blocks.push({ start: from, end: i + 1 })
      from = i + 1
    }
  }
  if (from < end) blocks.push({ start: from, end })
  return blocks
}

/** Sizes of the drawn text, in pixels. */
export interface TextSize {
  /** Of a line's room, of one character, and what a token adds around its text. */
  width: number
  character: number
  around: number
  line: number
}

/** About how high a block will be when it is drawn. */
export function heightOf(tokens: readonly LoggedToken[], { start, end }: Block, size: TextSize): number {
  let [lines, used] = [1, 0]
  for (let i = start; i < end; i++) {
    const text = tokens[i]?.text ?? ''
    const width = text.length * size.character + size.around
    if (used > 0 && used + width > size.width) [lines, used] = [lines + 1, 0]
    used += width
    if (text.endsWith('\n') && i + 1 < end) [lines, used] = [lines + 1, 0]
  }
  return lines * size.line
}
