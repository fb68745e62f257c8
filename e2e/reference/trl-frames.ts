/** Observations as servers send them, raw JSON: one of each known kind, and what could be read in two ways. Each list is an episode. */

import { encodePng } from '../../src/env/openenv/png'

export interface RawFrame {
  /** JSON of the frame's data, as Python writes it. */
  raw: string
  /** Words of the action before. */
  said: string[]
}

const frame = (observation: unknown, more: Record<string, unknown> = {}, said: string[] = []): RawFrame => ({
  raw: JSON.stringify({ observation, reward: null, done: false, ...more }),
  said,
})
const raw = (text: string, said: string[] = []): RawFrame => ({ raw: text, said })
const alone = (...frames: RawFrame[]): RawFrame[][] => frames.map((each) => [each])
const base64 = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString('base64')

const grid = (lit: number[]) => Array.from({ length: 50 }, (_, at) => (lit.includes(at) ? 1 : 0))
const pixels = (height: number, width: number) => Array.from({ length: height }, () => Array.from({ length: width }, () => [1, 2, 255]))
const gif = [...Buffer.from('GIF89a'), 40, 1, 30, 0, ...new Array<number>(60).fill(7)]
const jpeg = [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 11, 8, 0, 20, 0, 33, 3, ...new Array<number>(60).fill(0)]
const webp = [...Buffer.from('RIFF????WEBPVP8X'), 10, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 49, 0, 0, ...new Array<number>(40).fill(0)]
const call = (fields: Record<string, unknown>) => frame({ tool_name: 'x', ...fields })

/** Frames of the environments that the catalogue puts into words. */
const KNOWN: RawFrame[][] = alone(
  frame({ info_state: grid([7, 47]) }),
  frame({ info_state: grid([5, 49]) }),
  frame({ info_state: grid([2, 47]) }),
  frame({ info_state: grid([47]) }, { reward: 1, done: true }),
  frame({ info_state: grid([46, 48]) }, { reward: -1, done: true }),
  frame({ info_state: grid([]) }),
  frame({ board: [[0, 1, -1], [0, 0, 1]], legal_actions: [0, 2], done_reason: null }),
  frame({ board: [[0, 1], [0, 0]] }),
  frame({ fen: 'rnb/8 b - - 0 1', legal_moves: ['e2e4', 'a7a8q'], is_check: true, result: '1-0' }),
  frame({ fen: 'rnb/8', is_check: false, result: '' }),
  frame({ grid: [0, 1, 2, 10, 4, 5], width: 3, height: 2, wind: 'N', burnt: null }),
  frame({ grid: [0, 2, 1, 2], width: 2, height: 2, wind_dir: 'N', remaining_water: 3, remaining_breaks: null, reward_hint: 1 }),
  frame({ grid: [[1, 1, 1], [1, 3, 2]], alive: false, observation: [0.5] }),
  frame({ current_position: [1, 0], legal_actions: [1, 3], previous_position: null }),
  frame({ current_position: [1, 0], legal_actions: [] }, { metadata: { exit_cell: [2, 1], maze: [[0, 0, 1], [1, 0, 0]] } }),
  frame({ current_position: [2, 1], legal_actions: [2] }, { metadata: { exit_cell: [2, 1], maze: [[0, 0, 1], [1, 0, 0]] } }),
  frame({ prompt: '', error: 'No.', components: null }),
  frame({ prompt: null, components: { claims: 0.5, order: 1 } }, { reward: 0.5, done: true }),
  frame({}, { metadata: { question: 'How much?', company: 'ACME' } }),
  frame({ stdout: 'a', stderr: 'Traceback (most recent call last):\n  File "x"\nValueError: no\n\nDuring\nmy.KeyError: 3\nmore\n', exit_code: 1 }),
  frame({ question: 'How much is 2 + 2?', score: null }),
  frame({ question: null, score: 0.25 }, { reward: 0.25, done: true }),
  raw('{"observation": {"question": "Q", "score": 1.0}, "reward": 1.0, "done": true}'),
  frame({ problem_description: 'T', feedback: 'F', compilation_error: 'E' }),
  frame({ stdout: '', stderr: '', problem: 'Write f(x).', hints: [], note: '', best: null, more: {}, passed: 0, ok: false, weights: { a: [1, 0.5] } }),
  frame({ question: 'Q?', score: 0, correct_answer: '4', feedback: 'no', board: [[1, 2.5], ['a', true]], long: 'y'.repeat(4100) }),
  frame({ fen: 'x w', message: 'Illegal move e2e5!', info_state: grid([7, 47]), speed_kmh: 1, current_position: [1, 0], legal_actions: [] }),
  frame({ problem_description: 'T', feedback: '', compilation_error: null }),
  frame({ context: 'C', question: 'Q?' }),
  frame({ prompt: 'Say it.' }),
  frame({ stdout: 'out \n', stderr: 'bad\n', exit_code: 3 }),
  frame({ result: { stdout: '', stderr: '', exit_code: 0 } }),
  frame({ stdout: null, stderr: 'only' }),
  frame({ goal: 'G', error: 'E', last_action_error: true, axtree_txt: 'x'.repeat(2500), url: 'u' }),
  frame({ goal: '', error: 'E', last_action_error: false, text: 'plain', url: 'u' }),
  frame({ url: 'http://x' }),
  frame({ speed_kmh: 40, nearby_actors: [{ type: 'pedestrian', distance: 12.3 }, { distance: 'near' }], collision_detected: false, rubric_reward: 0.5 }),
  raw('{"observation": {"speed_kmh": 39.25, "nearby_actors": [], "collision_detected": true, "collided_with": null, "rubric_reward": true}, "reward": 0.1, "done": true}'),
)

/** Frames that any server may send. */
const ANY: RawFrame[][] = alone(
  frame({ text: 'height 6' }, { reward: 0.5 }),
  frame({ text: '' }),
  frame({ text: '', question: 'Q', board: [[1, 0], [0, 1]] }, { metadata: { message: 'ready' } }),
  frame({ score: 0 }, { metadata: { question: 'In the metadata', task: 'x' } }),
  frame({}, { metadata: { message: 'ready', instruction: 'Buy milk' } }),
  frame({}, { metadata: { task: '', text: 'ready' } }),
  call({ result: { data: 'x' }, text: '' }),
  frame({ dataframe: pixels(9, 8), table: { screen: Array.from({ length: 10 }, () => new Array<number>(10).fill(1)) } }),
  frame({ obs: pixels(64, 70), camera_images: pixels(8, 8), lastFrame: pixels(8, 8), preview_count: pixels(8, 8) }),
  frame({ pixels: Array.from({ length: 8 }, () => new Array<number>(9).fill(128)), view: Array.from({ length: 41 }, () => new Array<number>(41).fill(0)) }),
  frame({ screen: Array.from({ length: 100 }, () => 7), screen_shape: [10, 10] }),
  call({ result: { data: { a: [1, null, true] }, is_error: false }, error: null }),
  call({ result: { structuredContent: { result: 'lone' }, isError: true } }),
  call({ result: { structured_content: { result: 1, other: 2 } } }),
  call({ result: { content: [{ type: 'text', text: 'one' }, { type: 'resource' }, { type: 'image', data: base64(gif), mimeType: 'image/gif' }, 5] } }),
  call({ result: 'plain', error: null }),
  call({ result: null, error: { error_type: 'execution_error', message: 'the tool failed' } }),
  call({ result: null, error: { error_type: 'invalid_args', message: '' } }),
  call({ result: null, error: 'in words' }),
  call({ result: null, error: null }),
  call({ result: { is_error: true, data: 'x' }, text: 'a text wins' }),
  frame({ x: 1, y: -0.5, message: 'é "q" \\ \n \u2028 🙂', empty: null, deep: { a: [1, { b: false }] } }),
  raw('{"observation": {"a": 1.0, "b": -0.0, "c": 1e-07, "d": 0.00001, "e": 1e21, "f": 123456789012345680000.0, "g": 0.1, "h": 1.5e300, "i": 2.5e-10, "j": NaN}, "reward": 1, "done": false}'),
  frame({ board: [[1, 10], [200, 3]], other: 1, map: [['a', 'b'], ['c', 'toolongcell']] }),
  frame({ cells: [1, 2, 3, 4], width: 2, height: 2 }),
  frame({ board: [[1, 2], [3]] }),
  frame({ grid: [[true, 1.5], [0, 'x']] }),
  frame({}, { metadata: { question: 'in the metadata' } }),
  frame({ metadata: { prompt: 'inside' } }),
  frame({}),
  raw('{"reward": true, "done": true, "message": "home-made"}'),
  raw('{"observation": {"reward": 0.5, "done": true, "text": "inside"}}'),
  raw('{"observation": {"text": "beside"}, "reward": NaN, "done": null}'),
  raw('{"observation": {"text": "huge"}, "reward": 1e999, "done": false}'),
  raw('{"observation": [1, 2], "reward": 0, "done": false}'),
  raw('{"observation": {"text": "t"}, "reward": "much", "done": false}'),
  raw('{"observation": {"text": "t"}, "reward": 0, "done": "yes"}'),
  frame({ screenshot: pixels(9, 12), url: '' }),
  frame({ values: pixels(8, 8), few: pixels(4, 4) }),
  frame({ screen: Array.from({ length: 300 }, (_, i) => i % 256), screen_shape: [10, 10, 3] }),
  frame({ pixels: Array.from({ length: 8 }, () => new Array<number>(9).fill(3)), numbers: Array.from({ length: 8 }, () => new Array<number>(9).fill(3)) }),
  frame({ image: base64(encodePng(new Uint8Array(16 * 8 * 3), 16, 8)) }),
  frame({ camera_image: base64(jpeg), shot: `data:image/gif;base64,${base64(gif)}`, other: base64(webp) }),
  frame({ note: `/9j/ is how it starts, ${'but these are words '.repeat(5)}` }),
  frame({ image: `iVBORw0KGgo${'A'.repeat(8)}`, frame: `iVBORw0KGgo${'!'.repeat(80)}` }),
  frame({ text: 'y'.repeat(21_000) }),
  frame({ nested: Array.from({ length: 60 }).reduce<unknown>((inner) => ({ inner }), 'core') }),
)

const said = (prompt: string, ...contents: string[]) => ({ prompt, messages: contents.map((content) => ({ sender_id: 0, content, category: 'X' })) })

/** Episodes: the server repeats the whole game, and the words of the move before it judges them. */
const GAMES: RawFrame[][] = [
  [
    frame(said('Guess.')),
    frame(said('Guess.', 'Guess.', '[Player 0] [crane]', 'X Y G X X'), { reward: 0 }, ['[crane]']),
    frame(said('Guess.', 'Guess.', '[Player 0] [crane]', 'X Y G X X', '[GAME] You attempted an invalid move. Reason: it is no word.'), { reward: 0.75 }, ['[crane]']),
    frame(said('Other.', 'Something else'), { reward: 1, done: true }, ['[money]']),
  ],
  [
    frame({ text: '[Player 0] I make an invalid move' }, { reward: 0.5 }, ['I make an invalid move']),
    frame({ text: 'You said "an invalid move". Well.' }, { reward: 0.5 }, ['I make an invalid move']),
    frame({ text: 'invalid move. That was an invalid move.' }, { reward: 0.5 }, ['invalid move']),
    frame({ text: 'That was an Invalid Move: [crane]' }, { reward: 0.5 }, ['[crane]']),
    frame({ text: 'An invalid move' }, {}, ['x']),
    frame({ text: 'You attempted an invalid move.' }, {}, ['x']),
  ],
  [
    frame({ text: '[Player 0] x\n[GAME] You attempted an invalid move. Reason: y\n[GAME] XX' }, { reward: 0.5 }, ['x\n[GAME]  You attempted an invalid move. Reason: y']),
    frame({ text: '[Player 0] x\n[GAME] You attempted an invalid move. Reason: y\n[Player 1] z\n[GAME] You win' }, { reward: 0.5 }, ['x']),
    frame({ text: '[GAME] That was not an invalid move. You attempted a valid move.' }, { reward: 0.5 }, ['x']),
    frame({ text: 'Rules: an invalid move costs a life.\n  Player 0 attempted an Invalid Move. Reason: y' }, { reward: 0.5 }, ['x']),
  ],
  [
    frame(said('Guess.', 'Rules.', '[GAME] You attempted an invalid move.'), { reward: 0.25 }, ['[crane]']),
    frame(said('Guess.', '[GAME] You attempted an invalid move.', '[GAME] You win.'), { reward: 1 }, ['[money]']),
  ],
]

export const FRAMES: readonly RawFrame[][] = [...KNOWN, ...ANY, ...GAMES]
