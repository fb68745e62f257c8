/** A runner on the real training loop over a bandit and a policy of three replies, for tests. */

import type { GrpoConfig, Precision, RunConfig } from '../../core/config'
import { PlaygroundError } from '../../core/errors'
import type { SelfTestReport } from '../../core/events'
import { bandit, banditConfig, banditEngine, chat, type BanditOptions } from '../../train/testing/bandit'
import type { ReplyEngine } from '../../train/testing/engine'
import type { RunArchive } from '../archive'
import { RunJournal } from '../journal'
import { readKeptRun } from '../kept-run'
import type { Command, Message, RunState } from '../protocol'
import { Runner } from '../runner'
import type { RunEngine, SetupCallbacks } from '../setup'
import type { StageMaterial } from '../stage-desk'

/** A policy of three replies that can be reset, and can be told to fail. */
export function makeEngine() {
  const engine = banditEngine() as ReplyEngine & RunEngine & { resets: number[]; fail: (() => Error) | null }
  engine.resets = []
  engine.fail = null
  engine.resetAdapter = (seed) => {
    engine.resets.push(seed)
    engine.theta.fill(0)
    engine.version = 0
  }
  const step = engine.optimizerStep.bind(engine)
  engine.optimizerStep = async (params) => {
    if (engine.fail) throw engine.fail()
    return step(params)
  }
  return engine
}

/** A runner over a keeper that loads at once, fails when told to, or waits until it is given up. */
export function open(options: BanditOptions = {}, openArchive: (() => Promise<RunArchive>) | null = null, smallState?: number, material: StageMaterial | null = null) {
  const prepared: RunConfig[] = []
  const engines: ReturnType<typeof makeEngine>[] = []
  const environments: (ReturnType<typeof bandit> & { closed: number })[] = []
  let refuse: Error | null = null
  let once = false
  let giveUp: (() => void) | null = null
  let waits = false
  let selfTest: SelfTestReport | null = null
  let discarded = 0
  const keeper = {
    prepare: async (config: RunConfig, { onProgress }: SetupCallbacks) => {
      prepared.push(config)
      onProgress({ what: 'environment', done: 0, total: null })
      if (waits) {
        onProgress({ what: 'model.safetensors', done: 5, total: 9, overall: { done: 7, total: 20, bytesPerSecond: 1, secondsLeft: 13, fromDisk: false } })
        await new Promise<void>((resolve) => {
          giveUp = resolve
        })
        throw new PlaygroundError('stopped', 'The download was stopped.')
      }
      if (refuse) {
        const error = refuse
        if (once) refuse = null
        throw error
      }
      const engine = discarded === engines.length ? makeEngine() : (engines.at(-1) as ReturnType<typeof makeEngine>)
      if (discarded === engines.length) engines.push(engine)
      const environment = Object.assign(bandit(options), { closed: 0 })
      environment.close = async () => void environment.closed++
      environments.push(environment)
      return { engine, environment, chat, sha: null, selfTest }
    },
    discardEngine: async () => void discarded++,
    abandon: () => giveUp?.(),
    holds: (engine: unknown) => discarded < engines.length && engine === engines.at(-1),
  }
  const messages: Message[] = []
  const listeners = new Set<(message: Message) => void>()
  const post = (message: Message): void => {
    messages.push(message)
    for (const listener of [...listeners]) listener(message)
  }
  const complaints: string[] = []
  const journal = openArchive && new RunJournal(openArchive, () => undefined, (sentence) => complaints.push(sentence), smallState)
  const runner = new Runner(keeper, post, null, journal, material)
  const resume = (id: string, precision?: Precision): void =>
    runner.resume({ type: 'resume', id }, async () => readKeptRun(await (openArchive as () => Promise<RunArchive>)(), journal as RunJournal, id, precision))
  const states = () => messages.flatMap((m) => (m.type === 'state' ? [m.state] : []))
  /** Sends a command and resolves with the next message that `isIt`. */
  const until = (isIt: (message: Message) => boolean, command?: Command) =>
    new Promise<Message>((resolve) => {
      const listener = (message: Message) => {
        if (!isIt(message)) return
        listeners.delete(listener)
        resolve(message)
      }
      listeners.add(listener)
      if (command) runner.handle(command)
    })
  const untilState = async (name: RunState['state'], command?: Command) => {
    const message = await until((m) => m.type === 'state' && m.state.state === name, command)
    return (message as Extract<Message, { type: 'state' }>).state
  }
  const records = () => messages.flatMap((m) => (m.type === 'event' && m.event.type === 'step-finished' ? [m.event.record] : []))
  return {
    runner,
    journal,
    complaints,
    resume,
    messages,
    states,
    records,
    until,
    untilState,
    prepared,
    engines,
    environments,
    /** The next loads fail with this, or only the next one. */
    refuseWith: (error: Error | null, onlyOnce = false) => {
      refuse = error
      once = onlyOnce
    },
    discarded: () => discarded,
    /** The next loads wait until they are given up. */
    waitForever: (on: boolean) => {
      waits = on
    },
    /** What the next loads' self-test says. */
    report: (report: SelfTestReport | null) => {
      selfTest = report
    },
    keeper,
    configure: (grpo: Partial<GrpoConfig> = {}, change: Partial<RunConfig> = {}) =>
      untilState('ready', { type: 'configure', config: { ...banditConfig({ max_steps: 2, ...grpo }), ...change } }),
  }
}
