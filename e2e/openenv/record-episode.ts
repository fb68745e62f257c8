/** Plays one episode with the page's own client and keeps its frames, small and without addresses, as a recording of the catalogue. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import WebSocket from 'ws'
import type { Observation } from '../../src/core/environment'
import { isRecord } from '../../src/core/records'
import type { ToolCall } from '../../src/core/tools'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { takeImages } from '../../src/env/openenv/images'
import type { Recording } from '../../src/env/openenv/recording'
import type { WebSocketLike } from '../../src/env/openenv/socket'
import { deflatePng } from '../tools/deflate-png'

/** What a script sees before each call. */
export interface Seen {
  /** What the model would have read so far, from the reset on. */
  said: readonly string[]
  /** The last observation's fields as the server sent them. */
  fields: Readonly<Record<string, unknown>>
  /** Its metadata. */
  metadata: Readonly<Record<string, unknown>>
  turn: number
}

export interface Player {
  /** public/environments/FILE.json */
  file: string
  /** Id in the catalogue: recording fails when the server is taken for anything else. */
  entry: string
  /** One sentence: what answered. */
  server: string
  /** One sentence: who played. */
  player: string
  seed?: number
  /** Most calls; default 20. */
  turns?: number
  /** Fields that are left out of the recording, as they are long and no reader needs them: the observation's, or `metadata.NAME`. */
  leaveOut?: readonly string[]
  /** The next call, or null to stop. */
  next: (seen: Seen) => ToolCall | null | Promise<ToolCall | null>
}

export const call = (name: string, args: Record<string, unknown> = {}): ToolCall => ({ name, arguments: args })

type Frames = Recording['frames']

/** What the server told while it was recognised, for the tests of discovery. */
export interface Discovery {
  entry: string
  /** Each question of the client and its answer. */
  exchanges: { sent: unknown; received: unknown }[]
  /** Its action's JSON Schema, without descriptions; null when it has none. */
  action: unknown
  /** Its name in /metadata. */
  name: string | null
}

export interface Played {
  recording: Recording
  discovery: Discovery
  observations: Observation[]
  reward: number | null
}

/** Plays `player` on the server at 127.0.0.1:`port`. Throws when it is not recognised as the player's entry. */
export async function play(port: number, player: Player): Promise<Played> {
  const frames: (Frames[number] & { time: number })[] = []
  const environment = new OpenEnvEnvironment(`127.0.0.1:${port}`, {
    WebSocket: WebSocket as unknown as new (url: string) => WebSocketLike,
    onFrame: (dir, text) => frames.push({ dir, ms: 0, text, time: performance.now() }),
  })
  await environment.connect()
  const found = environment.discovered
  if (found?.entry !== player.entry) throw new Error(`${player.file} was taken for ${found?.entry} (${found?.recognised})`)
  const discovery = await discoveryOf(port, player.entry, frames.splice(0))
  const from = performance.now()
  const session = await environment.open()
  const observations = [await session.reset({ seed: player.seed ?? 3, episode_id: 'sample', split: 'train' })]
  for (let turn = 0; turn < (player.turns ?? 20) && !observations.at(-1)?.done; turn++) {
    const action = await player.next({ said: observations.map(({ text }) => text), ...lastObservation(frames), turn })
    if (action === null) break
    observations.push(await session.step(action))
  }
  await session.close()
  await environment.close()
  const kept = frames.map(({ dir, text, time }) => ({ dir, ms: Math.round(time - from), text: compact(text, player.leaveOut ?? []) }))
  const { entry, server, player: who } = player
  const recorded = new Date().toISOString().slice(0, 10)
  const recording: Recording = { format: 'openenv-recording', version: 1, entry, server, player: who, recorded, frames: kept }
  return { recording, discovery, observations, reward: environment.episodeReward(observations.slice(1).map(({ reward }) => reward)) }
}

/** Writes public/environments/FILE.json. Throws when it is larger than a page should have to load. */
export function save(file: string, recording: Recording): void {
  const text = `${JSON.stringify(recording, null, 1)}\n`
  if (text.length > 60_000) throw new Error(`${file}: ${text.length} characters are too many; leave fields out or stop earlier.`)
  mkdirSync(fileURLToPath(new URL('../../public/environments', import.meta.url)), { recursive: true })
  writeFileSync(fileURLToPath(new URL(`../../public/environments/${file}.json`, import.meta.url)), text)
}

function lastObservation(frames: Frames): Pick<Seen, 'fields' | 'metadata'> {
  for (const { dir, text } of [...frames].reverse()) {
    if (dir !== 'received') continue
    const { type, data } = JSON.parse(text) as { type: string; data: Record<string, unknown> }
    if (type !== 'observation' || !isRecord(data['observation'])) continue
    const metadata = data['metadata'] ?? data['observation']['metadata']
    return { fields: data['observation'], metadata: isRecord(metadata) ? metadata : {} }
  }
  return { fields: {}, metadata: {} }
}

async function discoveryOf(port: number, entry: string, frames: Frames): Promise<Discovery> {
  const json = async (route: string): Promise<Record<string, unknown>> => {
    const response = await fetch(`http://127.0.0.1:${port}${route}`).catch(() => null)
    const value: unknown = response?.ok ? await response.json() : {}
    return isRecord(value) ? value : {}
  }
  const [schema, about] = await Promise.all([json('/schema'), json('/metadata')])
  const parsed = frames.map(({ dir, text }) => ({ dir, value: withoutUrls(JSON.parse(text) as unknown) }))
  const exchanges = parsed.flatMap(({ dir, value }, i) => (dir === 'sent' && parsed[i + 1]?.dir === 'received' ? [{ sent: value, received: parsed[i + 1]?.value }] : []))
  return { entry, exchanges, action: withoutWords(schema['action'] ?? null), name: typeof about['name'] === 'string' ? about['name'] : null }
}

/** Pydantic's links to its own documentation tell nothing. */
const withoutUrls = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'url' ? undefined : inner)))
const withoutWords = (value: unknown): unknown => JSON.parse(JSON.stringify(value, (key, inner: unknown) => (key === 'description' && typeof inner === 'string' ? undefined : inner)))

/** A frame without addresses, with its pictures as small files, and without the fields to leave out. */
function compact(text: string, leaveOut: readonly string[]): string {
  const local = text
    .replace(/(127\.0\.0\.1|localhost):\d+/g, 'localhost:8000')
    // Paths of the machine that served.
    .replace(/(?:\/[\w.+-]+)+\/((?:site-packages|server|python3\.\d+)\/)/g, '$1')
  const frame = JSON.parse(local) as { data?: { observation?: unknown; metadata?: unknown } }
  const observation = frame.data?.observation
  if (!isRecord(observation)) return local
  let changed = false
  const put = (key: string, value: unknown, fields: Record<string, unknown> = observation) => {
    fields[key] = value
    changed = true
  }
  for (const path of leaveOut) {
    const [key = '', inMetadata] = path.split('.').reverse()
    for (const fields of inMetadata === undefined ? [observation] : [observation['metadata'], frame.data?.metadata]) {
      if (isRecord(fields) && key in fields) put(key, `[left out of the recording: ${JSON.stringify(fields[key]).length} characters]`, fields)
    }
  }
  for (const [key, value] of Object.entries(observation)) {
    if (!Array.isArray(value) || value.length < 8) continue
    const { images } = takeImages({ [key]: value, [`${key}_shape`]: observation[`${key}_shape`] })
    const [picture] = images
    if (picture === undefined || images.length > 1) continue
    put(key, deflatePng(picture.bytes).toString('base64'))
  }
  return changed ? JSON.stringify(frame) : local
}
