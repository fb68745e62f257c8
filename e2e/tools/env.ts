/** `npm run env -- catch --port 8000`: serves one of our environments with the real OpenEnv library until Ctrl-C. */

import { spawn } from 'node:child_process'
import { ensureVenv } from './venv'
import { projectRoot } from './run-command'

const args = process.argv.slice(2)
if (args.length === 0) {
  process.stderr.write(`Which environment? For example:
  npm run env -- catch --port 8000
  npm run env -- e2e/openenv/minimal/guess.py      (copy that folder to write your own)
  npm run env -- --help                            (all names and options)
`)
  process.exit(2)
}
// These need libraries that are not ours.
const venv = args.some(arg => /^(reasoning|textarena)(:|$)/.test(arg)) ? 'openenv-libraries' : 'openenv'
const python = await ensureVenv(venv)
process.stderr.write('Starting (the library takes some seconds to import) ...\n')
const server = spawn(python, ['e2e/openenv/serve.py', ...args], {
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
