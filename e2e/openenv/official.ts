/** Plays one episode on an official server that was started beforehand, and writes its recording and what discovery was told: npx tsx e2e/openenv/official.ts NAME PORT [--look] */

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PLAYERS } from './official-players'
import { play, save } from './record-episode'

const [name = '', port = '8000', flag] = process.argv.slice(2)
const player = PLAYERS[name]
if (player === undefined) throw new Error(`There is no player ${name}: choose one of ${Object.keys(PLAYERS).join(', ')}.`)
const { recording, discovery, observations, reward } = await play(Number(port), player)
for (const { text, reward, done, toolError } of observations) console.log(text, '\n   ', { reward, done, toolError })
console.log({ entry: recording.entry, frames: recording.frames.length, reward, size: JSON.stringify(recording).length })
if (flag === '--look') {
  console.log(JSON.stringify(discovery, null, 1))
  for (const { dir, ms, text } of recording.frames) console.log(dir, ms, text.slice(0, 1500))
} else {
  save(player.file, recording)
  const folder = fileURLToPath(new URL('./transcripts/official', import.meta.url))
  mkdirSync(folder, { recursive: true })
  writeFileSync(`${folder}/${player.file}.json`, `${JSON.stringify(discovery, null, 1)}\n`)
}
