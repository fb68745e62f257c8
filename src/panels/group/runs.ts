/** An episode as a strip: neighbouring tokens of one author become one run, so a strip is a handful of elements. */

import type { Author } from '../../core/episode'
import type { LoggedToken } from '../../store/token-log'

export interface AuthorRun {
  author: Author
  /** First position in the episode. */
  start: number
  length: number
}

/** Runs of equal authors over [from, to). */
export function authorRuns(tokens: readonly LoggedToken[], from: number, to = tokens.length): AuthorRun[] {
  const runs: AuthorRun[] = []
  for (let i = from; i < to; i++) {
    const author = tokens[i]?.author
    if (author === undefined) break
    const last = runs.at(-1)
    if (last?.author === author) last.length++
    else runs.push({ author, start: i, length: 1 })
  }
  return runs
}
