/** Keeps trajectories that were read from a file away from a run that goes on: what a person pressed last counts. No React, no DOM. */

import { S } from '../ui/strings'
import type { Command, Message } from '../worker/protocol'
import type { EnginePort } from './controller'
import { isRecording } from './restore'
import { isActive } from './view'

/** Commands after which the page belongs to a run, and no file is expected on it any more. */
const BEGINS: readonly Command['type'][] = ['configure', 'train', 'step', 'reset', 'resume']

/**
 * The same port, but a file is not read while steps are trained, and one that has been read is dropped where a run is being trained by
 * then or was begun, changed or gone on with meanwhile. Both are told by a notice, as the worker tells of a file that it cannot read.
 */
export function withoutLateImports(port: EnginePort): EnginePort {
  const listeners: ((message: Message) => void)[] = []
  let active = false
  let reading = false
  /** Something was pressed since the file was given, which that must not replace. */
  let overtaken = false

  const tell = (message: Message) => listeners.forEach((listen) => listen(message))
  const complain = (text: string) => tell({ type: 'event', event: { type: 'notice', level: 'warning', text } })

  port.onMessage((message) => {
    if (message.type === 'state') active = isActive(message.state)
    if (message.type === 'restored' && isRecording(message.run)) {
      const late = active || overtaken
      reading = overtaken = false
      if (late) return complain(S.runs.import.late(message.run.name))
    }
    tell(message)
  })

  return {
    send(command) {
      if (command.type === 'import-trajectories') {
        if (active) return complain(S.runs.import.blocked)
        reading = true
        overtaken = false
      } else if (BEGINS.includes(command.type)) overtaken = reading
      port.send(command)
    },
    onMessage: (listener) => void listeners.push(listener),
  }
}
