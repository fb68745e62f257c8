/** Records our servers and our client as the transcripts that the unit tests replay: npx tsx e2e/openenv/record.ts */

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import WebSocket from 'ws'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import type { WebSocketLike } from '../../src/env/openenv/socket'
import type { ToolCall } from '../../src/core/tools'
import { startServer } from './server'

const EPISODES: Record<'echo' | 'catch' | 'misbehave', ToolCall[][]> = {
  echo: [
    [{ name: 'echo_message', arguments: { message: 'hello' } }],
    [{ name: 'echo_message', arguments: { wrong: 1 } }],
    [{ name: 'nope', arguments: {} }],
  ],
  catch: [Array.from({ length: 7 }, () => ({ name: 'move', arguments: { to: 'left' } })), [{ name: 'move', arguments: { to: 'right' } }]],
  misbehave: ['hi', '', '!nan', '!done']
    .map((message) => [{ name: 'send_message', arguments: { message } }])
    .concat(['!raise', 'bad'].map((message) => [{ name: 'send_message', arguments: { message } }])),
}

for (const name of ['echo', 'catch', 'misbehave'] as const) {
  const lines: unknown[] = []
  class Recorder extends WebSocket {
    constructor(url: string) {
      super(url)
      this.on('open', () => lines.push({ dir: 'open' }))
      this.on('message', (data: Buffer) => lines.push({ dir: 'recv', text: data.toString() }))
      this.on('close', (code) => lines.push({ dir: 'closed', code }))
    }
    override send(text: string) {
      lines.push({ dir: 'send', text })
      super.send(text)
    }
  }
  const server = await startServer(name)
  try {
    const environment = new OpenEnvEnvironment(server.url, {
      WebSocket: Recorder as unknown as new (url: string) => WebSocketLike,
      fetch: () => Promise.reject(new TypeError('no HTTP in a transcript')),
    })
    await environment.connect()
    for (const [seed, calls] of EPISODES[name].entries()) {
      const session = await environment.open()
      let observation = await session.reset({ seed, episode_id: `${name}-${seed}`, split: 'train' })
      lines.push({ dir: 'seen', observation })
      for (const call of calls) {
        if (observation.done) break
        lines.push({ dir: 'call', call })
        try {
          observation = await session.step(call)
          lines.push({ dir: 'seen', observation })
        } catch (error) {
          lines.push({ dir: 'failed', message: error instanceof Error ? error.message.replace(/127\.0\.0\.1:\d+/, 'HOST') : String(error) })
          break
        }
      }
      await session.close()
    }
  } finally {
    await server.kill()
  }
  const path = fileURLToPath(new URL(`./transcripts/${name}.jsonl`, import.meta.url))
  writeFileSync(path, lines.map((line) => JSON.stringify(line)).join('\n') + '\n')
  console.log(path, lines.length)
}
