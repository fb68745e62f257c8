/**
 * Where an answer stands in a text, by math_verify's rules as `accuracy_reward` asks for them. A model's answer must be LaTeX in a \boxed{} or
 * behind the word "answer"; a solution may also be a plain number.
 */

/** A piece of mathematics as it was written; several where an answer lists several ("$1$ and $2$"). */
export interface Answer {
  parts: string[]
}

interface Span {
  start: number
  end: number
  latex: string
}

/** $$…$$, \[…\], $…$ on one line, \(…\) on one line, [ … ] between blanks, or a bare fraction of numbers. */
const SPAN =
  /(?<!\\)\$\$((?:[^$]|\$(?!\$))+?)(?<!\\)\$\$|(?<!\\)\\\[((?:[^\\]|\\(?!\]))+?)(?<!\\)\\\]|(?<![\\\d])\$((?:\\\$|[^\n$])+?)(?<!\\)\$|(?<!\\)\\\(((?:[^\\\n]|\\(?!\)))+?)(?<!\\)\\\)|\s\[([^\n\][]+?)\]\s|(-?\\frac\{-?\d+(?:[.,]\d+)?\}\{-?\d+(?:[.,]\d+)?\})/g
const PERCENT = /^\s*(?:\\?%|[Pp]ercent(?:age)?|[Pp]ct)/
const BETWEEN = /^\s*(?:,?and|,?or|,)\s*$/
const MOST_PARTS = 6

/** What leads to an answer, the most telling first: what is found by one is not looked for by the next. */
const ANCHORS = [/final answer[^]{0,100}?\sis:?\s*$/i, /answer:[^]{0,50}?$/i, /answer[^]{0,50}?$/i]

/** Each piece of mathematics in the text, those that are joined by "and", "or" or a comma as one. */
function spansOf(text: string): (Span & { parts: string[] })[] {
  const single = [...text.matchAll(SPAN)].map((match): Span => {
    const percent = PERCENT.exec(text.slice(match.index + match[0].length))
    const latex = match.slice(1).find((group) => group !== undefined) ?? ''
    return { start: match.index, end: match.index + match[0].length + (percent?.[0].length ?? 0), latex: percent ? `${latex}\\%` : latex }
  })
  const joined: (Span & { parts: string[] })[] = []
  for (const span of single) {
    const before = joined.at(-1)
    if (before && before.parts.length < MOST_PARTS && BETWEEN.test(text.slice(before.end, span.start))) {
      before.parts.push(span.latex)
      before.end = span.end
    } else joined.push({ ...span, parts: [span.latex] })
  }
  return joined
}

/** The answer of a completion; null where it gives none in the form that is asked for. */
export function findAnswer(text: string): Answer | null {
  const boxed = lastBoxes(text)
  if (boxed !== null) return { parts: boxed }
  const spans = spansOf(text)
  for (const anchor of ANCHORS) {
    const found = spans.filter(({ start }) => anchor.test(text.slice(0, start)))
    const last = found.at(-1)
    if (last) return { parts: last.parts }
  }
  return null
}

/** The answer that a solution names: LaTeX anywhere, best behind "answer" or in a box, else a plain number or sum; null where nothing can be read. */
export function findSolution(text: string): Answer | null {
  const told = findAnswer(text)
  if (told) return told
  const last = spansOf(text).at(-1)
  if (last) return { parts: last.parts }
  const number = plainExpressions(text).at(-1)
  return number === undefined ? null : { parts: [number] }
}

/** Contents of the last \boxed{…}, and of those just before it; null where there is none. */
function lastBoxes(text: string): string[] | null {
  const boxes = [...text.matchAll(/\\boxed\s*\{/g)].flatMap(({ index, 0: opening }) => {
    const end = closing(text, index + opening.length)
    return end === null ? [] : [{ start: index, end: end + 1, content: text.slice(index + opening.length, end) }]
  })
  const last = boxes.at(-1)
  if (!last) return null
  // A box in a box: the inner one holds the answer.
  const parts = [last]
  for (const box of boxes.filter(({ end }) => end <= last.start).toReversed()) {
    const next = parts[0] as typeof last
    const between = text.slice(box.end, next.start)
    if (between.length < 10 || (between.length < 70 && box.content !== next.content && /,|\band\b|\bor\b/.test(between))) parts.unshift(box)
    else break
  }
  return parts.map(({ content }) => content)
}

/** Position of the brace that closes the one before `from`; null where it is missing. */
function closing(text: string, from: number): number | null {
  let depth = 1
  for (let i = from; i < text.length; i++) {
    if (text[i] === '{') depth++
    if (text[i] === '}' && --depth === 0) return i
  }
  return null
}

const NUMBER = /-?[1-9]\d{0,2}(?:[ ,]\d{3})+(?:\.\d+)?(?!\d)|-?\d+[.,]\d+|\.\d+|-?\d+/
const PLAIN = new RegExp(
  `(?:^|[\\s=])(?:\\*\\*)?(?:(-?\\(?-?\\d[\\d.\\s+\\-*×/^()÷]*[+\\-*×/^()÷][\\d.\\s+\\-*×/^()÷]+\\)?)(?=\\*\\*|[.,:\\s)$]|$)|[$€£¥₹₽₩฿]?(${NUMBER.source})(\\s*(?:%|[Pp]ercent(?:age)?|[Pp]ct))?)`,
  'g',
)

/** Numbers and sums that stand in a text as they are, as LaTeX. */
function plainExpressions(text: string): string[] {
  return [...text.matchAll(PLAIN)].map(([, sum, number, percent]) => {
    if (sum !== undefined) return sum.replaceAll('×', '\\times ').replaceAll('*', '\\times ').replaceAll('÷', '/').trim()
    const plain = (number ?? '').replace(/[ ,](?=\d{3}(?!\d))/g, '').replace(',', '.')
    return percent ? `${plain}\\%` : plain
  })
}
