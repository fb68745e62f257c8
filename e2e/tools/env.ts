/** `npm run env -- catch --port 8000`: serves one of our environments with the real OpenEnv library until Ctrl-C. */

import { spawn } from 'node:child_process'
import { ensureVenv } from './venv'
import { projectRoot } from './run-command'

const python = await ensureVenv('openenv')
const server = spawn(python, ['e2e/openenv/serve.py', ...process.argv.slice(2)], {
  cwd: projectRoot,
  env: { ...process.env, PYTHONUNBUFFERED: '1' },
  stdio: 'inherit',
  // Out of the terminal's group: Ctrl-C reaches it as the SIGTERM below, which it answers without a traceback.
  detached: true,
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => server.kill('SIGTERM'))
server.on('exit', code => {
  process.exitCode = code ?? 0
})
