/** The engine's worker: owns model, device and run; speaks protocol.ts with the page. */

import { HubAccess } from './hub-access'
import { siteConfig } from './model'
import { isForDesk, ModelDesk } from './model-desk'
import { PlayDesk } from './play'
import type { Command, Message } from './protocol'
import { Runner } from './runner'
import { SetupKeeper } from './setup'

const scope = self as unknown as DedicatedWorkerGlobalScope
const post = (message: Message) => scope.postMessage(message)
// A site may be built for another server that speaks the Hub's API; a link can not name one.
const hub = new HubAccess(import.meta.env.VITE_HUB_ENDPOINT as string | undefined)
const keeper = new SetupKeeper(hub)
const play: PlayDesk = new PlayDesk({ makeEnvironment: (setup, options) => keeper.makeEnvironment(setup, options), chat: () => runner.chatFormat }, post)
const runner: Runner = new Runner(keeper, post, play)
const desk = new ModelDesk(hub, post, siteConfig)
scope.onmessage = ({ data }: MessageEvent<Command>) => {
  if (isForDesk(data)) desk.handle(data)
  else if (data.type === 'play') play.handle(data)
  else runner.handle(data)
}
