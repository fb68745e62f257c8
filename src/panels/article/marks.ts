/** Reads the few marks of the article's paragraphs: [words](see:PANEL), [words](to:SOURCE), *words* and `words`. */

export type Piece =
  | { kind: 'text' | 'strong' | 'code'; text: string }
  /** `target`: the id of a panel, or the key of a source. */
  | { kind: 'see' | 'to'; text: string; target: string }

const MARK = /\[([^\]]+)\]\((see|to):([\w-]+)\)|\*([^*]+)\*|`([^`]+)`/g

/** The paragraph in pieces, in order; what is no mark is text. */
export function readMarks(paragraph: string): Piece[] {
  const pieces: Piece[] = []
  let from = 0
  for (const match of paragraph.matchAll(MARK)) {
    const [whole, words = '', kind, target = '', strong, code] = match
    if (match.index > from) pieces.push({ kind: 'text', text: paragraph.slice(from, match.index) })
    if (kind === 'see' || kind === 'to') pieces.push({ kind, text: words, target })
    else if (strong !== undefined) pieces.push({ kind: 'strong', text: strong })
    else if (code !== undefined) pieces.push({ kind: 'code', text: code })
    from = match.index + whole.length
  }
  if (from < paragraph.length) pieces.push({ kind: 'text', text: paragraph.slice(from) })
  return pieces
}
