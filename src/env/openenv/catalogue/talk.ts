/** Environments of words: echo, TextArena's games, questions with one answer, search. */

import type { Quirk } from '../../../core/discovered'
import type { ObservationFrame } from '../protocol'
import type { ActionFacts } from './entry'
import { isCalled } from './names'
import { withRest } from './rest'
import { argument, entry, integer, neverDone, SEED_IGNORED, SINGLE_STEP, template, text, tool, type Entry } from './entry'

const TEXTARENA: readonly Quirk[] = [
  { kind: 'cumulative-text', text: 'The server repeats the whole game in every message; the model is shown what is new.' },
  {
    kind: 'invalid-move',
    pattern: 'invalid move',
    text: 'After an invalid move the server may repeat its last reward; it is taken as 0, as in TRL’s example.',
  },
  { kind: 'state-secret', fields: ['raw_state', 'last_info'], text: 'The state holds the secret word; it is never shown to the model.' },
  SEED_IGNORED,
]
const MESSAGE = { message: { type: 'string' } } as const
/** By which every game of TextArena is known. */
const TEXTARENA_ACTION = { action: MESSAGE, titles: ['TextArenaAction'], marks: ['env_id', 'num_players', 'raw_state'] } as const
/** The state names the game; where it could not be asked, the server's name does. */
const isGame =
  (name: string) =>
  ({ game, names }: ActionFacts): boolean =>
    game === '' ? isCalled(names, [name]) : game.toLowerCase().split('-')[0] === name
const LAST = { take: 'last', successAt: 1 } as const
/** Reads the named fields as paragraphs, those that are there. */
const paragraphs =
  (...names: string[]) =>
  ({ observation }: ObservationFrame): string | null => {
    const parts = names.map((name) => observation[name]).filter((part) => typeof part === 'string' && part !== '')
    return parts.length > 0 ? parts.join('\n\n') : null
  }

/** The prompt, or the parts of the score. */
function sophistryText({ observation }: ObservationFrame): string | null {
  const { prompt, components, error } = observation
  if (typeof prompt === 'string' && prompt !== '') return prompt
  if (typeof error === 'string' && error !== '') return `Error: ${error}`
  return typeof components === 'object' && components !== null ? `Score: ${JSON.stringify(components)}` : null
}

const NEWS = 'What is new in the game’s messages.'

function answered({ observation, done }: ObservationFrame): string | null {
  const { question, score } = observation
  if (!done && typeof question === 'string') return question
  return done && typeof score === 'number' ? `Score: ${score}` : null
}

export const TALK: readonly Entry[] = [
  entry({
    id: 'echo',
    title: 'Echo',
    evidence: 'played',
    family: 'mcp',
    offers: ['echo_message'],
    more: false,
    suits: () => true,
    prompts: { system: 'Echo the message.', user: '' },
    observation: 'The tool’s result.',
    quirks: [neverDone('The official echo environment')],
    notes: [
      'The official echo environment gives no reward for a call: there is nothing to learn from it.',
      'Our own server (npm run env -- echo) offers the same tool, gives rewards and ends after one call.',
    ],
    sessions: 8,
    recording: 'environments/echo.json',
    hosts: ['openenv-echo-env.hf.space'],
  }),
  entry({
    id: 'echo-typed',
    title: 'Echo (typed, older)',
    required: 'message',
    action: MESSAGE,
    titles: ['EchoAction'],
    called: ['echo'],
    tools: [{ tool: tool('echo', 'Echo the message.', { message: text('What to say') }), fields: { message: argument('message') } }],
    prompts: { system: '', user: 'Say something in the environment.\n' },
    observation: 'JSON: echoed_message and message_length.',
    reward: { take: 'sum', successAt: 1 },
    quirks: [neverDone('It')],
    notes: ['The reward grows with the length of the message, so the model learns to ramble.'],
    unrecorded: 'OpenEnv’s repository holds the newer echo alone; this one is left on a few Spaces.',
    sessions: null,
    hosts: ['qgallouedec-echo-env.hf.space'],
  }),
  entry({
    id: 'wordle',
    title: 'Wordle (TextArena)',
    required: 'message',
    ...TEXTARENA_ACTION,
    called: ['wordle'],
    suits: isGame('wordle'),
    tools: [
      {
        tool: tool('guess', 'Make a guess in the Wordle environment.', {
          guess: text('The guessed word in square brackets, e.g. [crane]'),
        }),
        fields: { message: template('[{guess}]', '^\\s*\\[[^]*\\]\\s*$') },
      },
    ],
    prompts: {
      system:
        'You are good at Wordle. Find a secret English word of five letters in at most six guesses. ' +
        'After each guess every letter is marked: G is in its place, Y is in the word but elsewhere, X is not in the word. ' +
        'Guess real words only and no word twice. Use the tool `guess`.',
      user: '',
    },
    observation: NEWS,
    reward: LAST,
    quirks: TEXTARENA,
    notes: ['Its word lists take the server seconds to load for every session.'],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/wordle.json',
    hosts: ['openenv-wordle.hf.space'],
  }),
  entry({
    id: 'sudoku',
    title: 'Sudoku (TextArena)',
    required: 'message',
    ...TEXTARENA_ACTION,
    called: ['sudoku'],
    suits: isGame('sudoku'),
    tools: [
      {
        tool: tool('place', 'Place a number on the Sudoku board.', {
          row: integer('Row, 1 to 9', 1, 9),
          col: integer('Column, 1 to 9', 1, 9),
          number: integer('Number, 1 to 9', 1, 9),
        }),
        fields: { message: template('[{row} {col} {number}]') },
      },
    ],
    prompts: {
      system:
        'You solve Sudokus. Every row, every column and every box of three by three holds each number from 1 to 9 once. ' +
        'Place one number a turn, on an empty cell, and try no move twice.',
      user: 'Play Sudoku like an expert.\n\n',
    },
    observation: NEWS,
    reward: LAST,
    quirks: TEXTARENA,
    notes: [
      'TRL’s example adds four rewards of its own and, on easy, shows moves that are certain; here the environment’s reward alone counts.',
    ],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/sudoku.json',
    hosts: ['openenv-sudoku.hf.space'],
  }),
  entry({
    id: 'textarena',
    title: 'Game of TextArena',
    required: 'message',
    ...TEXTARENA_ACTION,
    called: ['textarena'],
    tools: [
      {
        tool: tool('send_message', 'Say something to the environment.', { message: text('What to say, e.g. [crane] in Wordle') }),
        fields: { message: argument('message') },
      },
    ],
    observation: NEWS,
    reward: LAST,
    quirks: TEXTARENA,
    notes: ['Games of several players: what the others say comes from the server’s own configuration.', 'The recording is its game Hangman.'],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/hangman.json',
  }),
  entry({
    id: 'message',
    title: 'Environment that takes a message',
    evidence: 'played',
    required: 'message',
    action: MESSAGE,
    tools: [
      {
        tool: tool('send_message', 'Say something to the environment.', { message: text('What to say') }),
        fields: { message: argument('message') },
      },
    ],
    observation: 'Its field text, what is new in its messages, or JSON.',
    notes: ['Played on our own servers; the recording is TextArena’s GuessTheNumber in a server of ours.'],
    sessions: null,
    recording: 'environments/textarena.json',
  }),
  entry({
    id: 'reasoning_gym',
    title: 'Reasoning Gym',
    required: 'answer',
    action: { answer: { type: 'string' } },
    titles: ['ReasoningGymAction', 'ReasoningAction'],
    called: ['reasoninggym'],
    tools: [{ tool: tool('answer', 'Give the answer.', { answer: text('The final answer') }), fields: { answer: argument('answer') } }],
    prompts: { system: 'Answer the question. Call the tool `answer` once.', user: '' },
    observation: 'The question; after the answer, its score.',
    text: withRest(answered, ['question', 'score', 'correct_answer', 'dataset_metadata']),
    quirks: [SINGLE_STEP],
    notes: ['The correct answer, which the server tells afterwards, is not shown to the model.'],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/reasoning-gym.json',
    hosts: ['sergiopaniego-reasoning-gym.hf.space'],
  }),
  entry({
    id: 'dipg_safety',
    title: 'DIPG safety',
    required: 'llm_response',
    action: { llm_response: { type: 'string' } },
    titles: ['DIPGAction'],
    isRare: true,
    tools: [
      {
        tool: tool('respond', 'Answer the question from the context.', { response: text('Your answer') }),
        fields: { llm_response: argument('response') },
      },
    ],
    prompts: { system: 'Answer the question from the context alone.', user: '' },
    observation: 'The context, then the question.',
    text: withRest(paragraphs('context', 'question'), ['context', 'question']),
    quirks: [SINGLE_STEP],
    needs: ['a data set on the server'],
    notes: ['The server of July 2026 answers every step with an error of its own, on OpenEnv 0.10.0.'],
    unrecorded: 'Its server fails at every step.',
  }),
  entry({
    id: 'sophistry_bench_sprint',
    title: 'Sophistry bench',
    required: 'text',
    action: { text: { type: 'string' } },
    titles: ['AdvocacyAction'],
    called: ['sophistrybenchsprint', 'sophistrybench', 'sophistry'],
    tools: [{ tool: tool('answer', 'Answer the prompt.', { text: text('Your answer') }), fields: { text: argument('text') } }],
    observation: 'The prompt; after the answer, the parts of its score.',
    text: withRest(sophistryText, ['prompt', 'answer_to_defend', 'item_id', 'components', 'error']),
    reward: { take: 'sum', successAt: 0.75 },
    quirks: [SINGLE_STEP],
    notes: ['It pays for form alone: claims, quotes that are in the passage, and their order. Whether the answer is right does not count.'],
    evidence: 'played',
    recording: 'environments/sophistry.json',
  }),
  entry({
    id: 'websearch',
    title: 'Web search',
    required: 'query',
    action: { query: { type: 'string' } },
    titles: ['WebSearchAction'],
    called: ['websearch'],
    tools: [{ tool: tool('search', 'Search the web.', { query: text('What to search for') }), fields: { query: argument('query') } }],
    observation: 'JSON.',
    quirks: [neverDone('It')],
    needs: ['a paid service: Serper (its key belongs on the server)'],
    unrecorded: 'It answers nothing without Serper’s key.',
  }),
  entry({
    id: 'chat',
    title: 'Chat',
    required: 'tokens',
    action: { tokens: { type: 'array' } },
    titles: ['ChatAction'],
    marks: ['history_messages', 'history_tokens'],
    called: ['chat'],
    observation: 'Messages and token ids of the server’s own tokenizer.',
    unsupported: 'Its actions are token ids of the server’s own tokenizer, which this page does not have.',
  }),
]
