/** environment.py: the run's environment as a class for TRL's environment_factory, with one method for each tool that the model sees. */

import type { DiscoveredEnvironment, DiscoveredTool } from '../../core/discovered'
import { PlaygroundError } from '../../core/errors'
import type { RunRecord } from '../../core/run-record'
import { applyToolEdits } from '../../core/tool-edits'
import { environmentHead, ownNames } from './environment-head'
import { methodNames, py, pyString } from './python'
import { pythonPattern, toolMethod, type Sent } from './tool-methods'

/** Catalogue entries whose observations are put into words by readers.py, and the function there. */
export const READERS: Readonly<Record<string, string>> = {
  'openspiel-catch': 'openspiel_catch',
  connect4: 'connect4',
  chess: 'chess',
  wildfire: 'wildfire',
  snake: 'snake',
  maze: 'maze',
  reasoning_gym: 'answered',
  dipg_safety: 'dipg_safety',
  sophistry_bench_sprint: 'sophistry',
  kernrl: 'kernel',
  repl: 'program',
  coding: 'program',
  julia: 'program',
  browsergym: 'page',
  openapp: 'page',
  finqa: 'question',
  carla: 'carla',
}

/** Names that TRL keeps for an environment, and the decorator's, which a method would hide from those after it. */
const KEPT = ['reset', 'get_reward', 'tool']

/** The text of environment.py. `server`: address of the OpenEnv server; `game`: the module with a built-in game’s rules. Throws PlaygroundError('config') for an environment without tools. */
export function environmentScript(run: RunRecord, server: string, game = 'game'): string {
  const { config, environment } = run
  const { tools, discovered = null } = environment
  if (tools.length === 0) {
    throw new PlaygroundError('config', `The run ${run.name} has an environment without tools.`, 'Connect to its environment and save the run again.')
  }
  const isGame = config.environment.kind === 'builtin'
  const names = tools.map((tool) => tool.function.name)
  const methods = methodNames(names, KEPT)
  const sent = sentOf(run)
  const body = tools.map((tool, i) => toolMethod(tool, methods[i] as string, sent(tool.function.name)))
  const reader = discovered?.entry == null ? undefined : READERS[discovered.entry]
  const imports = isGame
    ? [`import ${game}`, 'from games import GameEpisodes', 'from playground import tool']
    : [...(reader === undefined ? [] : ['import readers']), 'from playground import tool', 'from sessions import ServerEpisodes, Step, call_tool, filled  # noqa: F401']
  const about = `The environment ${environment.name.replaceAll(/\s+/g, ' ')} for TRL. Methods without a leading underscore are tools, but reset.`
  return [
    ...environmentHead({ about, imports, ofTools: 'TRL would sort them by name and could not say all of it.', tools }, config),
    `class PlaygroundEnvironment(${isGame ? 'GameEpisodes' : 'ServerEpisodes'}):`,
    '    """One episode at a time. Methods have no return hint: transformers would add it to the tool’s schema."""',
    '',
    '    _tools = TOOLS',
    ...(isGame ? [`    _game = ${game}`] : serverFacts(discovered, server, reader)),
    '',
    body.join('\n\n'),
    '',
  ].join('\n')
}

function serverFacts(discovered: DiscoveredEnvironment | null, server: string, reader: string | undefined): string[] {
  const { reward, resetData = {}, stepSeconds = null, quirks = [] } = discovered ?? { reward: { take: 'sum' as const, successAt: 1 } }
  const { take, field = null, floor = null, successAt } = reward
  const found = {
    entry: discovered?.entry ?? null,
    reward: { take, field, floor, success_at: successAt },
    reset_data: resetData,
    step_seconds: stepSeconds,
    quirks: quirks.map(({ text: _, ...quirk }) => ('pattern' in quirk ? { ...quirk, pattern: pythonPattern(quirk.pattern) } : quirk)),
  }
  return [
    `    _url = ${pyString(server)}`,
    '    # How an episode’s reward comes from its steps, what is sent with each reset, and peculiarities, as the page found them.',
    `    _found = ${py(found, 4)}`,
    ...(reader === undefined ? [] : [`    _reader = readers.${reader}`]),
  ]
}

/** What is sent for a tool, by the name that the model calls. */
function sentOf({ config, environment }: RunRecord): (name: string) => Sent {
  if (config.environment.kind === 'builtin') {
    const own = ownNames(config.tool_edits)
    return (name) => ({ kind: 'game', name: own(name) })
  }
  const { discovered } = environment
  if (!discovered) return () => ({ kind: 'unknown' })
  const found: readonly DiscoveredTool[] = applyToolEdits(discovered, config.tool_edits).tools
  return (name) => found.find(({ tool }) => tool.function.name === name)?.mapping ?? { kind: 'unknown' }
}
