/** The lock between processes: one at a time, and the lock of a process that is gone is nobody's. */

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { withLock } from './lock'

const pathOf = (name: string) => resolve(import.meta.dirname, '../../.cache/locks', name)

it('is held by one at a time, and is gone afterwards, also after a failure', async () => {
  const name = `test-${randomUUID()}`
  let inside = 0
  const seen: number[] = []
  const all = await Promise.allSettled(
    [1, 2, 3, 4].map((each) =>
      withLock(name, async () => {
        seen.push(++inside)
        await sleep(5)
        inside--
        if (each === 2) throw new Error('It failed.')
      }),
    ),
  )
  expect(seen).toEqual([1, 1, 1, 1])
  expect(all.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(existsSync(pathOf(name))).toBe(false)
})

it('is taken from a process that is gone', async () => {
  const name = `test-${randomUUID()}`
  const { pid } = spawnSync(process.execPath, ['--version'])
  mkdirSync(pathOf(name), { recursive: true })
  writeFileSync(join(pathOf(name), 'pid'), String(pid))
  expect(await withLock(name, () => Promise.resolve('mine'))).toBe('mine')
  expect(existsSync(pathOf(name))).toBe(false)
})
