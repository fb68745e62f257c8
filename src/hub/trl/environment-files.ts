/** The folder's files about what is played: environments, helpers of the page's rules, JavaScript sources, rows. */

import type { ExportFile, RunRecord } from '../../core/run-record'
import catchGame from '../../../e2e/taken-away/trl/catch.py?raw'
import echoGame from '../../../e2e/taken-away/trl/echo.py?raw'
import games from '../../../e2e/taken-away/trl/games.py?raw'
import guessGame from '../../../e2e/taken-away/trl/guess.py?raw'
import laneGame from '../../../e2e/taken-away/trl/lane.py?raw'
import limits from '../../../e2e/taken-away/trl/limits.py?raw'
import mix from '../../../e2e/taken-away/trl/mix.py?raw'
import observations from '../../../e2e/taken-away/trl/observations.py?raw'
import pictures from '../../../e2e/taken-away/trl/pictures.py?raw'
import playground from '../../../e2e/taken-away/trl/playground.py?raw'
import prompts from '../../../e2e/taken-away/trl/prompts.py?raw'
import readers from '../../../e2e/taken-away/trl/readers.py?raw'
import roundRobin from '../../../e2e/taken-away/trl/round_robin.py?raw'
import sessions from '../../../e2e/taken-away/trl/sessions.py?raw'
import written from '../../../e2e/taken-away/trl/written.py?raw'
import { environmentScript } from './environment-script'
import { type Member, membersOf } from './members'
import { mixScript, moduleOf } from './mix-parts'
import { type MadeRows, rowFiles } from './row-files'
import { serverAddress } from './server-address'
import { type WrittenFacts, writtenClassScript } from './written-class'

/** A server of the run, for README.md. */
export interface ServerOf {
  /** Of several environments: which it is. */
  name: string | null
  address: string
  seedIgnored: boolean
}

export interface EnvironmentFiles {
  files: ExportFile[]
  servers: ServerOf[]
}

interface Given {
  written: readonly (WrittenFacts | null)[]
  /** Of a run in one environment. */
  server?: string
  rows?: MadeRows
}

const GAMES = { catch: catchGame, echo: echoGame, guess: guessGame, lane: laneGame }
/** Helpers by the kind of environment. */
const HELPERS = { builtin: { games }, openenv: { sessions, observations, pictures, readers }, custom: { written }, prompts: { prompts } } as const

/** Throws PlaygroundError('config') where something of the run is not known or was not given. */
export function environmentFiles(run: RunRecord, given: Given): EnvironmentFiles {
  const { environment } = run.config
  const members = membersOf(run)
  if (environment.kind === 'mix') return mixFiles(run, members, given)
  const one = singleFiles(run, null, given.written[0] ?? null, given)
  return { ...one, files: [...one.files, ...modules({ playground, ...helpersOf(run) })] }
}

function mixFiles(run: RunRecord, members: readonly Member[], given: Given): EnvironmentFiles {
  const { environment } = run.config
  const each = members.map((member, i) => singleFiles(member.run, member, given.written[i] ?? null, given))
  const helpers = Object.assign({}, ...members.map((member) => helpersOf(member.run))) as Record<string, string>
  const rows = environment.kind === 'mix' && environment.dataset ? rowFiles(environment.dataset, null, given.rows, ['train', 'heldout']) : []
  // Members that play one game share its rules.
  const files = [...new Map(each.flatMap((one) => one.files).map((file) => [file.path, file])).values()]
  return {
    files: [{ path: 'environment.py', content: mixScript(members, given.written) }, ...files, ...rows, ...modules({ playground, prompts, limits, mix, round_robin: roundRobin, ...helpers })],
    servers: each.flatMap((one) => one.servers),
  }
}

const modules = (sources: Record<string, string>): ExportFile[] => Object.entries(sources).map(([name, content]) => ({ path: `${name}.py`, content }))

function helpersOf({ config: { environment } }: RunRecord): Record<string, string> {
  return environment.kind === 'mix' ? {} : HELPERS[environment.kind]
}

/** Of one environment, alone or as a member of several. */
function singleFiles(run: RunRecord, member: Member | null, facts: WrittenFacts | null, { server, rows }: Given): EnvironmentFiles {
  const { environment } = run.config
  const module = member ? moduleOf(member) : 'environment'
  const script = (content: string): ExportFile => ({ path: `${module}.py`, content })
  switch (environment.kind) {
    case 'builtin': {
      const game = member ? `game_${environment.name}` : 'game'
      return { files: [script(environmentScript(run, '', game)), { path: `${game}.py`, content: GAMES[environment.name] }], servers: [] }
    }
    case 'openenv': {
      const address = (member ? undefined : server) ?? serverAddress(run)
      const seedIgnored = run.environment.discovered?.quirks.some(({ kind }) => kind === 'seed-ignored') ?? false
      return { files: [script(environmentScript(run, address))], servers: [{ name: member?.name ?? null, address, seedIgnored }] }
    }
    case 'custom': {
      const source = { path: `${module}.js`, content: `${environment.code.trimEnd()}\n` }
      return { files: [script(writtenClassScript(run, environment, facts, source.path)), source], servers: [] }
    }
    case 'prompts':
      return { files: rowFiles(environment.dataset, member?.word ?? null, rows, member ? ['train', 'heldout'] : ['train']), servers: [] }
    case 'mix':
      return { files: [], servers: [] }
  }
}
