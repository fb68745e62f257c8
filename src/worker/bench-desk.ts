/** Answers the page's wish to measure this machine: one benchmark at a time, none while something is trained, and it gives way to a run. */

import { describeError, PlaygroundError } from '../core/errors'
import type { BenchOptions } from './bench'
import type { BenchEngines, benchEngines } from './bench-engines'
import type { Command, Message } from './protocol'

type BenchCommand = Extract<Command, { type: 'bench' | 'bench-stop' }>

/** What needs the machine, or the engine, for itself. */
const NEEDS_MACHINE: readonly Command['type'][] = ['configure', 'train', 'step', 'resume', 'stage', 'dry-run', 'evaluate', 'compare', 'chat']

const BUSY = 'A run is being trained or loaded. Pause it, or let it finish, then measure.'
const STOPPED = 'The benchmark was stopped.'
const TWICE = 'This machine is being measured already.'

export class BenchDesk {
  /** What the run or a stage of it is doing needs the machine. */
  private runs = false
  private stages = false
  private measuring: AbortController | null = null

  constructor(
    private readonly post: (message: Message) => void,
    /** Fetched when it is wanted: few people measure. */
    private readonly engines: typeof benchEngines = async (backend) => (await import('./bench-engines')).benchEngines(backend),
  ) {}

  /** Takes what is for it and returns true; of other commands it hears whether they need the machine. */
  take(command: Command): boolean {
    if (NEEDS_MACHINE.includes(command.type)) this.measuring?.abort()
    if (command.type !== 'bench' && command.type !== 'bench-stop') return false
    this.handle(command)
    return true
  }

  /** Hears what the page is told. */
  hear(message: Message): void {
    if (message.type === 'state') this.runs = ['loading', 'running', 'pausing'].includes(message.state.state)
    if (message.type === 'stage-state') this.stages = ['preparing', 'training', 'pausing'].includes(message.state.state)
  }

  private handle(command: BenchCommand): void {
    if (command.type === 'bench-stop') this.measuring?.abort()
    else void this.measure(command)
  }

  /** Answers by one 'bench-done'; never rejects. */
  private async measure({ requestId, backend }: Extract<BenchCommand, { type: 'bench' }>): Promise<void> {
    const answer = (result: Extract<Message, { type: 'bench-done' }>['result']): void => this.post({ type: 'bench-done', requestId, result })
    if (this.runs || this.stages) return answer({ ok: false, error: BUSY })
    if (this.measuring) return answer({ ok: false, error: TWICE })
    const measuring = new AbortController()
    this.measuring = measuring
    let engines: BenchEngines | null = null
    try {
      engines = await this.engines(backend)
      const { runBench } = await import('./bench')
      const onProgress: BenchOptions['onProgress'] = (done, total, model, report) => this.post({ type: 'bench-progress', requestId, done, total, model, report })
      answer({ ok: true, report: await runBench({ ...engines, onProgress, signal: measuring.signal }) })
    } catch (error) {
      answer({ ok: false, error: error instanceof PlaygroundError && error.kind === 'stopped' ? STOPPED : describeError(error) })
    } finally {
      engines?.close()
      this.measuring = null
    }
  }
}
