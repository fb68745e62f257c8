/** A small OpenEnv server over a real WebSocket, for tests that need no Python: one MCP tool that echoes. */

import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

export interface ScriptedServer {
  port: number
  /** Paths that were connected to, queries included. */
  paths: string[]
  stop(): Promise<void>
}

const TOOL = { name: 'echo_message', description: 'Echo it.', input_schema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } }
const observation = (fields: object, reward: number | null, done: boolean) => ({ type: 'observation', data: { observation: fields, reward, done } })

function answerTo(type: unknown): object {
  if (type === 'mcp') return { type: 'mcp', data: { jsonrpc: '2.0', id: 1, result: { tools: [TOOL] } } }
  if (type === 'state') return { type: 'state', data: { episode_id: null, step_count: 0 } }
  if (type === 'step') return observation({ tool_name: 'echo_message', result: { data: 'hi' }, error: null }, 1, true)
  return observation({}, null, false)
}

/** Listens on a free port of 127.0.0.1. */
export async function startScriptedServer(): Promise<ScriptedServer> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  const paths: string[] = []
  server.on('connection', (socket, request) => {
    paths.push(request.url ?? '')
    socket.on('message', (data) => {
      const { type } = JSON.parse((data as Buffer).toString()) as { type?: unknown }
      if (type === 'close') socket.close(1000)
      else socket.send(JSON.stringify(answerTo(type)))
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    paths,
    stop: () =>
      new Promise((resolve) => {
        for (const client of server.clients) client.terminate()
        server.close(() => resolve())
      }),
  }
}
