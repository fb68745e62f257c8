/** The frames that the real library exchanged in June and July 2026, played through our whole client: the same episodes come out. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { EnvironmentSession, Observation } from '../../src/core/environment'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { fakeServer } from '../../src/env/openenv/testing/fake-socket'

interface Line {
  dir: 'open' | 'send' | 'recv' | 'closed'
  text?: string
  code?: number
}

const linesOf = (file: string): Line[] =>
  readFileSync(new URL(`./transcripts/library/${file}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

/** A request without what two clients would not share: seeds, ids, lengths, and defaults that need not be sent. */
function essence(text: string): string {
  const { type, data } = JSON.parse(text) as { type?: string; data?: Record<string, unknown> }
  const { repeat: _, ...rest } = data ?? {}
  return JSON.stringify([type, type === 'reset' ? {} : rest])
}

/** A server that answers each request as the recorded one did, the last reset's answer to every reset; others get UNKNOWN_TYPE. */
function replayed(file: string) {
  const lines = linesOf(file)
  const answers = new Map<string, Line[]>()
  lines.forEach((line, i) => {
    if (line.dir !== 'send' || !line.text?.startsWith('{"')) return
    const said: Line[] = []
    for (let next = i + 1; lines[next]?.dir === 'recv' || lines[next]?.dir === 'closed'; next++) said.push(lines[next] as Line)
    const ends = lines.slice(i + 1).find(({ dir }) => dir !== 'recv' && dir !== 'send')
    if (said.some(({ text }) => text?.includes('SESSION_ERROR')) && ends) said.push(ends)
    answers.set(essence(line.text), said)
  })
  const { WebSocket } = fakeServer({
    onFrame: (frame, peer) => {
      if (frame.type === 'close') return
      const text = JSON.stringify(frame)
      const probe = frame.data && '__probe__' in frame.data
      const said = answers.get(probe ? essence('{"type":"step","data":{"__probe__":1}}') : essence(text))
      if (!said) return peer.send({ type: 'error', data: { code: 'NOT_RECORDED', message: text } })
      for (const line of said) {
        if (line.dir === 'recv') peer.sendRaw(line.text)
        else peer.hangUp(line.code)
      }
    },
  })
  const fetch = () => Promise.reject(new TypeError('Failed to fetch'))
  return new OpenEnvEnvironment('127.0.0.1:1', { WebSocket, fetch })
}

async function begin(file: string) {
  const environment = replayed(file)
  await environment.connect()
  const session = await environment.open()
  const first = await session.reset({ seed: 42, episode_id: 'ep-1', split: 'train' })
  return { environment, session, first }
}

/** Text, reward, done and whether the tool failed, of one call after the other. */
async function seen(session: EnvironmentSession, calls: { name: string; arguments: Record<string, unknown> }[]) {
  const all: Pick<Observation, 'text' | 'reward' | 'done' | 'toolError'>[] = []
  for (const call of calls) {
    const { text, reward, done, toolError } = await session.step(call)
    all.push({ text, reward, done, toolError })
  }
  return all
}

describe.each(['june', 'july'])('%s', (month) => {
  it('typed: an episode, a NaN that ends it, an exception, a refused action that ends the session', async () => {
    const { environment, session, first } = await begin(`typed-2026-${month}`)
    expect(first).toMatchObject({ reward: null, done: false, toolError: false })
    expect(first.text).toContain('ready')
    const [tool] = environment.tools
    const [argument = ''] = Object.keys(tool?.function.parameters.properties ?? {})
    const say = (message: string) => ({ name: tool?.function.name ?? '', arguments: { [argument]: message } })
    const played = await seen(session, [say('hello'), say('!image')])
    expect(played.map(({ reward, done, toolError }) => ({ reward, done, toolError }))).toEqual([
      { reward: 0.5, done: false, toolError: false },
      { reward: 0.6, done: true, toolError: false },
    ])
    expect(played[0]?.text).toContain('hello hello')
    await session.close()

    const again = async () => {
      const next = await environment.open()
      await next.reset({ seed: 42, episode_id: 'ep-1', split: 'train' })
      return next
    }
    expect(await (await again()).step(say('!nan'))).toMatchObject({ reward: null, done: true })
    await expect((await again()).step(say('!raise'))).rejects.toThrow('asked to fail')
    await expect((await again()).step(say('bad'))).rejects.toThrow('ended the session over an action')
  })

  it('MCP: results as text, failures as tool errors, no rewards', async () => {
    const { environment, session, first } = await begin(`mcp-2026-${month}`)
    expect(environment.tools.map(({ function: { name } }) => name)).toEqual(['echo', 'measure', 'fail'])
    expect(first).toMatchObject({ reward: 0, done: false })
    const played = await seen(session, [
      { name: 'echo', arguments: { message: 'hi', times: 2 } },
      { name: 'measure', arguments: { message: 'hi' } },
      { name: 'echo', arguments: { wrong: 1 } },
      { name: 'nope', arguments: {} },
      { name: 'fail', arguments: {} },
    ])
    expect(played.map(({ toolError }) => toolError)).toEqual([false, false, true, true, true])
    expect(played.every(({ reward, done }) => reward === null && !done)).toBe(true)
    expect(played[0]?.text).toBe('hi hi')
    expect(JSON.parse(played[1]?.text ?? '')).toEqual({ message: 'hi', length: 2 })
    expect(played[4]?.text).toContain('tool failed')
    await session.close()
  })
})
