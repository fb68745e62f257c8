/** What waiting for a Space comes to when the Space itself never settles. */

import { expect, it } from 'vitest'
import type { SpaceInfo } from './spaces-api'
import { awaitRunning } from './spaces-stage'

it('a Space that falls asleep again while it starts is not waited for all day', async () => {
  const info = (stage: string): SpaceInfo => ({ id: 'a/b', isPrivate: false, sdk: 'docker', stage, problem: '', host: null })
  let [looks, slept] = [0, 0]
  const waiting = awaitRunning(info('SLEEPING'), {
    api: { info: () => Promise.resolve({ ok: true as const, value: info(['SLEEPING', 'APP_STARTING'][++looks % 2] as string) }), hasToken: false },
    wake: () => undefined,
    sleep: (ms) => {
      slept += ms / 1000
      return slept > 7200 ? Promise.reject(new Error('still waiting after two hours')) : Promise.resolve()
    },
    signal: new AbortController().signal,
    random: () => 0.5,
    onDetail: () => undefined,
  })
  await expect(waiting).rejects.toThrow('The Space a/b was waited for 30 min and still does not run')
  expect(slept).toBe(1800)
})
