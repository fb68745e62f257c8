/** The typed OpenEnv environments that we know: which tool a policy is given, and which action a call of it becomes. */

import type { JsonSchema, Tool, ToolCall } from '../../core/tools'
import type { ObservationFrame } from './protocol'

/** What discovery could find out about a typed action. */
export interface ActionFacts {
  /** Required fields, sorted. */
  required: readonly string[]
  /** Values a field allows, where the server tells. */
  choices: Readonly<Record<string, readonly string[]>>
  /** JSON type of a field ('integer', 'string' ...), where the server tells. */
  types: Readonly<Record<string, string>>
  /** Title of the action's schema, e.g. EchoAction; '' when /schema could not be read. */
  title: string
  /** Game that the server says it plays (OpenSpiel, Atari), else ''. */
  game: string
}

export interface KnownEnvironment {
  name: string
  tool: Tool
  prompts: { system: string; user: string }
  toAction: (call: ToolCall) => Record<string, unknown>
  /** Better text than the observation's fields; null = use them. */
  text?: (frame: ObservationFrame) => string | null
  /** What a panel draws; null = the observation's fields. `start` is the text after reset. */
  scene?: (text: string, start: string) => unknown
}

interface Entry extends Omit<KnownEnvironment, 'toAction'> {
  required: string
  toAction?: KnownEnvironment['toAction']
  /** Narrows where several environments require the same field. */
  suits?: (facts: ActionFacts) => boolean
}

function tool(name: string, description: string, properties: Record<string, JsonSchema>): Tool {
  return {
    type: 'function',
    function: { name, description, parameters: { type: 'object', properties, required: Object.keys(properties) } },
  }
}

const MOVES = ['left', 'stay', 'right']
const text = (description: string): JsonSchema => ({ type: 'string', description })

/** OpenSpiel's catch as [10 rows × 5 columns] of 0 and 1, the paddle in the last row, in our own catch's words. */
function openspielCatchText({ observation }: ObservationFrame): string | null {
  const cells = observation['info_state']
  if (!Array.isArray(cells) || cells.length !== 50) return null
  const ball = cells.slice(0, 45).indexOf(1)
  const paddle = cells.slice(45).indexOf(1)
  if (paddle < 0) return null
  const column = (index: number) => 'abcde'.charAt(index)
  // When the ball has landed it lies in the paddle's row.
  if (ball < 0) return `height 0, paddle ${column(paddle)}`
  return `height ${9 - Math.floor(ball / 5)}, ball ${column(ball % 5)}, paddle ${column(paddle)}`
}

/** The same scene as the built-in catch, read from `height 6, ball f, paddle e`. */
function catchScene(columns: string) {
  const read = (line: string) => /height (\d+), ball ([a-f]), paddle ([a-f])/.exec(line)
  return (line: string, start: string): unknown => {
    const [, height, ball, paddle] = read(line) ?? []
    if (height === undefined || ball === undefined || paddle === undefined) return null
    const caught = height === '0' ? ball === paddle : null
    const rows = Number(read(start)?.[1] ?? height)
    return {
      kind: 'catch',
      columns: columns.length,
      rows,
      height: Number(height),
      ball: columns.indexOf(ball),
      paddle: columns.indexOf(paddle),
      caught,
    }
  }
}

const moveTool = tool('move', 'Move the paddle under the ball.', { to: { type: 'string', enum: MOVES } })
const isInteger = (facts: ActionFacts, field: string) => facts.types[field] === 'integer'

/** First match wins. */
const KNOWN: readonly Entry[] = [
  {
    name: 'catch',
    required: 'to',
    suits: ({ choices }) => choices['to'] === undefined || MOVES.every((move) => choices['to']?.includes(move)),
    tool: moveTool,
    prompts: { system: 'Catch the ball.', user: '' },
    scene: catchScene('abcdef'),
  },
  {
    name: 'catch (OpenSpiel)',
    required: 'action_id',
    suits: ({ game }) => game === 'catch',
    tool: moveTool,
    prompts: { system: 'Catch the ball.', user: '' },
    toAction: (call) => ({ action_id: MOVES.indexOf(String(call.arguments['to'])) }),
    text: openspielCatchText,
    scene: catchScene('abcde'),
  },
  {
    name: 'echo (typed)',
    required: 'message',
    suits: ({ title }) => /echo/i.test(title),
    tool: tool('echo_message', 'Echo back the provided message.', { message: { type: 'string' } }),
    prompts: { system: 'Echo the message.', user: '' },
  },
  {
    name: 'text game',
    required: 'message',
    tool: tool('send_message', 'Say something to the environment.', { message: text('What to say, e.g. [crane] in Wordle') }),
    prompts: { system: '', user: '' },
  },
  {
    name: 'grid world',
    required: 'action',
    suits: ({ choices }) => choices['action']?.includes('UP') === true,
    tool: tool('move', 'Move one cell towards the goal.', { action: { type: 'string', enum: ['UP', 'DOWN', 'LEFT', 'RIGHT'] } }),
    prompts: { system: 'Reach the goal.', user: '' },
  },
  {
    name: 'connect four',
    required: 'column',
    suits: (facts) => facts.types['column'] === undefined || isInteger(facts, 'column'),
    tool: tool('drop', 'Drop a piece into a column.', { column: { type: 'integer', enum: [0, 1, 2, 3, 4, 5, 6] } }),
    prompts: { system: 'Connect four pieces.', user: '' },
  },
  {
    name: 'chess',
    required: 'move',
    suits: (facts) => !isInteger(facts, 'move'),
    tool: tool('move', 'Make a chess move.', { move: text('In UCI notation, e.g. e2e4') }),
    prompts: { system: 'Win the game of chess.', user: '' },
  },
  {
    name: 'reasoning gym',
    required: 'answer',
    tool: tool('answer', 'Give the answer.', { answer: text('The final answer') }),
    prompts: { system: 'Answer the question.', user: '' },
  },
  {
    name: 'coding',
    required: 'code',
    tool: tool('run', 'Run Python code.', { code: text('Python source') }),
    prompts: { system: '', user: '' },
  },
  {
    name: 'browser',
    required: 'action_str',
    tool: tool('act', 'Do something in the browser.', { action_str: text("e.g. click('13')") }),
    prompts: { system: '', user: '' },
  },
]

/** The known environment whose action these facts fit, or null. */
export function findKnown(facts: ActionFacts): KnownEnvironment | null {
  const entry = KNOWN.find(({ required, suits }) => facts.required.join() === required && (suits?.(facts) ?? true))
  return entry ? { ...entry, toAction: entry.toAction ?? ((call) => call.arguments) } : null
}

/** Why a call does not fit a tool's schema, one sentence for the policy, or null. Spares sessions that die of a refused action. */
export function refusal(known: Tool, call: ToolCall): string | null {
  const { name, parameters } = known.function
  if (call.name !== name) return `Error: no tool ${call.name}.`
  for (const [key, schema] of Object.entries(parameters.properties ?? {})) {
    if (!Object.hasOwn(call.arguments, key)) return `Error: ${key} is missing.`
    const value = call.arguments[key]
    if (schema.enum && !schema.enum.some((choice) => choice === value)) return `Error: ${key} must be ${schema.enum.join(' or ')}.`
    if (!schema.enum && typeof value !== schema.type) return `Error: ${key} must be a ${schema.type}.`
  }
  const extra = Object.keys(call.arguments).find((key) => !Object.hasOwn(parameters.properties ?? {}, key))
  return extra === undefined ? null : `Error: no argument ${extra}.`
}
