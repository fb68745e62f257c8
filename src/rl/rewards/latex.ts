/** An answer's LaTeX made ready to be read: decoration and units away, and what stands in it as sets, intervals, relations and plain values. */

/** What an answer says. A value is LaTeX that has neither a relation nor a list in it. */
export type Reading =
  | { kind: 'value'; latex: string }
  /** 'a = b' or 'a < b < c': sides and what stands between them. */
  | { kind: 'relation'; operators: string[]; sides: Reading[] }
  /** In any order. */
  | { kind: 'set'; items: Reading[] }
  /** In this order; '(' and '[' say whether an end belongs to it, should it be an interval. */
  | { kind: 'tuple'; open: '(' | '['; close: ')' | ']'; items: Reading[] }

const DECORATION = /\\(?:displaystyle|textstyle|left|right|[bB]igg?[lr]?|,|;|:|!|quad|qquad|limits)(?![a-zA-Z])|(?<!\\)\\ |\{,\}(?=\d{3})|\\\$|(?<!\\)\$|\\[()]|\\\[|\\\]/g
const UNIT_WORDS =
  'feet|foot|ft|inch|inches|in|mile|miles|mph|kmph|km|cm|mm|dm|m|kg|gm|g|lb|pound|pounds|degree|degrees|deg|unit|units|hour|hours|h|minute|minutes|min|second|seconds|sec|s|day|days|week|weeks|month|months|year|years|dollar|dollars|cent|cents|rs|students?|people|men|square|sq|integer|points?|liters?|litres?|meters?|metres?'
const PLAIN_UNIT = new RegExp(`(?<=[\\d}\\s])\\s*(?:${UNIT_WORDS})\\s*$`)
const TEXT_UNIT = /(?<=\S)\s*\\(?:text|mbox|mathrm|textrm)\s*\{[^{}]*\}(?:\^\d|\^\{\d\})?$/

/** The LaTeX without what is only for the eye, and without a unit at its end. */
export function plainLatex(latex: string): string {
  let text = latex
    .replace(/\\[dtc]frac/g, '\\frac')
    .replace(/\\d?binom\s*\{([^{}]*)\}\s*\{([^{}]*)\}/g, '\\frac{($1)!}{($2)!(($1)-($2))!}')
    .replace(/(\d)\{,\}(?=\d{3})/g, '$1')
    .replace(DECORATION, ' ')
    .replace(/\\leq?(?![a-z])|≤/g, '\\le ')
    .replace(/\\geq?(?![a-z])|≥/g, '\\ge ')
    .replace(/\\neq(?![a-z])|≠/g, '\\ne ')
    .replace(/\^\s*(?:\{\s*\\circ\s*\}|\\circ)|°/g, '')
    .replace(/(?<!\\)%/g, '\\%')
    .replace(/−/g, '-')
    .replace(/[π]/g, '\\pi ')
    .replace(/√\s*(\d+)/g, '\\sqrt{$1}')
    .replace(/\\sqrt\s*(\d)/g, '\\sqrt{$1}')
    .replace(/\\text(?:bf|it)?\s*\{\s*(and|or)\s*\}/g, ',')
    .replace(/\n/g, ' ')
    // math_verify reads X as x.
    .replace(/\\[a-zA-Z]+|[A-Z]/g, (found) => (found.startsWith('\\') ? found : found.toLowerCase()))
    .trim()
  for (const unit of [TEXT_UNIT, PLAIN_UNIT]) text = text.replace(unit, '').trim() || text
  // A word in a unit's place is the whole answer where nothing else is there.
  text = text.replace(/^\\(?:text|mbox|mathrm|textbf|textit|mathbf|textrm)\s*\{([^{}]*)\}$/, '$1').trim()
  // Thousands: 1,000 is a number, (1,000) is not.
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(text)) text = text.replaceAll(',', '')
  if (text.startsWith('.')) text = `0${text}`
  return text
}

const RELATION = /(?<![\\<>!])=|\\le(?![a-zA-Z])|\\ge(?![a-zA-Z])|\\ne(?![a-zA-Z])|\\in(?![a-zA-Z])|\\approx(?![a-zA-Z])|<|>/y

/** Reads LaTeX that `plainLatex` has made ready. */
export function readLatex(latex: string): Reading {
  const text = latex.trim()
  const { pieces, between } = split(text, RELATION)
  const listed = between.length > 0 && !enclosed(text) ? split(text, /[,;]/y).pieces : []
  if (listed.length > 1) return { kind: 'set', items: listed.map(readLatex) }
  if (between.length > 0) {
    // 'x \in S' says S.
    if (between.length === 1 && between[0] === '\\in') return readLatex(pieces[1] ?? '')
    return { kind: 'relation', operators: between.map((operator) => (operator === '\\approx' ? '=' : operator.replace('\\le', '<=').replace('\\ge', '>=').replace('\\ne', '!='))), sides: pieces.map(readLatex) }
  }
  const pair = enclosed(text)
  if (pair) {
    const items = split(pair.inner, /[,;]/y).pieces
    if (pair.open === '{') return { kind: 'set', items: items.filter((item) => item.trim() !== '').map(readLatex) }
    if (items.length > 1) return { kind: 'tuple', open: pair.open, close: pair.close as ')' | ']', items: items.map(readLatex) }
    if (pair.open === '(' && pair.close === ')') return readLatex(pair.inner)
  }
  const items = split(text, /[,;]/y).pieces
  if (items.length > 1) return { kind: 'set', items: items.map(readLatex) }
  const sign = /^(.*?)\\pm(.+)$/.exec(text)
  if (sign) return { kind: 'set', items: ['+', '-'].map((each): Reading => ({ kind: 'value', latex: `${sign[1] ?? ''}${sign[1]?.trim() ? each : each === '-' ? '-' : ''}${sign[2] ?? ''}` })) }
  return { kind: 'value', latex: text }
}

interface Pair {
  open: '(' | '[' | '{'
  close: ')' | ']' | '}'
  inner: string
}

/** What a text holds that is one pair of brackets from end to end; a set's braces are \{ and \}. */
function enclosed(text: string): Pair | null {
  const braces = text.startsWith('\\{') && text.endsWith('\\}')
  const open = braces ? '{' : text[0]
  const close = braces ? '}' : text.at(-1)
  if (!braces && !((open === '(' || open === '[') && (close === ')' || close === ']'))) return null
  const width = braces ? 2 : 1
  const inner = text.slice(width, -width)
  let depth = 0
  for (const char of inner) {
    if ('([{'.includes(char)) depth++
    if (')]}'.includes(char) && --depth < 0) return null
  }
  return depth === 0 ? { open: open as Pair['open'], close: close as Pair['close'], inner } : null
}

/** The text cut where `separator` (sticky) stands outside of all brackets, and what stood there. */
function split(text: string, separator: RegExp): { pieces: string[]; between: string[] } {
  const pieces: string[] = []
  const between: string[] = []
  let [depth, from] = [0, 0]
  if (text.includes('\\begin{')) return { pieces: [text], between }
  for (let i = 0; i < text.length; i++) {
    separator.lastIndex = i
    const found = depth === 0 ? separator.exec(text) : null
    if (found) {
      pieces.push(text.slice(from, i))
      between.push(found[0])
      i += found[0].length - 1
      from = i + 1
    } else if ('([{'.includes(text[i] as string)) depth++
    else if (')]}'.includes(text[i] as string)) depth--
  }
  return { pieces: [...pieces, text.slice(from)], between }
}
