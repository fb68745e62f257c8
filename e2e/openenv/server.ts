/** Starts our Python OpenEnv servers for tests and ends them again. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectRoot } from '../tools/run-command'
import { ensureVenv, type VenvName } from '../tools/venv'

const serve = fileURLToPath(new URL('./serve.py', import.meta.url))

/** Of the files NAME_env.py beside this one, or the path of a file. */
export type ServerName = 'echo' | 'catch' | 'misbehave' | 'tools' | 'broken' | 'reasoning' | 'textarena' | 'e2e/openenv/minimal/guess.py'

export interface RunningServer {
  port: number
  /** ws://127.0.0.1:PORT/ws */
  url: string
  /** SIGKILL, no farewell; resolves when the process is gone. Harmless when it is gone already. */
  kill(): Promise<void>
  /** SIGSTOP: it holds its sockets and answers nothing until `resume`. */
  pause(): void
  resume(): void
}

export interface ServerOptions {
  port?: number
  maxSessions?: number
  timeoutMs?: number
  /** Which library serves. */
  venv?: Exclude<VenvName, 'reference'>
}

/**
 * Starts `python serve.py NAME` in `.venv-openenv` (made if need be) and resolves once `/health` answers (some seconds, or a minute on a busy machine:
 * the library is slow to import). Port 0, the default, lets the system choose. Throws with the server's last words when it does not come up.
 */
export async function startServer(name: ServerName, options: ServerOptions = {}): Promise<RunningServer> {
  const [server] = await startServers([name], options)
  return server as RunningServer
}

/** Several in one process, which is quicker: they live and die together. `NAME:N` allows N sessions. Otherwise as `startServer`. */
export async function startServers(
  names: readonly (ServerName | `${ServerName}:${number}`)[],
  { port = 0, maxSessions = 16, timeoutMs = 180_000, venv = 'openenv' }: ServerOptions = {},
): Promise<RunningServer[]> {
  const python = await ensureVenv(venv)
  const args = [serve, ...names, '--port', String(port), '--max-sessions', String(maxSessions)]
  const child = spawn(python, args, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = async () => {
    child.kill('SIGKILL')
    await gone
  }
  const who = names.join(', ')
  let output = ''
  const ready = new Promise<number[]>((resolve) => {
    const hear = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000)
      const said = new Map([...output.matchAll(/^READY (\d+) ?(.*)$/gm)].map((match) => [match[2] || names[0], Number(match[1])]))
      const ports = names.flatMap((name) => said.get(name) ?? [])
      if (ports.length === names.length) resolve(ports)
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
  })
  const ports = await Promise.race([ready, gone.then(() => null), sleep(timeoutMs, null, { ref: false })])
  if (ports === null) {
    await kill()
    throw new Error(`The server of ${who} did not come up: ${output || 'it said nothing'}`)
  }
  for (const listening of ports) {
    const health = await fetch(`http://127.0.0.1:${listening}/health`)
    if (health.ok) continue
    await kill()
    throw new Error(`The server of ${who} is not healthy: ${health.status} ${await health.text()}`)
  }
  return ports.map((listening) => ({
    port: listening,
    url: `ws://127.0.0.1:${listening}/ws`,
    kill,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  }))
}
