/** A failure inside a person's own code as a sentence, with the line of that code. */

import { LINES_BEFORE } from './sandbox-source'

export interface CodeError {
  error?: string
  stack?: string
  /** Of the worker's program, from 1; 0 or absent where the browser does not say. */
  line?: number
}

/** "NAME failed at line 3: what was thrown." `lines`: how many the person's code has; what follows it is the sandbox's own. */
export function codeFailure(name: string, answer: CodeError, lines = Infinity): string {
  const line = codeLine(answer, lines)
  return `${name} failed${line === null ? '' : ` at line ${line}`}: ${thrownText(answer)}.`
}

/** What was thrown, without the browser's prefix and without a full stop. */
export const thrownText = ({ error = '' }: CodeError): string => error.replace(/^Uncaught /, '').replace(/\.$/, '')

/** The innermost line of the person's code, from 1; null where it is not known. */
export function codeLine({ stack = '', line }: CodeError, lines = Infinity): number | null {
  const frames = [...stack.matchAll(/blob:[^\s)]*?:(\d+):\d+/g)].map((found) => Number(found[1]))
  const at = (line !== undefined && line > 0 ? [line] : frames).map((each) => each - LINES_BEFORE)
  return at.find((each) => each > 0 && each <= lines) ?? null
}

/** How many lines a code has. */
export const linesOf = (code: string): number => code.split('\n').length
