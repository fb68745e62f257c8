/** Holds a step of the misbehaving server for as long as a test wants: the server works while a file is there. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Leash {
  /** For the message `!while:FILE`. */
  file: string
  /** The step goes on, and nothing is left behind. */
  letGo(): Promise<void>
}

export async function leash(): Promise<Leash> {
  const folder = await mkdtemp(join(tmpdir(), 'grpo-leash-'))
  const file = join(folder, 'held')
  await writeFile(file, '')
  return { file, letGo: () => rm(folder, { recursive: true, force: true }) }
}
