/** What a person asks of the loaded model between its steps: a chat, a comparison, an examination, a dry run. */

import type { RunConfig } from '../core/config'
import type { CallCustom } from '../train/scoring'
import type { ChatSession } from './chat'
import { answerComparison, type Compared } from './compare-policies'
import { answerDryRun } from './dry-run'
import { answerExamination, type Doing } from './examine'
import type { Command, Message } from './protocol'
import { chatRefused } from './run-messages'

export interface Answering extends Compared {
  config: RunConfig
  talk: ChatSession
  callCustom?: CallCustom
}

/** The run around it. */
export interface AnswerHost {
  run(): Answering | null
  doing(): Doing
  /** A person, or the grain, has paused the step that runs. */
  paused(): boolean
  /** One after the other, with whatever else needs the run. */
  enqueue(work: () => Promise<void>): void
}

const ASKED = ['chat', 'chat-stop', 'examine', 'compare', 'dry-run'] as const
type Asked = Extract<Command, { type: (typeof ASKED)[number] }>

export const isAsked = (command: Command): command is Asked => (ASKED as readonly string[]).includes(command.type)

export class RunAnswers {
  private chatStop = new AbortController()
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
    if (this.compareStop.signal.aborted) this.compareStop = new AbortController()
    const { signal } = this.compareStop
    this.host.enqueue(() => this.play(command, signal))
  }

  /** The engine is needed: nobody waits until a chat, a comparison or a dry run is at its end. */
  end(): void {
    this.chatStop.abort()
    this.compareStop.abort()
  }

  private async chat(command: Extract<Asked, { type: 'chat' }>, signal: AbortSignal): Promise<void> {
    const run = this.host.run()
    // A step in its middle holds the slots.
    if (run && this.host.doing() === 'nothing') return run.talk.turn(command, signal)
    this.post(chatRefused(command.requestId, run !== null, this.host.paused()))
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
