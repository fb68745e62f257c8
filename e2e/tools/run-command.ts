/** Runs a program to its end with its output on ours, or captures it. */

import { spawn } from 'node:child_process'
import { resolve } from 'node:path'

/** The repository's root. */
export const projectRoot = resolve(import.meta.dirname, '../..')

export interface RunOptions {
  env?: NodeJS.ProcessEnv
  /** Ends the program (and reports 124) after this long. */
  timeoutMs?: number
  /** Where its standard output goes; stderr for a caller whose stdout is data. Default 'stdout'. */
  output?: 'stdout' | 'stderr'
}

/** Exit status of `command`, run from the repository's root without stdin; 127 when it cannot start, 128 when a signal ended it. */
export function runCommand(command: string, args: readonly string[], options: RunOptions = {}): Promise<number> {
  return new Promise(done => {
    const child = spawn(command, args, {
      cwd: projectRoot,
      env: { ...process.env, ...options.env },
      stdio: ['ignore', options.output === 'stderr' ? 2 : 'inherit', 'inherit'],
    })
    let late = false
    const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => end(), options.timeoutMs)
    const end = () => {
      late = true
      process.stderr.write(`${command} ${args[0] ?? ''} took longer than ${Math.round((options.timeoutMs ?? 0) / 1000)} s: ended.\n`)
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
    }
    child.on('error', error => {
      clearTimeout(timer)
      process.stderr.write(`${command}: ${error.message}\n`)
      done(127)
    })
    child.on('exit', code => {
      clearTimeout(timer)
      done(late ? 124 : (code ?? 128))
    })
  })
}

/** What `command` prints on stdout, trimmed; null when it cannot start, fails or takes longer than 20 s. */
export function capture(command: string, args: readonly string[]): Promise<string | null> {
  return new Promise(done => {
    const child = spawn(command, args, { cwd: projectRoot, stdio: ['ignore', 'pipe', 'ignore'], timeout: 20_000 })
    let text = ''
    child.stdout.setEncoding('utf8')
    child.stdout.on('data', (chunk: string) => (text += chunk))
    child.on('error', () => done(null))
    child.on('close', code => done(code === 0 ? text.trim() : null))
  })
}

/** Path of a program that an npm package of this repository brings, to be run with `process.execPath`. */
export function packageFile(path: string): string {
  return resolve(projectRoot, 'node_modules', path)
}
