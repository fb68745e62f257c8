/** What a measurement was made on. */

import { cpus, release, totalmem, type } from 'node:os'
import { findChromium } from '../browser/chromium'
import { capture } from './run-command'

export interface Machine {
  cpu: string
  cores: number
  memoryGB: number
  node: string
  /** For example `Chromium 156.0.8078.73`; null when there is none. */
  chromium: string | null
  os: string
}

/** Describes this machine. */
export async function describeMachine(): Promise<Machine> {
  const chromium = findChromium()
  const version = chromium === null ? null : await capture(chromium, ['--version'])
  return {
    cpu: cpus()[0]?.model.trim() || 'unknown',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 1e8) / 10,
    node: process.version,
    chromium: version?.replace(/ (built on|snap).*$/, '') ?? null,
    os: `${type()} ${release()}`,
  }
}
