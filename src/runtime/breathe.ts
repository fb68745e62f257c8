/** Lets messages in between pieces of work that never wait for anything: a pause, a stop, a question of the page. */

/** Work may go on so long without looking, milliseconds. */
const HELD_MS = 8

let last = 0
let waiting: (() => void)[] = []
let channel: MessageChannel | null = null

/** A turn of the event loop. A timer would wait 4 ms each time. */
function turn(): Promise<void> {
  if (typeof setImmediate === 'function') return new Promise((resolve) => setImmediate(resolve))
  if (!channel) {
    channel = new MessageChannel()
    channel.port1.onmessage = () => {
      const due = waiting
      waiting = []
      for (const resolve of due) resolve()
    }
  }
  const { port2 } = channel
  return new Promise((resolve) => {
    waiting.push(resolve)
    port2.postMessage(null)
  })
}

/** Returns at once unless messages have waited for HELD_MS. */
export async function breathe(): Promise<void> {
  if (performance.now() - last < HELD_MS) return
  await turn()
  last = performance.now()
}
