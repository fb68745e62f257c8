/** The engine's worker: owns model, device and run; speaks protocol.ts with the page. */

import type { Command, Message } from './protocol'
import { Runner } from './runner'
import { SetupKeeper } from './setup'

const scope = self as unknown as DedicatedWorkerGlobalScope
const runner = new Runner(new SetupKeeper(), (message: Message) => scope.postMessage(message))
scope.onmessage = (event: MessageEvent<Command>) => runner.handle(event.data)
