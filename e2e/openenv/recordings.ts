/** Plays one episode on each of our servers that the catalogue has a recording of: npx tsx e2e/openenv/recordings.ts (the official ones: official.ts) */

import { call, play, save, type Player } from './record-episode'
import { startServers, type ServerName } from './server'

/** Guesses between 1 and 20 by halving what the hints leave; each hint follows the guess that it is about. */
function guess(said: readonly string[]): ReturnType<typeof call> {
  let [low, high] = [1, 20]
  for (const [, guessed, way] of said.join('\n').matchAll(/\[(\d+)\]\s+The target number is (lower|higher)/g)) {
    if (way === 'lower') high = Math.min(high, Number(guessed) - 1)
    else low = Math.max(low, Number(guessed) + 1)
  }
  return call('send_message', { message: `[${Math.floor((low + high) / 2)}]` })
}

const PLAYERS: readonly (Player & { name: ServerName })[] = [
  {
    name: 'catch',
    file: 'catch',
    entry: 'catch',
    server: 'The openenv 0.10.0 library with our own catch.',
    player: 'A script that walks under the ball.',
    next: ({ said }) => {
      const [, ball = '', paddle = ''] = /ball (\w), paddle (\w)/.exec(said.at(-1) ?? '') ?? []
      return call('move', { to: ball < paddle ? 'left' : ball > paddle ? 'right' : 'stay' })
    },
  },
  {
    name: 'textarena',
    file: 'textarena',
    entry: 'message',
    server: 'The openenv 0.10.0 library with TextArena 0.7.4 (GuessTheNumber-v0) wrapped by us, not the official environment.',
    player: 'A script that halves what is left.',
    next: ({ said }) => guess(said),
  },
]

const servers = await startServers(
  PLAYERS.map(({ name }) => name),
  { venv: 'openenv-libraries' },
)
try {
  for (const [i, player] of PLAYERS.entries()) {
    const { recording, observations } = await play(servers[i]?.port ?? 0, player)
    save(player.file, recording)
    console.log(player.file, recording.frames.length, 'frames;', observations.map(({ text }) => text).join(' | '))
  }
} finally {
  await servers[0]?.kill()
}
