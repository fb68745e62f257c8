/** What a person asks of the loaded model between its steps: a chat, a comparison, an examination, an evaluation, a dry run. */

import type { EvaluationRecord } from '../core/run-record'
import type { ChatSession } from './chat'
import { answerComparison } from './compare-policies'
import { answerDryRun } from './dry-run'
import { answerEvaluation, type Measured } from './evaluation'
import { answerExamination, type Doing } from './examine'
import type { Command, Message } from './protocol'
import { chatRefused } from './run-messages'

export interface Answering extends Measured {
  talk: ChatSession
}

/** The run around it. */
export interface AnswerHost {
  run(): Answering | null
  doing(): Doing
  /** A person, or the grain, has paused the step that runs. */
  paused(): boolean
  /** One after the other, with whatever else needs the run. */
  enqueue(work: () => Promise<void>): void
  /** Keeps what was measured with the run. */
  measured(records: readonly EvaluationRecord[]): Promise<void>
}

const ASKED = ['chat', 'chat-stop', 'examine', 'compare', 'dry-run', 'evaluate', 'evaluate-stop'] as const
type Asked = Extract<Command, { type: (typeof ASKED)[number] }>

export const isAsked = (command: Command): command is Asked => (ASKED as readonly string[]).includes(command.type)

/** Commands by which the run that is measured is given up; what trains on waits. */
const ENDS_EVALUATION: readonly Command['type'][] = ['configure', 'reset', 'resume']

export class RunAnswers {
  private chatStop = new AbortController()
  private evaluationStop = new AbortController()
  private compareStop = new AbortController()

  constructor(
    private readonly host: AnswerHost,
    private readonly post: (message: Message) => void,
  ) {}

  handle(command: Asked): void {
    if (command.type === 'chat-stop') return this.chatStop.abort()
    if (command.type === 'examine') return this.host.enqueue(() => answerExamination(this.host.run(), this.host.doing(), command, this.post))
    if (command.type === 'chat') {
      if (this.chatStop.signal.aborted) this.chatStop = new AbortController()
      const { signal } = this.chatStop
      return this.host.enqueue(() => this.chat(command, signal))
    }
    if (command.type === 'evaluate-stop') return this.evaluationStop.abort()
    if (command.type === 'evaluate') {
      if (this.evaluationStop.signal.aborted) this.evaluationStop = new AbortController()
      const { signal } = this.evaluationStop
      return this.host.enqueue(() => this.evaluate(command, signal))
    }
    if (this.compareStop.signal.aborted) this.compareStop = new AbortController()
    const { signal } = this.compareStop
    this.host.enqueue(() => this.play(command, signal))
  }

  /** The engine is needed: nobody waits until a chat, a comparison or a dry run is at its end, nor for an evaluation of a run that goes. */
  end(type: Command['type']): void {
    this.chatStop.abort()
    this.compareStop.abort()
    if (ENDS_EVALUATION.includes(type)) this.evaluationStop.abort()
  }

  private async chat(command: Extract<Asked, { type: 'chat' }>, signal: AbortSignal): Promise<void> {
    const run = this.host.run()
    // A step in its middle holds the slots.
    if (run && this.host.doing() === 'nothing') return run.talk.turn(command, signal)
    this.post(chatRefused(command.requestId, run !== null, this.host.paused()))
  }

  private async evaluate(command: Extract<Asked, { type: 'evaluate' }>, signal: AbortSignal): Promise<void> {
    const run = this.host.run()
    await run?.talk.release()
    const result = await answerEvaluation(run, this.host.doing() !== 'nothing', command, this.post, signal)
    if (result) await this.host.measured(result.records)
  }

  private async play(command: Extract<Asked, { type: 'compare' | 'dry-run' }>, signal: AbortSignal): Promise<void> {
    const run = this.host.run()
    const doing = this.host.doing()
    // The conversation's slot and session are wanted; a step in its middle is refused and loses nothing.
    if (doing === 'nothing') await run?.talk.release()
    if (command.type === 'dry-run') return answerDryRun(run, doing, command, this.post, signal)
    return answerComparison(run, doing, command, this.post, signal)
  }
}
