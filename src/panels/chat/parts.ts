/** Cuts an answer's tokens into what is drawn: runs of one author, with the model's thoughts set apart. */

import type { Author } from '../../core/episode'
import type { ChatToken } from '../../worker/protocol'

export type Part =
  | { kind: 'text'; author: Author; text: string }
  /** `open`: not closed yet, so the model still thinks or was cut in a thought. */
  | { kind: 'thought'; text: string; tokens: number; open: boolean }

const OPEN = '<think>'
const CLOSE = '</think>'
const ENDS = ['<|im_end|>', '<|endoftext|>']

/** The parts of an answer. Unless `all`, the template's text and end-of-turn tokens are left out. */
export function partsOf(tokens: readonly ChatToken[], all: boolean): Part[] {
  return runsOf(tokens).flatMap((run): Part[] => {
    const author = (run[0] as ChatToken).author
    if (author === 'template' && !all) return []
    if (author !== 'model') return [{ kind: 'text', author, text: textOf(run) }]
    const ended = ENDS.includes(run.at(-1)?.text ?? '')
    return modelParts(ended && !all ? run.slice(0, -1) : run, all)
  })
}

/** What a person reads of an answer, without thoughts: for a screen reader. */
export function spoken(tokens: readonly ChatToken[]): string {
  return partsOf(tokens, false)
    .flatMap((part) => (part.kind === 'text' ? part.text : []))
    .join(' ')
    .trim()
}

function runsOf(tokens: readonly ChatToken[]): ChatToken[][] {
  const runs: ChatToken[][] = []
  for (const token of tokens) {
    const last = runs.at(-1)
    if (last?.[0]?.author === token.author) last.push(token)
    else runs.push([token])
  }
  return runs
}

/** A thought may be spread over the tokens in any way: it is found in their text. */
function modelParts(run: readonly ChatToken[], all: boolean): Part[] {
  const text = textOf(run)
  const parts: Part[] = []
  const say = (from: number, to: number) => {
    const said = text.slice(from, to)
    const shown = all ? said : said.replace(/^\n+/, '')
    if (shown !== '') parts.push({ kind: 'text', author: 'model', text: shown })
  }
  let at = 0
  for (;;) {
    const begin = text.indexOf(OPEN, at)
    if (begin < 0) break
    say(at, begin)
    const close = text.indexOf(CLOSE, begin)
    at = close < 0 ? text.length : close + CLOSE.length
    const thought = text.slice(begin + OPEN.length, close < 0 ? undefined : close).trim()
    if (thought !== '' || close < 0) parts.push({ kind: 'thought', text: thought, tokens: tokensWithin(run, begin, at), open: close < 0 })
  }
  say(at, text.length)
  return parts
}

function tokensWithin(run: readonly ChatToken[], from: number, to: number): number {
  let at = 0
  return run.filter(({ text }) => {
    const start = at
    at += text.length
    return start >= from && start < to
  }).length
}

function textOf(run: readonly ChatToken[]): string {
  return run.map((token) => token.text).join('')
}
