/** Scripts that play the official environments, one for each recording, and how the server was started where that matters. */

import { breakoutButton, engineMove, grid, numbers, snakeTurn, sudokuMove, wayOut, wordleGuess } from './official-solvers'
import { call, type Player, type Seen } from './record-episode'

/** `how`: settings other than the server's own. */
const official = (what: string, how = '', library = '0.10.0'): string => `The official ${what} of July 2026 on the openenv ${library} library${how}.`

/** Calls in this order, then no more. */
const inOrder =
  (...calls: ReturnType<typeof call>[]) =>
  ({ turn }: Seen) =>
    calls[turn] ?? null

/** Legs by Reasoning Gym's own count, where they are not four. */
const LEGS: Readonly<Record<string, number>> = { 'sea slug': 0 }
/** What the library says twice. */
const TEXTARENA = { leaveOut: ['metadata.raw_messages'] } as const

export const PLAYERS: Readonly<Record<string, Player>> = {
  grid_world: {
    file: 'grid-world',
    entry: 'grid_world',
    server: official('grid world'),
    player: 'A script that goes down four times and right four times.',
    next: ({ turn }) => call('move', { direction: turn < 4 ? 'DOWN' : 'RIGHT' }),
  },
  maze: {
    file: 'maze',
    entry: 'maze',
    server: official('maze'),
    player: 'A script that takes the shortest way.',
    next: ({ fields, metadata }) => {
      const [at, to] = [numbers(fields['current_position']), numbers(metadata['exit_cell'])]
      return call('move', { direction: wayOut(grid(metadata['maze']), [at[0] ?? 0, at[1] ?? 0], [to[0] ?? 0, to[1] ?? 0]) })
    },
  },
  connect4: {
    file: 'connect4',
    entry: 'connect4',
    server: official('Connect Four'),
    player: 'A script that piles up column 3; the page’s own random moves answer it.',
    next: () => call('drop', { column: 3 }),
  },
  chess: {
    file: 'chess',
    entry: 'chess',
    server: official('chess environment with its moonfish engine'),
    player: 'A script that tries one illegal move, then asks Stockfish.',
    turns: 60,
    next: async ({ fields, turn }) => call('move', { move: turn === 0 ? 'e2e5' : await engineMove(String(fields['fen'])) }),
  },
  wildfire: {
    file: 'wildfire',
    entry: 'wildfire',
    server: official('wildfire'),
    player: 'A script that pours water on the first cell that burns.',
    next: ({ fields }) => {
      const at = numbers(fields['grid']).indexOf(2)
      const width = Number(fields['width'])
      return at < 0 ? call('wait') : call('water', { x: at % width, y: Math.floor(at / width) })
    },
  },
  snake: {
    file: 'snake',
    entry: 'snake',
    server: official('snake', '; its one-hot copies of the grid are left out of the recording'),
    player: 'A script that steers for the food and, once fed, straight on.',
    turns: 38,
    leaveOut: ['observation', 'metadata.info'],
    next: ({ fields }) => {
      const turn = Number(fields['episode_score']) > 0.9 ? null : snakeTurn(grid(fields['grid']))
      return turn === null ? call('go_on') : call('turn', { direction: turn })
    },
  },
  atari: {
    file: 'atari',
    entry: 'atari',
    server: official('Atari environment', ', playing Breakout at 8 frames a step; each screen of 100,800 numbers is kept as a PNG'),
    player: 'A script that serves and walks under the ball.',
    turns: 36,
    next: ({ fields, turn }) => call('press', { action: breakoutButton(numbers(fields['screen']), turn) }),
  },
  'openspiel-catch': {
    file: 'openspiel-catch',
    entry: 'openspiel-catch',
    server: official('OpenSpiel environment'),
    player: 'A script that walks under the ball.',
    next: ({ said }) => {
      const side = /to the (left|right)/.exec(said.at(-1) ?? '')?.[1]
      return side === undefined ? call('stay') : call('move', { direction: side })
    },
  },
  openspiel: {
    file: 'openspiel',
    entry: 'openspiel',
    server: official('OpenSpiel environment', ', playing tic_tac_toe against random moves'),
    player: 'A script that takes the first free cell.',
    next: ({ fields }) => call('play', { action: numbers(fields['legal_actions'])[0] ?? 0 }),
  },
  echo: {
    file: 'echo',
    entry: 'echo',
    server: official('echo'),
    player: 'A script that calls both tools.',
    next: inOrder(call('echo_message', { message: 'lake' }), call('echo_with_length', { message: 'lake' })),
  },
  wordle: {
    ...TEXTARENA,
    file: 'wordle',
    entry: 'wordle',
    server: official('TextArena environment', ', playing Wordle-v0; what it says twice is left out of the recording'),
    player: 'A script that tries one word that is none, then words of Basic English that fit the marks.',
    next: ({ said, turn }) => call('guess', { guess: turn === 0 ? 'zzzzz' : wordleGuess(said.join('\n')) }),
  },
  sudoku: {
    ...TEXTARENA,
    file: 'sudoku',
    entry: 'sudoku',
    server: official('TextArena environment', ', playing Sudoku-v0-very-easy; what it says twice is left out of the recording'),
    player: 'A script that fills in cells that only one number fits.',
    next: ({ said }) => {
      const move = sudokuMove(said.join('\n'))
      return move === null ? null : call('place', move)
    },
  },
  textarena: {
    ...TEXTARENA,
    file: 'hangman',
    entry: 'textarena',
    server: official('TextArena environment', ', playing Hangman-v0; what it says twice is left out of the recording'),
    player: 'A script that guesses letters in the order in which English uses them.',
    next: ({ turn }) => call('send_message', { message: `[${'etaoinsrhldcumfpgwybvkxjqz'[turn]}]` }),
  },
  reasoning_gym: {
    file: 'reasoning-gym',
    entry: 'reasoning_gym',
    server: official('Reasoning Gym environment', ', with its leg_counting'),
    player: 'A script that counts legs.',
    next: ({ said }) => {
      const animals = [...(said[0] ?? '').matchAll(/(\d+) ([a-z ]+?)s?(?=[,?])/g)]
      return call('answer', { answer: String(animals.reduce((sum, [, count, animal = '']) => sum + Number(count) * (LEGS[animal] ?? 4), 0)) })
    },
  },
  sophistry: {
    file: 'sophistry',
    entry: 'sophistry_bench_sprint',
    server: official('Sophistry bench'),
    player: 'A script that claims the answer and cites the passage’s beginning.',
    next: ({ fields }) => {
      const passage = /PASSAGE:\n([^]*)/.exec(String(fields['prompt']))?.[1] ?? ''
      const [cite = ''] = /[A-Z][\w ,]{40,}\./.exec(passage.replace(/\s+/g, ' ')) ?? []
      return call('answer', { text: `<claim>${String(fields['answer_to_defend'])}</claim><cite>${cite}</cite>` })
    },
  },
  coding: {
    file: 'coding',
    entry: 'coding',
    server: official('coding environment'),
    player: 'A script that keeps a variable, then makes three mistakes.',
    next: inOrder(
      call('run', { code: 'x = 6 * 7\nprint(x)' }),
      call('run', { code: 'print(x + 1)' }),
      call('run', { code: 'print(1 / 0)' }),
      call('run', { code: 'print(' }),
      call('run', { code: 'import os\nprint(os.getcwd())' }),
    ),
  },
  repl: {
    file: 'repl',
    entry: 'repl',
    server: official('REPL'),
    player: 'A script that reckons, makes a mistake and answers.',
    next: inOrder(call('run', { code: 'x = sum(range(10))\nprint(x)' }), call('run', { code: 'print(1 / 0)' }), call('finish', { answer: '45' })),
  },
  finqa: {
    file: 'finqa',
    entry: 'finqa',
    server: official('FinQA', ', with one table and one question of ours in place of its data set'),
    player: 'A script that looks the numbers up and subtracts them.',
    next: inOrder(
      call('get_descriptions', { company_name: 'acme' }),
      call('get_table_info', { company_name: 'acme', table_name: 'acme_income' }),
      call('sql_query', { company_name: 'acme', table_name: 'acme_income', query: "SELECT y2023, y2024 FROM acme_income WHERE item = 'Net sales'" }),
      call('submit_answer', { answer: '300' }),
    ),
  },
  dm_control: {
    file: 'dm-control',
    entry: 'dm_control',
    server: official('DeepMind Control environment', ', with its cartpole-balance'),
    player: 'A script that pushes the cart under the pole.',
    next: ({ fields }) => {
      const { position = [], velocity = [] } = (fields['observations'] ?? {}) as { position?: number[]; velocity?: number[] }
      return call('act', { values: [Math.max(-1, Math.min(1, 8 * (position[2] ?? 0) + (velocity[1] ?? 0)))] })
    },
  },
  sumo: {
    file: 'sumo',
    entry: 'sumo_rl',
    server: official('SUMO environment', ', for 60 seconds of traffic', '0.3.1'),
    player: 'A script that changes the light every ten seconds.',
    next: ({ turn }) => call('set_phase', { phase: Math.floor(turn / 2) % 2 }),
  },
  browsergym: {
    file: 'browsergym',
    entry: 'browsergym',
    server: official('BrowserGym environment', ', with MiniWoB’s click-test; each screenshot of 12 MB is kept as a small PNG'),
    player: 'A script that looks, then clicks the button.',
    next: ({ said, turn }) => (turn === 0 ? call('noop') : call('click', { bid: /\[(\d+)\] button/.exec(said.at(-1) ?? '')?.[1] ?? '13' })),
  },
}
