/** A failure inside a person's own code as a sentence, with the line of that code. */

import { LINES_BEFORE } from './sandbox-source'

export interface CodeError {
  error?: string
  stack?: string
  /** Of the worker's program, from 1; 0 or absent where the browser does not say. */
  line?: number
}

/** "NAME failed at line 3: what was thrown." */
export function codeFailure(name: string, answer: CodeError): string {
  const line = codeLine(answer)
  return `${name} failed${line === null ? '' : ` at line ${line}`}: ${thrownText(answer)}.`
}

/** What was thrown, without the browser's prefix and without a full stop. */
export const thrownText = ({ error = '' }: CodeError): string => error.replace(/^Uncaught /, '').replace(/\.$/, '')

/** The line of the person's code, from 1; null where it is not known. */
export function codeLine({ stack = '', line }: CodeError): number | null {
  const found = /blob:[^\s)]*?:(\d+):\d+/.exec(stack)
  const at = line !== undefined && line > 0 ? line : found ? Number(found[1]) : null
  return at !== null && at > LINES_BEFORE ? at - LINES_BEFORE : null
}
