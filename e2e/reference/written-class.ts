/** A class of the page for the tests: played without its sandbox, and its methods written in an exported folder's Python. */

import { readFileSync, writeFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import type { Environment } from '../../src/core/environment'
import type { PageFunction } from '../../src/core/environment-spec'
import { readClass } from '../../src/env/custom/class-source'
import { customEnvironment } from '../../src/env/custom/environment'
import type { LiveAnswer } from '../../src/env/custom/live-client'
import { liveSource } from '../../src/env/custom/live-source'
import type { WrittenFacts } from '../../src/hub/trl/written-class'

/** The page's environment of a class, not connected yet and without a sandbox around it. */
export function classOf({ called, code }: PageFunction): Environment {
  const waiting = new Map<number, (answer: LiveAnswer) => void>()
  let hear: (event: object) => void = () => undefined
  const self = {
    postMessage: (data: LiveAnswer) => waiting.get(data.id)?.(structuredClone(data)),
    addEventListener: (type: string, listener: typeof hear) => void (type === 'message' && (hear = listener)),
  }
  runInNewContext(liveSource('class', called, code), { self, console: {} })
  let id = 0
  const call = (message: object): Promise<LiveAnswer> => new Promise((resolve) => {
    waiting.set(++id, (answer) => resolve({ ...answer, life: 1 }))
    hear({ data: { ...structuredClone(message), id }, isTrusted: true, stopImmediatePropagation: () => undefined })
  })
  return customEnvironment({ called, code }, () => ({ live: () => ({ call, end: () => undefined }) }))
}

/** What the export is told of the class. */
export function classFacts({ called, code }: PageFunction): WrittenFacts {
  const { facts } = readClass(code, called)
  if (!facts) throw new Error(`${called} cannot be read`)
  const { lines, heldOut, successAt, hasReward, givesReward } = facts
  return { lines, heldOut, successAt, hasReward, judges: hasReward || givesReward }
}

/** Writes the Python of methods (their bodies, indented by 8 spaces) into an exported environment.py, each in place of its refusal. */
export function writeMethods(path: string, bodies: Readonly<Record<string, string>>): void {
  const filled = Object.entries(bodies).reduce(
    (script, [method, body]) => script.replace(new RegExp(`(def ${method}\\([^]*?)raise NotImplementedError\\(.*\\)`), (_, before: string) => `${before}${body}`),
    readFileSync(path, 'utf8'),
  )
  writeFileSync(path, filled.replace('from written import', 'from playground import js_number as js\nfrom written import'))
}
