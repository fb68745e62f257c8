/** Lane behind a real WebSocket, as an OpenEnv server of MCP tools whose every answer takes some time: what a server elsewhere is like. */

import { spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { WebSocketServer } from 'ws'
import type { EnvironmentSession, Observation } from '../../src/core/environment'
import { builtinEnvironment } from '../../src/env/builtin'

export interface SlowLane {
  /** ws://127.0.0.1:PORT/ws */
  url: string
  stop(): Promise<void>
}

interface Request {
  type?: string
  data?: { seed?: number; tool_name?: string; arguments?: Record<string, unknown> }
}

const frame = (observation: object, { reward, done }: Pick<Observation, 'reward' | 'done'>): object => ({ type: 'observation', data: { observation, reward, done } })

/** Starts it in a process of its own, since it must answer while this one computes; `latencyMs` passes before the answer to a reset, and to a step. */
export async function startSlowLane(latencyMs: number): Promise<SlowLane> {
  const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(import.meta.url), String(latencyMs)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const gone = new Promise<never>((_, reject) => child.once('exit', (status) => reject(new Error(`The lane server ended with status ${status}.`))))
  const url = await Promise.race([gone, new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve))])
  return {
    url,
    stop: async () => {
      child.kill()
      await gone.catch(() => undefined)
    },
  }
}

/** Listens on a free port and prints its address. */
async function serve(latencyMs: number): Promise<void> {
  const lane = builtinEnvironment('lane')
  const tools = lane.tools.map(({ function: { name, description, parameters } }) => ({ name, description, input_schema: parameters }))
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  server.on('connection', (socket) => {
    let session: EnvironmentSession | null = null
    const answer = async ({ type, data = {} }: Request): Promise<object> => {
      if (type === 'mcp') return { type: 'mcp', data: { jsonrpc: '2.0', id: 1, result: { tools } } }
      if (type === 'state') return { type: 'state', data: { episode_id: null, step_count: 0 } }
      await sleep(latencyMs)
      if (type === 'reset') {
        session = await lane.open()
        const begun = await session.reset({ seed: data.seed ?? 0, split: 'train', episode_id: 'episode0' })
        return frame({ text: begun.text }, begun)
      }
      if (!session) return { type: 'error', data: { code: 'EXECUTION_ERROR', message: 'reset first' } }
      const given = await session.step({ name: data.tool_name ?? '', arguments: data.arguments ?? {} })
      return frame({ tool_name: data.tool_name, result: { data: given.text }, error: null }, given)
    }
    socket.on('message', (message) => {
      const request = JSON.parse((message as Buffer).toString()) as Request
      if (request.type === 'close') return socket.close(1000)
      void answer(request).then((reply) => socket.send(JSON.stringify(reply)))
    })
  })
  process.stdout.write(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await serve(Number(process.argv[2]))
