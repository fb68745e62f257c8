/** How entries put observations into words: what the official servers sent, and what older or odd ones might. */

import { describe, expect, it } from 'vitest'
import type { ObservationFrame } from '../protocol'
import { CATALOGUE, entryOf } from './index'

const read = (id: string, observation: Record<string, unknown>, metadata: Record<string, unknown> = {}): string | null =>
  entryOf(id)?.text?.({ kind: 'observation', observation, metadata, reward: 0, done: false } satisfies ObservationFrame) ?? null

describe('Maze', () => {
  const at = { current_position: [1, 0], previous_position: [0, 0], legal_actions: [2, 3] }
  const maze = [[0, 0, 1], [1, 0, 0]]

  it('tells place, ways, exit and walls where metadata is sent, and what is left without it', () => {
    expect(read('maze', at, { maze, exit_cell: [2, 1] })).toBe('You are at column 1, row 0. Open: left, right. The exit is at column 2, row 1.\n. @ #\n# . E')
    expect(read('maze', at)).toBe('You are at column 1, row 0. Open: left, right.')
    expect(read('maze', { ...at, current_position: [2, 1], legal_actions: [] }, { maze, exit_cell: [2, 1] })).toBe(
      'You are at column 2, row 1. This is the exit.\n. . #\n# . @',
    )
  })

  it('leaves what it does not know to the fields', () => expect(read('maze', { legal_actions: [0] })).toBeNull())
})

describe('Wildfire', () => {
  const fire = { grid: [1, 1, 2, 1, 4, 2], width: 3, height: 2, wind_dir: 'N', remaining_water: 8, remaining_breaks: 50, reward_hint: 1.44 }

  it('names the cells that burn as the tools want them, and not the reward', () => {
    expect(read('wildfire', fire)).toBe('1 1 2\n1 4 2\nBurning (column,row): 2,0 2,1\nWind: N. Water left: 8. Firebreaks left: 50.')
    expect(read('wildfire', { ...fire, grid: [0, 0, 0, 0, 0, 0] })).toContain('Burning (column,row): nothing')
    expect(read('wildfire', { grid: [1] })).toBeNull()
  })
})

describe('Snake', () => {
  it('is a grid, without the numbers of which it is made once more', () => {
    const observation = { grid: [[1, 1, 1], [3, 4, 5], [0, 2, 0]], observation: [[[0.5]]], alive: false, episode_score: -1 }
    expect(read('snake', observation)).toBe('# # #\nO o o\n. * .\nThe snake is dead.')
    expect(read('snake', { observation: [] })).toBeNull()
  })
})

describe('programs', () => {
  const trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x()\nZeroDivisionError: division by zero\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "b.py", line 9\nlib.InterpreterError: Code failed due to: division by zero\nprint(1 / 0)\n'

  it('show the last error without the interpreter’s own traceback, and every other complaint whole', () => {
    expect(read('coding', { stdout: '', stderr: trace, exit_code: 1 })).toBe('stderr: lib.InterpreterError: Code failed due to: division by zero\nprint(1 / 0)\nexit code 1')
    expect(read('coding', { stdout: '4\n', stderr: 'warning: x\ny', exit_code: 0 })).toBe('4\nstderr: warning: x\ny')
    expect(read('repl', { result: { stdout: '', stderr: 'Traceback (most recent call last):\n  odd' } })).toBe('stderr: Traceback (most recent call last):\n  odd')
  })
})

describe('KernRL', () => {
  it('is the task at first, then the feedback alone', () => {
    expect(read('kernrl', { problem_description: 'Write it.', feedback: '', compilation_error: null, turn: 0 })).toBe('Write it.')
    expect(read('kernrl', { problem_description: 'Write it.', feedback: 'Too slow.', turn: 1 })).toBe('Too slow.')
  })
})

describe('FinQA', () => {
  it('tells the company beside the question, as every tool asks for it', () => {
    expect(read('finqa', {}, { question: 'Sales?', company: 'acme', history: [] })).toBe('Sales?\nacme')
    expect(read('finqa', { tool_name: 'sql_query', result: 1 })).toBeNull()
  })
})

describe('Sophistry bench', () => {
  it('is its prompt, then the parts of the score, or what went wrong', () => {
    expect(read('sophistry_bench_sprint', { prompt: 'Argue.', components: {}, error: '' })).toBe('Argue.')
    expect(read('sophistry_bench_sprint', { prompt: '', components: { n_claims: 1 }, error: '' })).toBe('Score: {"n_claims":1}')
    expect(read('sophistry_bench_sprint', { prompt: '', components: {}, error: 'Reset first.' })).toBe('Error: Reset first.')
  })
})

describe('what a reader does not know', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['coding', { stdout: 'a', stderr: '', problem: 'Write f(x).', tests_passed: 0, hints: [], note: '', best: null }, 'a\nproblem: Write f(x).\ntests_passed: 0'],
    ['repl', { result: { stdout: '', stderr: '' }, task_prompt: 'Find X', available_variables: ['answer'], iteration: 0 }, '(no output)\ntask_prompt: Find X'],
    ['reasoning_gym', { question: 'q', score: 0, correct_answer: '4', feedback: 'Starts with P.' }, 'q\nfeedback: Starts with P.'],
    ['chess', { fen: 'x w', message: 'Illegal move e2e5!' }, 'Board (FEN): x w\nTo move: white\nmessage: Illegal move e2e5!'],
    ['browsergym', { goal: 'Go', axtree_txt: 't', pruned_html: '<p>', inventory: ['k'] }, 'Goal: Go\n\nPage structure:\nt\ninventory: ["k"]'],
    ['openapp', { axtree_txt: 't', app_state: { todo: [] }, task_info: { goal: 'Buy milk' } }, 'Page structure:\nt\ntask_info: {"goal":"Buy milk"}'],
    ['connect4', { board: [[0, 1], [0, -1]], legal_actions: [0], score: [[1, 2], [3, 4]] }, '. X\n. O\nOpen columns: 0\nscore:\n1 2\n3 4'],
  ])('%s: is read after what it knows', (id, observation, text) => expect(read(id, observation)).toBe(text))

  it('is cut where it is long', () => expect(read('chess', { fen: 'x w', log: 'y'.repeat(5000) })?.endsWith(`log: ${'y'.repeat(4000)}...`)).toBe(true))
})

it('no reader fails on an observation without fields', () => {
  for (const { id, text } of CATALOGUE) {
    if (text !== undefined) expect(() => read(id, {}), id).not.toThrow()
  }
})
