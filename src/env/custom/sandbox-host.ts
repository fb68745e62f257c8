/** The page's side of the sandbox: makes the frame, hands out ports to it, and tells it which code a person has allowed. */

import type { PageFunction } from '../../core/environment-spec'
import { isLocal } from '../../core/network-hosts'
import { liveSource } from './live-source'
import { sandboxPage, workerSource } from './sandbox-source'

export interface SandboxHost {
  /** A port that calls can be sent to; to be given to `sandboxClient`, here or in a worker. */
  connect(): MessagePort
  /** A person has read this code and lets it run, until the page is left; resolves once it may be called. */
  allow(func: PageFunction): Promise<void>
}

/** What browsers call reaching servers of the same computer; a frame has it where its page passes it on. */
const LOCAL_FEATURES = ['loopback-network', 'local-network-access']

/** A frame of opaque origin: it has no access to this page or its storage, and no network but these hosts (as `readHost` gives them back; else it throws). */
export function openSandbox(document: Document, hosts: readonly string[] = []): SandboxHost {
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  // Where browsers know it: requests carry none of the person's cookies.
  if (hosts.length > 0) frame.setAttribute('credentialless', '')
  if (hosts.some(isLocal)) frame.allow = LOCAL_FEATURES.map((feature) => `${feature} *`).join('; ')
  frame.title = 'Sandbox of your own code'
  frame.hidden = true
  frame.srcdoc = sandboxPage(hosts)
  const hear = (isIt: (data: unknown) => boolean): Promise<void> =>
    new Promise((resolve) => {
      const listen = ({ source, data }: MessageEvent): void => {
        if (source !== frame.contentWindow || !isIt(data)) return
        window.removeEventListener('message', listen)
        resolve()
      }
      window.addEventListener('message', listen)
    })
  const ready = hear((data) => data === 'sandbox-ready')
  document.body.append(frame)
  // Its origin is opaque: no other address would reach it.
  const tell = (message: object, transfer: Transferable[] = []): void => void ready.then(() => frame.contentWindow?.postMessage(message, '*', transfer))
  return {
    connect: () => {
      const { port1, port2 } = new MessageChannel()
      tell({}, [port2])
      return port1
    },
    allow: ({ called, code }) => {
      // Whatever it is used for: a reward function, an environment or a rollout function.
      const sources = [workerSource(called, code), liveSource('class', called, code), liveSource('rollout', called, code)]
      const heard = sources.map((source) => hear((data) => typeof data === 'object' && data !== null && 'allowed' in data && data.allowed === source))
      for (const source of sources) tell({ allow: source })
      return Promise.all(heard).then(() => undefined)
    },
  }
}
