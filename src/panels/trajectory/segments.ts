/** Splits an episode's tokens into its prompt and its turns, and these into what each side said. */

import type { LoggedToken } from '../../store/token-log'
import { S } from '../../ui/strings'

export interface Segment {
  /** null for the prompt, else the turn from 0. */
  turn: number | null
  /** [start, end) in the episode's tokens. */
  start: number
  end: number
}

/** The prompt, then one segment per turn. A new turn begins where the model writes again. */
export function segmentsOf(tokens: readonly LoggedToken[], promptLength: number): Segment[] {
  const segments: Segment[] = [{ turn: null, start: 0, end: Math.min(promptLength, tokens.length) }]
  let turn = -1
  for (let i = promptLength; i < tokens.length; i++) {
    const isModel = tokens[i]?.author === 'model'
    const wasModel = i > promptLength && tokens[i - 1]?.author === 'model'
    if (turn < 0 || (isModel && !wasModel && i > promptLength)) segments.push({ turn: ++turn, start: i, end: i + 1 })
    else (segments.at(-1) as Segment).end = i + 1
  }
  return segments
}

export type Role = keyof typeof S.trajectory.roles

/** What one side said. */
export interface Message {
  role: Role
  start: number
  end: number
}

/** The parts of a turn, the model's and the answer's; of the prompt, its messages as the chat template marks them. */
export function messagesOf(tokens: readonly LoggedToken[], { turn, start, end }: Segment): Message[] {
  return turn === null ? promptMessages(tokens, start, end) : turnMessages(tokens, start, end)
}

function turnMessages(tokens: readonly LoggedToken[], start: number, end: number): Message[] {
  let answer = start
  while (answer < end && tokens[answer]?.author === 'model') answer++
  const messages: Message[] = answer > start ? [{ role: 'model', start, end: answer }] : []
  const said = tokens.slice(answer, end).some((token) => token.author === 'environment')
  if (answer < end) messages.push({ role: said ? 'environment' : 'template', start: answer, end })
  return messages
}

const BEGINS = '<|im_start|>'
const isRole = (name: string): name is Role => Object.hasOwn(S.trajectory.roles, name)

function promptMessages(tokens: readonly LoggedToken[], start: number, end: number): Message[] {
  const messages: Message[] = []
  for (let i = start; i < end; i++) {
    const last = messages.at(-1)
    if (tokens[i]?.text === BEGINS) messages.push({ role: roleAfter(tokens, i + 1, end), start: i, end: i + 1 })
    else if (last) last.end = i + 1
    else messages.push({ role: tokens[i]?.author ?? 'template', start: i, end: i + 1 })
  }
  return messages
}

/** A role may be written in several tokens, up to the line's end. */
function roleAfter(tokens: readonly LoggedToken[], start: number, end: number): Role {
  let name = ''
  for (let i = start; i < Math.min(end, start + 6) && !name.includes('\n'); i++) name += tokens[i]?.text ?? ''
  const role = name.split('\n')[0]?.trim() ?? ''
  return isRole(role) ? role : 'template'
}
