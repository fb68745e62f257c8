/** A program that answers line by line, prints other things besides, and ends when it should not. */

import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { PeerProcess } from './_peer-process'

// Node stands for Python: the protocol is the same.
const script = join(tmpdir(), `peer-${process.pid}.mjs`)
writeFileSync(
  script,
  `import { createInterface } from 'node:readline'
   console.log('@bench ' + JSON.stringify({ ready: process.env.OMP_NUM_THREADS ?? null }))
   for await (const line of createInterface({ input: process.stdin })) {
     const asked = JSON.parse(line)
     if (asked === 'end') { console.error('out of luck'); process.exit(3) }
     console.log('step done')
     console.log('@bench ' + JSON.stringify({ got: asked }))
   }`,
)

describe('PeerProcess', () => {
  const peer = new PeerProcess(process.execPath, [script], 1)
  afterAll(() => peer.stop())

  it('tells its answers apart from what else it prints', async () => {
    expect(await peer.next()).toEqual({ ready: '1' })
    expect(await peer.ask({ step: 1 })).toEqual({ got: { step: 1 } })
    expect(await peer.ask()).toEqual({ got: null })
  })

  it('rejects with its last words when it ends', async () => {
    await expect(peer.ask('end')).rejects.toThrow('ended with status 3: out of luck')
    await expect(peer.next()).rejects.toThrow('ended with status 3')
  })
})

it('can be stopped while it waits', async () => {
  const peer = new PeerProcess(process.execPath, [script])
  expect(await peer.next()).toEqual({ ready: process.env.OMP_NUM_THREADS ?? null })
  const answer = peer.next()
  await Promise.all([expect(answer).rejects.toThrow('ended'), peer.stop()])
})
