/** The engine's worker: owns model, device and run; speaks protocol.ts with the page. */

import { HubAccess } from './hub-access'
import { siteConfig } from './model'
import { isForDesk, ModelDesk } from './model-desk'
import type { Command, Message } from './protocol'
import { Runner } from './runner'
import { SetupKeeper } from './setup'

const scope = self as unknown as DedicatedWorkerGlobalScope
const post = (message: Message) => scope.postMessage(message)
// A site may be built for another server that speaks the Hub's API; a link can not name one.
const hub = new HubAccess(import.meta.env.VITE_HUB_ENDPOINT as string | undefined)
const runner = new Runner(new SetupKeeper(hub), post)
const desk = new ModelDesk(hub, post, siteConfig)
scope.onmessage = ({ data }: MessageEvent<Command>) => (isForDesk(data) ? desk.handle(data) : runner.handle(data))
