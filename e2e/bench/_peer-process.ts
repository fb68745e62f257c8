/** A Python program that waits for a line before each thing it does, and answers with one JSON object: the peer's side of taking turns. */

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Before the answers, which stand among whatever else the program prints. */
const MARK = '@bench '

/** What a peer is run with: nothing from the Hub, and threads that sleep while the other side computes. */
const QUIET = { HF_HUB_OFFLINE: '1', OMP_WAIT_POLICY: 'PASSIVE', TRL_EXPERIMENTAL_SILENCE: '1', PYTHONUNBUFFERED: '1', TOKENIZERS_PARALLELISM: 'false' }

export class PeerProcess {
  private readonly child: ChildProcessWithoutNullStreams
  private readonly answers: unknown[] = []
  private readonly waiting: { resolve: (answer: unknown) => void; reject: (error: Error) => void }[] = []
  private last = ''
  private ended: Error | null = null

  /** Starts `python args`; `threads` is how many it may compute with, or as many as it likes. */
  constructor(python: string, args: readonly string[], threads?: number) {
    const limits = threads === undefined ? {} : { OMP_NUM_THREADS: String(threads), MKL_NUM_THREADS: String(threads) }
    this.child = spawn(python, args, { env: { ...process.env, ...QUIET, ...limits } })
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => (this.last = (this.last + text).slice(-2000)))
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      if (!line.startsWith(MARK)) return
      const answer: unknown = JSON.parse(line.slice(MARK.length))
      const first = this.waiting.shift()
      if (first) first.resolve(answer)
      else this.answers.push(answer)
    })
    this.child.on('error', (error) => this.fail(error))
    this.child.on('close', (code) => this.fail(new Error(`${args[0] ?? python} ended with status ${code}: ${this.last.trim().split('\n').slice(-3).join(' ')}`)))
    // It may be gone before it reads.
    this.child.stdin.on('error', () => undefined)
  }

  /** The next answer. Rejects when the program ends instead. */
  next<Answer>(): Promise<Answer> {
    if (this.answers.length > 0) return Promise.resolve(this.answers.shift() as Answer)
    if (this.ended) return Promise.reject(this.ended)
    return new Promise<Answer>((resolve, reject) => this.waiting.push({ resolve: resolve as (answer: unknown) => void, reject }))
  }

  /** Lets it do the next thing, and waits for the answer. */
  ask<Answer>(what: unknown = null): Promise<Answer> {
    this.child.stdin.write(`${JSON.stringify(what)}\n`)
    return this.next<Answer>()
  }

  /** Ends the program. */
  async stop(): Promise<void> {
    if (this.ended) return
    const closed = new Promise((resolve) => this.child.once('close', resolve))
    this.child.kill('SIGKILL')
    await closed
  }

  private fail(error: Error): void {
    this.ended ??= error
    for (const { reject } of this.waiting.splice(0)) reject(this.ended)
  }
}
