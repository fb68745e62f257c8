/** Board games, arcade games and grids. */

import type { ObservationFrame } from '../protocol'
import { boardRows, boardText, foldRows } from '../boards'
import { argument, choice, constant, entry, integer, named, SEED_IGNORED, text, tool, type Entry } from './entry'

const MOVES = ['left', 'stay', 'right']

/** The same scene as the built-in catch, read from `height 6, ball f, paddle e`. */
function catchScene(_: ObservationFrame, line: string, start: string): unknown {
  const columns = 'abcdef'
  const read = (said: string) => /height (\d+), ball ([a-f]), paddle ([a-f])/.exec(said)
  const [, height, ball, paddle] = read(line) ?? []
  if (height === undefined || ball === undefined || paddle === undefined) return null
  const caught = height === '0' ? ball === paddle : null
  const rows = Number(read(start)?.[1] ?? height)
  return { kind: 'catch', columns: 6, rows, height: Number(height), ball: columns.indexOf(ball), paddle: columns.indexOf(paddle), caught }
}

/** OpenSpiel's catch: [10 rows × 5 columns] of 0 and 1, the paddle in the last row. Null when it is not that. */
function openspielCatch({
  observation,
  done,
  reward,
}: ObservationFrame): { row: number; ball: number; paddle: number; caught: boolean | null } | null {
  const cells = observation['info_state']
  if (!Array.isArray(cells) || cells.length !== 50) return null
  const lit = (cells as unknown[]).flatMap((cell, at) => (cell === 1 ? [at] : []))
  const falling = lit.find((at) => at < 45)
  const below = lit.filter((at) => at >= 45).map((at) => at - 45)
  const paddle = below[0]
  if (paddle === undefined || lit.length > 2) return null
  if (falling !== undefined) return { row: Math.floor(falling / 5), ball: falling % 5, paddle, caught: null }
  // Landed: one cell is ball and paddle at once; of two, nothing says which is which.
  return { row: 9, ball: below.at(-1) as number, paddle, caught: done && reward !== null ? reward > 0 : null }
}

function openspielCatchText(frame: ObservationFrame): string | null {
  const seen = openspielCatch(frame)
  if (seen === null) return null
  const { row, ball, paddle, caught } = seen
  if (row === 9) return caught === null ? 'The ball has landed.' : `The ball has landed: ${caught ? 'caught' : 'missed'}.`
  const off = ball - paddle
  const side =
    off === 0 ? 'above the paddle' : `${Math.abs(off)} column${Math.abs(off) > 1 ? 's' : ''} to the ${off < 0 ? 'left' : 'right'}`
  return `Ball: row ${row + 1} of 10, column ${ball + 1} of 5. Paddle: column ${paddle + 1}. The ball is ${side}.`
}

function openspielCatchScene(frame: ObservationFrame): unknown {
  const seen = openspielCatch(frame)
  return seen && { kind: 'catch', columns: 5, rows: 9, height: 9 - seen.row, ball: seen.ball, paddle: seen.paddle, caught: seen.caught }
}

function connect4Text({ observation }: ObservationFrame): string | null {
  const cells = boardRows(observation['board'])
  if (cells === null) return null
  const board = boardText(cells, { '0': '.', '1': 'X', '-1': 'O' })
  const legal = observation['legal_actions']
  return Array.isArray(legal) ? `${board}\nOpen columns: ${legal.join(', ')}` : board
}

function chessText({ observation }: ObservationFrame): string | null {
  const { fen, legal_moves, is_check, result } = observation
  if (typeof fen !== 'string') return null
  const lines = [`Board (FEN): ${fen}`, `To move: ${fen.split(' ')[1] === 'b' ? 'black' : 'white'}${is_check === true ? ', in check' : ''}`]
  if (Array.isArray(legal_moves)) lines.push(`Legal moves: ${legal_moves.join(' ')}`)
  if (typeof result === 'string' && result !== '') lines.push(`Result: ${result}`)
  return lines.join('\n')
}

function wildfireText({ observation }: ObservationFrame): string | null {
  const { grid, ...rest } = observation
  const cells = foldRows(grid, observation['width'], observation['height'])
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
  return cells === null ? null : `${boardText(cells)}\n${JSON.stringify(given)}`
}

const isInteger = (type: string | undefined) => type === 'integer'

export const GAMES: readonly Entry[] = [
  entry({
    id: 'catch',
    title: 'Catch (our own server)',
    evidence: 'played',
    required: 'to',
    suits: ({ choices }) => choices['to'] === undefined || MOVES.every((move) => choices['to']?.includes(move)),
    tools: [
      { tool: tool('move', 'Move the paddle under the ball.', { to: { type: 'string', enum: MOVES } }), fields: { to: argument('to') } },
    ],
    prompts: { system: 'Catch the ball.', user: '' },
    observation: 'Its field text: height of the ball, columns of ball and paddle.',
    scene: catchScene,
    sessions: null,
    recording: 'environments/catch.json',
  }),
  entry({
    id: 'openspiel-catch',
    title: 'Catch (OpenSpiel)',
    required: 'action_id',
    suits: ({ game }) => game === 'catch',
    tools: [
      {
        tool: tool('move', 'Move the paddle one column.', { direction: choice('Where to move', ['left', 'right']) }),
        fields: { action_id: argument('direction', { left: 0, right: 2 }) },
      },
      { tool: tool('stay', 'Leave the paddle where it is.', {}), fields: { action_id: constant(1) } },
    ],
    prompts: {
      system: '',
      user:
        'A ball falls over a grid of 10 rows and 5 columns. ' +
        'Move the paddle in the last row so that it is under the ball when it lands. Call one tool a turn.\n\n',
    },
    observation: 'The 10 by 5 grid in words: rows and columns of ball and paddle, and on which side the ball is.',
    text: openspielCatchText,
    scene: openspielCatchScene,
    reward: { take: 'sum', floor: 0, successAt: 1 },
    quirks: [SEED_IGNORED],
    notes: ['The environment gives -1 for a miss; as in TRL’s example it counts as 0.'],
    sessions: 8,
    hosts: ['openenv-openspiel-env.hf.space'],
  }),
  entry({
    id: 'atari',
    title: 'Atari',
    required: 'action_id',
    suits: (facts) => facts.stateFields.includes('obs_type') || (facts.fields !== null && 'obs_type' in facts.fields),
    tools: [
      {
        tool: tool('press', 'Press a button of the game.', { action: integer('One of legal_actions', 0) }),
        fields: { action_id: argument('action') },
      },
    ],
    observation: 'JSON; the screen, a flat list of bytes, is drawn for you and is a placeholder to a text-only model.',
    quirks: [SEED_IGNORED, { kind: 'large-frames', text: 'A colour screen is a list of 100,800 numbers at every step.' }],
    notes: ['A text-only model cannot see the screen: it plays blind.'],
  }),
  entry({
    id: 'openspiel',
    title: 'Game of OpenSpiel',
    required: 'action_id',
    tools: [
      { tool: tool('play', 'Make a move.', { action: integer('One of legal_actions', 0) }), fields: { action_id: argument('action') } },
    ],
    prompts: { system: 'Play the game. Choose one of legal_actions at every turn.', user: '' },
    observation: 'JSON: info_state (numbers), legal_actions, game_phase, the opponent’s last move.',
    quirks: [SEED_IGNORED],
    notes: ['The server plays the opponents.', 'What the numbers of info_state mean depends on the game: describe it in the prompt.'],
    sessions: 8,
    hosts: ['openenv-openspiel-env.hf.space'],
  }),
  entry({
    id: 'connect4',
    title: 'Connect Four',
    required: 'column',
    suits: ({ types }) => types['column'] === undefined || isInteger(types['column']),
    tools: [
      {
        tool: tool('drop', 'Drop a piece into a column.', { column: choice('Column, 0 is on the left', [0, 1, 2, 3, 4, 5, 6]) }),
        fields: { column: argument('column') },
      },
    ],
    prompts: { system: 'Play Connect Four: connect four of your pieces in a row, a column or a diagonal.', user: '' },
    observation: 'The board as six lines of X, O and dots, and the open columns.',
    text: connect4Text,
    quirks: [
      {
        kind: 'no-opponent',
        field: 'column',
        legal: 'legal_actions',
        text:
          'The server has no opponent: this page answers with a random legal move that the episode’s seed fixes, ' +
          'and what that move wins, the model loses.',
      },
    ],
    notes: ['An illegal column ends the game with -1.', 'The official client has played it on the real server; this page has not.'],
  }),
  entry({
    id: 'chess',
    title: 'Chess',
    required: 'move',
    suits: ({ types, choices }) => !isInteger(types['move']) && choices['move'] === undefined,
    tools: [
      {
        tool: tool('move', 'Make a chess move.', { move: text('In UCI notation, e.g. e2e4 or e7e8q') }),
        fields: { move: argument('move') },
      },
    ],
    prompts: { system: 'Win the game of chess. Your colour is the side to move.', user: '' },
    observation: 'FEN, the side to move, and the legal moves.',
    text: chessText,
    reward: { take: 'sum', successAt: 0.5 },
    notes: ['An illegal move costs 0.1 and changes nothing.', 'An engine answers; colours are drawn by chance.'],
  }),
  entry({
    id: 'grid_world',
    title: 'Grid world',
    required: 'action',
    suits: ({ choices }) => choices['action']?.includes('UP') === true,
    tools: [
      {
        tool: tool('move', 'Move one cell towards the goal.', { direction: choice('Where to go', ['UP', 'DOWN', 'LEFT', 'RIGHT']) }),
        fields: { action: argument('direction') },
      },
    ],
    prompts: { system: 'Reach the goal in few moves.', user: '' },
    observation: 'JSON: x, y and a message.',
    reward: { take: 'sum', successAt: 0.05 },
    quirks: [SEED_IGNORED],
    notes: ['Each move costs 0.1 and the goal brings 1, so an episode of more than nine moves does not count as solved.'],
  }),
  entry({
    id: 'wildfire',
    title: 'Wildfire',
    required: null,
    suits: ({ required, choices, names, title }) =>
      required.includes('action') &&
      (choices['action']?.includes('water') === true || (/wildfire/i.test(names + title) && choices['action'] === undefined)),
    tools: [
      {
        tool: tool('water', 'Pour water on a cell.', { x: integer('Column', 0), y: integer('Row', 0) }),
        fields: { action: constant('water'), x: argument('x'), y: argument('y') },
      },
      {
        tool: tool('firebreak', 'Clear a cell so that fire cannot cross it.', { x: integer('Column', 0), y: integer('Row', 0) }),
        fields: { action: constant('break'), x: argument('x'), y: argument('y') },
      },
      { tool: tool('wait', 'Do nothing this turn.', {}), fields: { action: constant('wait') } },
    ],
    prompts: { system: 'Keep the fire from spreading.', user: '' },
    observation: 'The grid as lines of numbers where width and height are told, and the other fields as JSON.',
    text: wildfireText,
  }),
  entry({
    id: 'snake',
    title: 'Snake',
    required: 'action',
    suits: (facts) => facts.choices['action'] === undefined && named(/snake/i)(facts),
    tools: [
      {
        tool: tool('turn', 'Turn the snake.', { direction: choice('Which way', ['left', 'right']) }),
        fields: { action: argument('direction', { left: 1, right: 2 }) },
      },
      { tool: tool('go_on', 'Keep going straight on.', {}), fields: { action: constant(0) } },
    ],
    prompts: { system: 'Steer the snake to the food.', user: '' },
    observation: 'The grid as lines of numbers, the rest as JSON.',
    quirks: [SEED_IGNORED],
  }),
  entry({
    id: 'maze',
    title: 'Maze',
    required: 'action',
    suits: (facts) => facts.choices['action'] === undefined && named(/maze/i)(facts),
    tools: [
      {
        tool: tool('move', 'Move through the maze.', { action: integer('One of legal_actions', 0) }),
        fields: { action: argument('action') },
      },
    ],
    prompts: { system: 'Find the way out of the maze. Choose one of legal_actions at every turn.', user: '' },
    observation: 'JSON: positions and legal_actions.',
    notes: ['The official client has played it on the real server; this page has not.'],
  }),
]
