/** Board games, arcade games and grids. */

import type { ObservationFrame } from '../protocol'
import { boardRows, boardText, foldRows } from '../boards'
import { withRest } from './rest'
import { argument, choice, constant, entry, integer, SEED_IGNORED, text, tool, type Entry } from './entry'

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

/** The grid, what burns as `column,row`, wind and what is left. `reward_hint` is the reward itself and is not told. */
function wildfireText({ observation }: ObservationFrame): string | null {
  const { grid, width, height, wind_dir, remaining_water, remaining_breaks } = observation
  const cells = foldRows(grid, width, height)
  if (cells === null || !Array.isArray(grid) || typeof width !== 'number') return null
  const burning = (grid as unknown[]).flatMap((cell, at) => (cell === 2 ? [`${at % width},${Math.floor(at / width)}`] : []))
  return [
    boardText(cells),
    `Burning (column,row): ${burning.join(' ') || 'nothing'}`,
    `Wind: ${String(wind_dir)}. Water left: ${String(remaining_water)}. Firebreaks left: ${String(remaining_breaks)}.`,
  ].join('\n')
}

/** Wildfire's fields, most of which are shown otherwise or are the grid's own. */
const WILDFIRE = 'grid width height step wind_dir humidity burning_count burned_count reward_hint remaining_water remaining_breaks'.split(' ')
const SNAKE = { '0': '.', '1': '#', '2': '*', '3': 'O', '4': 'o', '5': 'o' }

/** The grid; the same once more as numbers between 0 and 1, 3,200 of them, is left out. */
function snakeText({ observation }: ObservationFrame): string | null {
  const cells = boardRows(observation['grid'])
  if (cells === null) return null
  return `${boardText(cells, SNAKE)}${observation['alive'] === false ? '\nThe snake is dead.' : ''}`
}

const MAZE_MOVES: Readonly<Record<string, number>> = { up: 0, down: 1, left: 2, right: 3 }
const isPair = (value: unknown): value is [number, number] => Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === 'number')

/** Where one is, which ways are open, and the maze itself where the server tells metadata (OpenEnv newer than 0.3.1). */
function mazeText({ observation, metadata }: ObservationFrame): string | null {
  const { current_position: at, legal_actions: open } = observation
  if (!isPair(at) || !Array.isArray(open)) return null
  const ways = Object.keys(MAZE_MOVES).filter((way) => open.includes(MAZE_MOVES[way]))
  const lines = [`You are at column ${at[0]}, row ${at[1]}.${ways.length > 0 ? ` Open: ${ways.join(', ')}.` : ''}`]
  const exit = metadata['exit_cell']
  if (isPair(exit)) lines[0] += exit.every((each, i) => each === at[i]) ? ' This is the exit.' : ` The exit is at column ${exit[0]}, row ${exit[1]}.`
  const walls = boardRows(metadata['maze'])
  if (walls !== null) {
    const marked = walls.map((row, y) => row.map((cell, x) => (x === at[0] && y === at[1] ? '@' : isPair(exit) && x === exit[0] && y === exit[1] ? 'E' : cell)))
    lines.push(boardText(marked, { '0': '.', '1': '#' }))
  }
  return lines.join('\n')
}

/** By which every game of OpenSpiel is known. */
const OPENSPIEL = {
  action: { action_id: { type: 'integer' } },
  titles: ['OpenSpielAction'],
  marks: ['game_name', 'agent_player', 'opponent_policy'],
  called: ['openspiel'],
} as const

export const GAMES: readonly Entry[] = [
  entry({
    id: 'catch',
    title: 'Catch (our own server)',
    evidence: 'played',
    required: 'to',
    action: { to: { exactly: MOVES } },
    titles: ['CatchAction'],
    isRare: true,
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
    ...OPENSPIEL,
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
    text: withRest(openspielCatchText, ['info_state', 'legal_actions', 'game_phase', 'current_player_id', 'opponent_last_action']),
    scene: openspielCatchScene,
    reward: { take: 'sum', floor: 0, successAt: 1 },
    quirks: [SEED_IGNORED],
    notes: ['The environment gives -1 for a miss; as in TRL’s example it counts as 0.'],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/openspiel-catch.json',
    hosts: ['openenv-openspiel-env.hf.space'],
  }),
  entry({
    id: 'atari',
    title: 'Atari',
    required: 'action_id',
    action: { action_id: { type: 'integer' } },
    titles: ['AtariAction'],
    marks: ['game_name', 'obs_type'],
    called: ['atari'],
    tools: [
      {
        tool: tool('press', 'Press a button of the game.', { action: integer('One of legal_actions', 0) }),
        fields: { action_id: argument('action') },
      },
    ],
    observation: 'JSON; the screen, a flat list of bytes, is drawn for you and is a placeholder to a text-only model.',
    quirks: [SEED_IGNORED, { kind: 'large-frames', text: 'A colour screen is a list of 100,800 numbers at every step.' }],
    notes: ['A text-only model cannot see the screen: it plays blind.', 'What the buttons do is told in the metadata of newer servers, action_meanings.'],
    evidence: 'played',
    recording: 'environments/atari.json',
  }),
  entry({
    id: 'openspiel',
    title: 'Game of OpenSpiel',
    required: 'action_id',
    ...OPENSPIEL,
    tools: [
      { tool: tool('play', 'Make a move.', { action: integer('One of legal_actions', 0) }), fields: { action_id: argument('action') } },
    ],
    prompts: { system: 'Play the game. Choose one of legal_actions at every turn.', user: '' },
    observation: 'JSON: info_state (numbers), legal_actions, game_phase, the opponent’s last move.',
    quirks: [SEED_IGNORED],
    notes: ['The server plays the opponents.', 'What the numbers of info_state mean depends on the game: describe it in the prompt.'],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/openspiel.json',
    hosts: ['openenv-openspiel-env.hf.space'],
  }),
  entry({
    id: 'connect4',
    title: 'Connect Four',
    required: 'column',
    action: { column: { type: 'integer' } },
    titles: ['Connect4Action'],
    marks: ['board', 'next_player'],
    called: ['connect4', 'connectfour'],
    tools: [
      {
        tool: tool('drop', 'Drop a piece into a column.', { column: choice('Column, 0 is on the left', [0, 1, 2, 3, 4, 5, 6]) }),
        fields: { column: argument('column') },
      },
    ],
    prompts: { system: 'Play Connect Four: connect four of your pieces in a row, a column or a diagonal.', user: '' },
    observation: 'The board as six lines of X, O and dots, and the open columns.',
    text: withRest(connect4Text, ['board', 'legal_actions', 'next_player']),
    quirks: [
      {
        kind: 'no-opponent',
        field: 'column',
        legal: 'legal_actions',
        turn: { field: 'next_player', own: 1 },
        text:
          'The server has no opponent: this page answers with a random legal move that the episode’s seed fixes, ' +
          'and what that move wins, the model loses.',
      },
    ],
    notes: ['An illegal column ends the game with -1.'],
    evidence: 'played',
    recording: 'environments/connect4.json',
  }),
  entry({
    id: 'chess',
    title: 'Chess',
    required: 'move',
    action: { move: { type: 'string' } },
    titles: ['ChessAction'],
    marks: ['fen', 'current_player', 'move_history'],
    called: ['chess'],
    tools: [
      {
        tool: tool('move', 'Make a chess move.', { move: text('In UCI notation, e.g. e2e4 or e7e8q') }),
        fields: { move: argument('move') },
      },
    ],
    prompts: { system: 'Win the game of chess. Your colour is the side to move.', user: '' },
    observation: 'FEN, the side to move, and the legal moves.',
    text: withRest(chessText, ['fen', 'legal_moves', 'is_check', 'result']),
    reward: { take: 'sum', successAt: 0.5 },
    quirks: [{ kind: 'seed-ignored', text: 'Colours are drawn by chance whatever the seed, so the members of a group may play different sides.' }],
    notes: ['An illegal move costs 0.1 and changes nothing.', 'An engine answers.'],
    evidence: 'played',
    recording: 'environments/chess.json',
  }),
  entry({
    id: 'grid_world',
    title: 'Grid world',
    required: 'action',
    action: { action: { exactly: ['UP', 'DOWN', 'LEFT', 'RIGHT'] } },
    titles: ['GridWorldAction'],
    called: ['gridworld'],
    tools: [
      {
        tool: tool('move', 'Move one cell towards the goal.', { direction: choice('DOWN raises x, RIGHT raises y, UP and LEFT lower them', ['UP', 'DOWN', 'LEFT', 'RIGHT']) }),
        fields: { action: argument('direction') },
      },
    ],
    prompts: { system: 'Reach the goal in few moves.', user: '' },
    observation: 'JSON: x, y and a message.',
    reward: { take: 'sum', successAt: 0.05 },
    quirks: [SEED_IGNORED],
    notes: [
      'Each move before the last costs 0.1 and the goal brings 1, so an episode of more than ten moves does not count as solved.',
      'Start and goal are always the same.',
    ],
    evidence: 'played',
    recording: 'environments/grid-world.json',
  }),
  entry({
    id: 'wildfire',
    title: 'Wildfire',
    required: 'action',
    action: { action: { type: 'string', exactly: ['break', 'water', 'wait'] } },
    titles: ['WildfireAction'],
    marks: ['burn_timers'],
    called: ['wildfire'],
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
    prompts: {
      system:
        'Put out the fire before it spreads. Columns and rows of the grid are counted from 0. ' +
        '0 is burnt, 1 can burn, 2 burns, 3 is a firebreak, 4 is wet.',
      user: '',
    },
    observation: 'The grid as lines of numbers, the cells that burn, the wind, and what is left of water and firebreaks.',
    text: withRest(wildfireText, WILDFIRE),
    quirks: [{ kind: 'seed-ignored', text: 'The server takes no seed: the first episode of every session has the same fires, and this page opens a session for each.' }],
    notes: ['The field reward_hint, which is the reward, is not shown to the model.'],
    evidence: 'played',
    recording: 'environments/wildfire.json',
  }),
  entry({
    id: 'snake',
    title: 'Snake',
    required: 'action',
    action: { action: { type: 'integer' } },
    titles: ['SnakeAction'],
    called: ['snake'],
    tools: [
      {
        tool: tool('turn', 'Turn the snake.', { direction: choice('Which way', ['left', 'right']) }),
        fields: { action: argument('direction', { left: 1, right: 2 }) },
      },
      { tool: tool('go_on', 'Keep going straight on.', {}), fields: { action: constant(0) } },
    ],
    prompts: { system: 'Steer the snake to the food. O is its head, o its body, * the food, # a wall.', user: '' },
    observation: 'The grid as lines, and whether the snake is dead.',
    text: withRest(snakeText, ['grid', 'observation', 'episode_score', 'episode_steps', 'episode_fruits', 'episode_kills', 'alive']),
    quirks: [SEED_IGNORED],
    notes: ['Food brings 1, death -1, and every step 0.001. Its count of what was eaten, episode_fruits, stays 0.', 'It turns as the snake sees it: left of where it is heading.'],
    evidence: 'played',
    recording: 'environments/snake.json',
  }),
  entry({
    id: 'maze',
    title: 'Maze',
    required: 'action',
    action: { action: { type: 'integer' } },
    titles: ['MazeAction'],
    marks: ['current_position', 'exit_cell'],
    called: ['maze'],
    tools: [
      {
        tool: tool('move', 'Move one cell.', { direction: choice('Where to go', Object.keys(MAZE_MOVES)) }),
        fields: { action: argument('direction', MAZE_MOVES) },
      },
    ],
    prompts: { system: 'Find the way out of the maze. @ is you, E the exit, # a wall.', user: '' },
    observation: 'Where you are, which ways are open, and the maze as lines where the server tells it.',
    text: withRest(mazeText, ['legal_actions', 'current_position', 'previous_position']),
    quirks: [{ kind: 'seed-ignored', text: 'The maze is always the same, whatever the seed.' }],
    notes: [
      'A step costs 0.05, a cell seen before 0.25, a wall 0.75, and the exit brings 10; below -32 the game is lost.',
      'Servers up to 0.3.1 tell neither maze nor exit.',
    ],
    evidence: 'played',
    recording: 'environments/maze.json',
  }),
]
