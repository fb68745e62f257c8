/** The words about known environments: what discovery found, the list of the catalogue, recorded episodes. */

import type { Evidence, RewardRule } from '../core/discovered'

/** 'a, b and c'. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`
}

export const CATALOGUE_STRINGS = {
  own: {
    title: 'Write your own',
    lead: 'This is a whole server: an action, an observation, reset and step. It is e2e/openenv/minimal/guess.py of the repository.',
    file: 'guess.py',
    steps: [
      ['Save it as guess.py, then install the library:', 'pip install openenv'],
      ['Start it:', 'python guess.py'],
      ['or, inside the repository, without installing anything yourself:', 'npm run env -- e2e/openenv/minimal/guess.py --port 8000'],
      ['Paste the address under Your own server, press Connect, then Train:', 'http://localhost:8000'],
    ],
    rules: [
      'The same seed must give the same task, or the rewards of a group cannot be compared.',
      'Give a reward from 0 to 1 with every step; None means none given, and an episode of only those has no score.',
      'Say done when the episode is over, never already at reset.',
      'Describe each field of the action: the model reads your words, where the page may read /schema (the line about CORS). Without it a tool has required fields and their types alone, and About this environment says so.',
      'An exception loses the episode: a mistake of the model belongs into the text, with a low reward.',
    ],
  },
  /** Beneath the tools. */
  about: 'About this environment',
  recognised: 'Recognised',
  evidence: 'Evidence',
  observation: 'Observations',
  reward: 'Reward',
  patience: 'Patience',
  seconds: (n: number) => `A step may take up to ${n} seconds before it is given up.`,
  peculiar: 'Peculiar',
  notes: 'Notes',
  needs: (needs: readonly string[]) => `Its server needs ${listed(needs.map((need) => need.replace(/ on the server$/, '')))}.`,
  evidenceWhy: {
    played: 'Played: this page’s client has played it on the real OpenEnv library.',
    source: 'Read in its source: this page’s client has not played it.',
    server: 'Not in the catalogue: only the server was asked.',
  } satisfies Record<Evidence, string>,
  rewardIs: ({ take, field, floor, successAt }: RewardRule): string => {
    const from = field === undefined ? '' : `, read from the observation’s field ${field}`
    const least = floor === undefined ? '' : `; less than ${floor} counts as ${floor}`
    return `${take === 'sum' ? 'The rewards of an episode’s steps are added up' : 'The last reward of an episode counts'}${from}${least}. ${successAt} or more is solved.`
  },

  /** The list. */
  title: 'Known environments',
  lead: 'OpenEnv environments that this page recognises where a server of theirs proves what it is: by its schema, its state or its name. Any other server is asked what it takes. Nothing here connects to anything.',
  close: 'Close',
  find: 'Find',
  none: (text: string) => `None of them speaks of “${text}”. A server that is not listed is asked what it offers.`,
  groups: {
    played: ['Played', 'This page’s client has played them on the real OpenEnv library.'],
    source: ['Read in their source', 'The page knows how they work from their source code; it has not played them.'],
  } satisfies Record<Exclude<Evidence, 'server'>, [string, string]>,
  ownTools: 'the tools that its server lists',
  noTools: 'none that this page could use',
  cannot: 'Cannot be played here.',
  hosts: (hosts: readonly string[]) => `Named in the official examples, never tried: ${hosts.join(', ')}`,

  more: 'How it works',

  /** A recorded episode. */
  look: 'Look at a recorded episode',
  hide: 'Close the recorded episode',
  noRecording: (why: string | null) => `No recorded episode.${why === null ? '' : ` ${why}`}`,
  loading: 'Reading the recording.',
  failed: (why: string) => `The recording could not be read: ${why}`,
  recorded: (date: string) => `Recorded ${date}`,
  reset: 'Reset',
  turn: (n: number) => `Turn ${n}`,
  total: 'Episode',
  rewardOf: (reward: string) => `reward ${reward}`,
  noReward: 'no reward given',
  done: 'done',
  frames: (n: number) => `Its ${n} frames as they went over the socket`,
} as const

/** What one does there, by the catalogue's id. */
export const ABOUT: Readonly<Record<string, string>> = {
  catch: 'Walk under a falling ball.',
  'openspiel-catch': 'Walk under a falling ball, on a grid of 10 rows and 5 columns.',
  atari: 'Arcade games of the Atari 2600.',
  openspiel: 'Board and card games of OpenSpiel against its own players.',
  connect4: 'Four in a row, against random moves.',
  chess: 'Chess against an engine.',
  grid_world: 'Walk to the goal of a small grid.',
  wildfire: 'Stop a fire that spreads over a grid, with water and firebreaks.',
  snake: 'Steer a snake to its food.',
  maze: 'Find the way out of a maze.',
  echo: 'Repeat a message.',
  'echo-typed': 'Say something, the longer the better.',
  wordle: 'Find a secret word of five letters in six guesses.',
  sudoku: 'Fill in a Sudoku, one number a turn.',
  textarena: 'Text games of TextArena.',
  message: 'Whatever its server makes of a message.',
  reasoning_gym: 'One question of logic or arithmetic, one answer.',
  dipg_safety: 'Answer a medical question from its context alone.',
  sophistry_bench_sprint: 'Answer a prompt of the Sophistry bench.',
  websearch: 'Search the web.',
  chat: 'A conversation, token by token.',
  kernrl: 'Write GPU kernels that are right and fast.',
  repl: 'Work towards an answer in a Python session.',
  coding: 'Run Python code.',
  julia: 'Write Julia code that passes tests.',
  git: 'Work on git repositories.',
  tbench2: 'Tasks in a Linux terminal.',
  coding_tools: 'Programming tasks with a shell.',
  jupyter: 'Solve a task in a notebook.',
  opencode: 'A whole run of another coding agent in one call.',
  terminus: 'Tasks in a terminal.',
  browsergym: 'Small tasks on web pages, by their accessibility tree.',
  openapp: 'Tasks in a suite of apps, by their pages.',
  finqa: 'Questions about companies, answered from tables by SQL.',
  agent_world_model: 'Tasks in generated worlds of tools.',
  calendar: 'Appointments in a calendar.',
  carla: 'An emergency on the road: brake, or change lane.',
  dm_control: 'Move simulated bodies by their actuators.',
  finrl: 'Trade shares, day by day.',
  sumo_rl: 'Set a traffic light’s phases.',
  unity: 'Scenes of Unity ML-Agents.',
}
