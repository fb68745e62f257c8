/** The engine's worker: owns model, device and run; speaks protocol.ts with the page. */

import { describeError } from '../core/errors'
import { RunArchive } from './archive'
import { BenchDesk } from './bench-desk'
import { HubAccess } from './hub-access'
import { RunJournal } from './journal'
import { assertResumable, readKeptRun } from './kept-run'
import { siteConfig } from './model'
import { isForDesk, ModelDesk } from './model-desk'
import { Outbox } from './outbox'
import { PlayDesk } from './play'
import { isForPrompts, PromptsDesk } from './prompts-desk'
import type { Command, Message } from './protocol'
import { isForRunDesk, RunDesk } from './run-desk'
import { adoptSandbox } from './reward-sandbox'
import { Runner } from './runner'
import { SetupKeeper } from './setup'
import { isForTakeAway, TakeAwayDesk } from './take-away-desk'

const scope = self as unknown as DedicatedWorkerGlobalScope
const outbox = new Outbox((messages) => scope.postMessage(messages))
const bench = new BenchDesk((message) => outbox.post(message))
const post = (message: Message) => {
  bench.hear(message)
  outbox.post(message)
}
// A site may be built for another server that speaks the Hub's API; a link can not name one.
const hub = new HubAccess(import.meta.env.VITE_HUB_ENDPOINT as string | undefined)
const keeper = new SetupKeeper(hub)
const play: PlayDesk = new PlayDesk({ makeEnvironment: (setup, options) => keeper.makeEnvironment(setup, options), chat: () => runner.chatFormat }, post)
let archive: Promise<RunArchive> | null = null
// What was refused once may be allowed later, and a connection that is gone can be made again.
const forgetArchive = (): void => {
  archive = null
}
const openArchive = (): Promise<RunArchive> =>
  (archive ??= RunArchive.open(undefined, undefined, forgetArchive).catch((error: unknown) => {
    forgetArchive()
    throw error
  }))
const journal: RunJournal = new RunJournal(openArchive, () => void runs.list(), (sentence) => runs.complain(sentence))
const runs: RunDesk = new RunDesk(openArchive, journal, post)
const takeAway = new TakeAwayDesk(openArchive, journal, hub, post)
const runner: Runner = new Runner(keeper, post, play, journal, { hub: hub.client, played: () => play.played })
const prompts = new PromptsDesk(hub.client, post)
const desk = new ModelDesk(hub, post, siteConfig)

scope.onmessage = ({ data }: MessageEvent<Command>) => {
  if (bench.take(data)) return
  if (data.type === 'sandbox') adoptSandbox(data.port, data.hosts)
  else if (isForDesk(data)) desk.handle(data)
  else if (isForRunDesk(data)) runs.handle(data)
  else if (isForPrompts(data)) prompts.handle(data)
  else if (isForTakeAway(data)) takeAway.handle(data)
  else if (data.type === 'resume') void resume(data)
  else if (data.type === 'play') play.handle(data)
  else runner.handle(data)
}

/** What cannot be gone on with is refused before anything here is given up for it. */
async function resume(command: Extract<Command, { type: 'resume' }>): Promise<void> {
  const { id, precision } = command
  try {
    // The run that is loaded is kept with its last step only once that has ended.
    if (journal.current?.id !== id) await assertResumable(await openArchive(), id)
  } catch (error) {
    post({ type: 'resume-refused', id, why: describeError(error) })
    return runs.list()
  }
  runner.resume(command, async () => readKeptRun(await openArchive(), journal, id, precision))
}
