/** Plays one episode on each of our servers and writes public/environments/*.json, the samples of the catalogue: npx tsx e2e/openenv/recordings.ts */

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import WebSocket from 'ws'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import type { Recording } from '../../src/env/openenv/recording'
import type { WebSocketLike } from '../../src/env/openenv/socket'
import type { ToolCall } from '../../src/core/tools'
import { startServers, type ServerName } from './server'

interface Player {
  server: ServerName
  file: string
  entry: string
  /** What the server is, without the library's version. */
  what: string
  player: string
  /** The next call after what the environment said, or null to stop. `said`: everything so far. */
  next: (said: readonly string[]) => ToolCall | null
}

const call = (name: string, args: Record<string, unknown>): ToolCall => ({ name, arguments: args })

/** Guesses between 1 and 20 by halving what the hints leave; each hint follows the guess that it is about. */
function guess(said: readonly string[]): ToolCall {
  let [low, high] = [1, 20]
  for (const [, guessed, way] of said.join('\n').matchAll(/\[(\d+)\]\s+The target number is (lower|higher)/g)) {
    if (way === 'lower') high = Math.min(high, Number(guessed) - 1)
    else low = Math.max(low, Number(guessed) + 1)
  }
  return call('send_message', { message: `[${Math.floor((low + high) / 2)}]` })
}

const PLAYERS: readonly Player[] = [
  {
    server: 'catch',
    file: 'catch',
    entry: 'catch',
    what: 'our own catch',
    player: 'A script that walks under the ball.',
    next: (said) => {
      const [, ball = '', paddle = ''] = /ball (\w), paddle (\w)/.exec(said.at(-1) ?? '') ?? []
      return call('move', { to: ball < paddle ? 'left' : ball > paddle ? 'right' : 'stay' })
    },
  },
  {
    server: 'echo',
    file: 'echo',
    entry: 'echo',
    what: 'our own echo, which unlike the official one gives rewards and ends after one call',
    player: 'A script that repeats the message.',
    next: (said) => call('echo_message', { message: /"(.*)"/.exec(said[0] ?? '')?.[1] ?? '' }),
  },
  {
    server: 'reasoning',
    file: 'reasoning-gym',
    entry: 'reasoning_gym',
    what: 'reasoning-gym 0.1.25 (basic_arithmetic) wrapped by us, not the official environment',
    player: 'A script that can reckon with two numbers.',
    next: (said) => {
      const [, a, sign, b] = /(-?\d+) ([-+*/]) (-?\d+)/.exec(said[0] ?? '') ?? []
      const [x, y] = [Number(a), Number(b)]
      return call('answer', { answer: String(sign === '+' ? x + y : sign === '-' ? x - y : sign === '*' ? x * y : x / y) })
    },
  },
  {
    server: 'textarena',
    file: 'textarena',
    entry: 'message',
    what: 'TextArena 0.7.4 (GuessTheNumber-v0) wrapped by us, not the official environment',
    player: 'A script that halves what is left.',
    next: guess,
  },
]

const servers = await startServers(
  PLAYERS.map(({ server }) => server),
  { venv: 'openenv-libraries' },
)
try {
  for (const [i, { file, entry, what, player, next }] of PLAYERS.entries()) {
    let frames: Recording['frames'] = []
    let from = 0
    class Recorder extends WebSocket {
      constructor(url: string) {
        super(url)
        frames = []
        this.on('open', () => (from = performance.now()))
        this.on('message', (data: Buffer) =>
          frames.push({ dir: 'received', ms: Math.round(performance.now() - from), text: data.toString() }),
        )
      }
      override send(text: string) {
        frames.push({ dir: 'sent', ms: Math.round(performance.now() - from), text })
        super.send(text)
      }
    }
    const environment = new OpenEnvEnvironment(`127.0.0.1:${servers[i]?.port}`, {
      WebSocket: Recorder as unknown as new (url: string) => WebSocketLike,
    })
    await environment.connect()
    if (environment.discovered?.entry !== entry) throw new Error(`${file} was taken for ${environment.discovered?.entry}`)
    const session = await environment.open()
    let seen = await session.reset({ seed: 3, episode_id: 'sample', split: 'train' })
    const said = [seen.text]
    for (let turn = 0; turn < 20 && !seen.done; turn++) {
      const action = next(said)
      if (action === null) break
      seen = await session.step(action)
      said.push(seen.text)
    }
    await session.close()
    const recording: Recording = {
      format: 'openenv-recording',
      version: 1,
      entry,
      server: `The openenv 0.10.0 library with ${what}.`,
      player,
      recorded: new Date().toISOString().slice(0, 10),
      frames,
    }
    mkdirSync(fileURLToPath(new URL('../../public/environments', import.meta.url)), { recursive: true })
    writeFileSync(
      fileURLToPath(new URL(`../../public/environments/${file}.json`, import.meta.url)),
      `${JSON.stringify(recording, null, 1)}\n`,
    )
    console.log(file, frames.length, 'frames;', said.join(' | '))
  }
} finally {
  await servers[0]?.kill()
}
