/** A lock between processes of this checkout: a folder under .cache that names its owner. */

import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../.cache/locks')

/** Runs `work` while holding the lock `name`; waits for another living process that holds it. */
export async function withLock<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const path = join(folder, name)
  await mkdir(folder, { recursive: true })
  while (!(await take(path))) {
    if (await isAbandoned(path)) await remove(path)
    else await new Promise(done => setTimeout(done, 200))
  }
  try {
    return await work()
  } finally {
    await remove(path)
  }
}

/** A busy machine may stop a process at any line: the folder comes with its owner's name in it, and goes, in one act. */
async function take(path: string): Promise<boolean> {
  const made = `${path}.${randomUUID()}`
  await mkdir(made)
  await writeFile(join(made, 'pid'), String(process.pid))
  return rename(made, path).then(
    () => true,
    () => rm(made, { recursive: true }).then(() => false),
  )
}

async function remove(path: string): Promise<void> {
  const gone = `${path}.${randomUUID()}`
  await rename(path, gone).then(
    () => rm(gone, { recursive: true, force: true }),
    () => undefined,
  )
}

/** True when the owner is gone. */
async function isAbandoned(path: string): Promise<boolean> {
  const owner = Number(await readFile(join(path, 'pid'), 'utf8').catch(() => ''))
  // It has just been given back.
  if (!owner) return false
  try {
    process.kill(owner, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
