/** A play desk for tests: its messages are kept, and what is asked of it resolves with its answer. */

import { PlayDesk } from '../play'
import type { Message, PlayAction, PlayResult } from '../protocol'

export function askedDesk(parts: ConstructorParameters<typeof PlayDesk>[0]) {
  const messages: Message[] = []
  const waiting = new Map<number, (result: PlayResult) => void>()
  const play = new PlayDesk(parts, (message) => {
    messages.push(message)
    if (message.type === 'play-result') waiting.get(message.requestId)?.(message.result)
  })
  let requests = 0
  const act = (action: PlayAction) =>
    new Promise<PlayResult>((resolve) => {
      waiting.set(++requests, resolve)
      play.handle({ type: 'play', requestId: requests, action })
    })
  return { play, act, messages }
}
