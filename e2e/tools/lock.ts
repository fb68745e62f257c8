/** A lock between processes of this checkout: a folder under .cache that names its owner. */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../.cache/locks')

/** Runs `work` while holding the lock `name`; waits for another living process that holds it. */
export async function withLock<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const path = join(folder, name)
  await mkdir(folder, { recursive: true })
  while (!(await take(path))) {
    if (await isAbandoned(path)) await rm(path, { recursive: true, force: true })
    else await new Promise(done => setTimeout(done, 200))
  }
  try {
    return await work()
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await mkdir(path)
  } catch {
    return false
  }
  await writeFile(join(path, 'pid'), String(process.pid))
  return true
}

/** True when the owner is gone. A lock without a name is given a second to be named. */
async function isAbandoned(path: string): Promise<boolean> {
  const read = () => readFile(join(path, 'pid'), 'utf8').catch(() => '')
  let owner = Number(await read())
  if (!owner) {
    await new Promise(done => setTimeout(done, 1000))
    owner = Number(await read())
  }
  if (!owner) return true
  try {
    process.kill(owner, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
