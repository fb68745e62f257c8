/** Resident memory of a Chromium's processes, from Linux's /proc. */

import { readFile, writeFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'

/** Bytes of /proc/PID/status. */
export interface ProcessMemory {
  now: number
  /** The most since `resetPeak`. */
  peak: number
}

/** Process ids of the browser's processes of a type ('renderer', 'GPU'). */
export async function processIds(browser: Browser, type: string): Promise<number[]> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  return processInfo.filter((info) => info.type === type).map(({ id }) => id)
}

/** Reads VmRSS and VmHWM, which are in kB. Throws when there is no such line: not Linux, or the process is gone. */
export function parseStatus(text: string): ProcessMemory {
  const bytes = (name: string): number => {
    const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)
    if (!match) throw new Error(`/proc/PID/status has no ${name}.`)
    return Number(match[1]) * 1024
  }
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
}

/** The memory of all these processes together; the peaks may have been at different moments. */
export async function memoryOf(ids: readonly number[]): Promise<ProcessMemory> {
  const all = await Promise.all(ids.map(async (id) => parseStatus(await readFile(`/proc/${id}/status`, 'utf8'))))
  return { now: all.reduce((sum, { now }) => sum + now, 0), peak: all.reduce((sum, { peak }) => sum + peak, 0) }
}

/** Lets the kernel count the peaks from now on. */
export async function resetPeak(ids: readonly number[]): Promise<void> {
  for (const id of ids) await writeFile(`/proc/${id}/clear_refs`, '5')
}
