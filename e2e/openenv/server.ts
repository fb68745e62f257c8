/** Starts our Python OpenEnv servers for tests and ends them again. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { ensureVenv } from '../tools/venv'

const serve = fileURLToPath(new URL('./serve.py', import.meta.url))

export type ServerName = 'echo' | 'catch' | 'misbehave'

export interface RunningServer {
  port: number
  /** ws://127.0.0.1:PORT/ws */
  url: string
  /** SIGKILL, no farewell; resolves when the process is gone. Harmless when it is gone already. */
  kill(): Promise<void>
}

/**
 * Starts `python serve.py NAME` in `.venv-openenv` (made if need be) and resolves once `/health` answers (some seconds: the library is slow
 * to import). Port 0, the default, lets the system choose. Throws with the server's last words when it does not come up.
 */
export async function startServer(
  name: ServerName,
  { port = 0, maxSessions = 16, timeoutMs = 60_000 }: { port?: number; maxSessions?: number; timeoutMs?: number } = {},
): Promise<RunningServer> {
  const python = await ensureVenv('openenv')
  const args = [serve, name, '--port', String(port), '--max-sessions', String(maxSessions)]
  const child = spawn(python, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const kill = async () => {
    child.kill('SIGKILL')
    await gone
  }
  let output = ''
  const ready = new Promise<number>((resolve) => {
    const hear = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-4000)
      const said = /^READY (\d+)$/m.exec(output)
      if (said) resolve(Number(said[1]))
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
  })
  const listening = await Promise.race([ready, gone.then(() => null), sleep(timeoutMs, null, { ref: false })])
  if (listening === null) {
    await kill()
    throw new Error(`The ${name} server did not come up: ${output || 'it said nothing'}`)
  }
  const health = await fetch(`http://127.0.0.1:${listening}/health`)
  if (!health.ok) {
    await kill()
    throw new Error(`The ${name} server is not healthy: ${health.status} ${await health.text()}`)
  }
  return { port: listening, url: `ws://127.0.0.1:${listening}/ws`, kill }
}
