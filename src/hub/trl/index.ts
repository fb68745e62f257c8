/** "Move to TRL": a run as a folder that goes on with TRL's GRPOTrainer, on one machine or many. */

import { specName } from '../../core/environment-spec'
import { PlaygroundError } from '../../core/errors'
import type { ExportFile, RunRecord, StepSummary } from '../../core/run-record'
import { accelerateFiles } from './accelerate'
import { environmentScript } from './environment-script'
import catchGame from '../../../e2e/taken-away/trl/catch.py?raw'
import echoGame from '../../../e2e/taken-away/trl/echo.py?raw'
import games from '../../../e2e/taken-away/trl/games.py?raw'
import guessGame from '../../../e2e/taken-away/trl/guess.py?raw'
import laneGame from '../../../e2e/taken-away/trl/lane.py?raw'
import observations from '../../../e2e/taken-away/trl/observations.py?raw'
import pictures from '../../../e2e/taken-away/trl/pictures.py?raw'
import playground from '../../../e2e/taken-away/trl/playground.py?raw'
import prompts from '../../../e2e/taken-away/trl/prompts.py?raw'
import readers from '../../../e2e/taken-away/trl/readers.py?raw'
import sessions from '../../../e2e/taken-away/trl/sessions.py?raw'
import { rolloutFiles } from './javascript'
import { rowFiles } from './prompt-parts'
import { readme } from './readme'
import { serverAddress } from './server-address'
import { comparesWithStart, trainScript } from './train-script'
import { requirements, vllmRequirements } from './versions'

export interface TrlFolderInput {
  run: RunRecord
  history: readonly StepSummary[]
  /** adapter_config.json and adapter_model.safetensors, of the run's last step; placed under adapter/. Empty in full-parameter training. */
  adapter: readonly ExportFile[]
  /** The base model's files where it is no repository on the Hub (the shipped model), or the trained model in full-parameter training; placed under base/. */
  base?: readonly ExportFile[]
  /** PEFT's two files of the adapter that the run began with; placed under start/ where the KL term compares with it (comparesWithStart). */
  start?: readonly ExportFile[]
  /** Address of the OpenEnv server as the page reached it, http(s)://host (ServerAddress.http); found out from the record where this is absent. */
  server?: string
  /** Of a dataset that the page makes itself: the rows that are trained on. */
  rows?: readonly Record<string, unknown>[]
}

const GAMES = { catch: catchGame, echo: echoGame, guess: guessGame, lane: laneGame }

/**
 * The folder's files, paths relative to it: train.py, environment.py and their helpers, accelerate/*.yaml, requirements*.txt,
 * README.md, adapter/, base/ and start/. Throws PlaygroundError('config') when a run cannot be taken to TRL.
 */
export function trlFolder({ run, history, adapter, base = [], start = [], server, rows }: TrlFolderInput): ExportFile[] {
  const { environment, model, grpo } = run.config
  if (environment.kind === 'custom' || environment.kind === 'mix') {
    throw new PlaygroundError('config', `A run of ${specName(environment)} cannot be taken to TRL yet.`, 'Take the adapter instead: it loads with PEFT.')
  }
  const openenv = environment.kind === 'openenv'
  const has = { adapter: adapter.length > 0, base: base.length > 0, start: start.length > 0 && adapter.length > 0 && comparesWithStart(run) }
  if (!has.base && (model.startsWith('models/') || !has.adapter)) {
    throw new PlaygroundError('config', `The files of ${model} were not given, and TRL cannot load it from the Hub.`, 'Load the model again, then export once more.')
  }
  if (!has.adapter && run.lora !== null) {
    throw new PlaygroundError('config', `The LoRA of the run ${run.name} was not given.`, 'Load the run, then export once more.')
  }
  const url = server ?? serverAddress(run)
  const helpers: Record<string, string> = openenv
    ? { sessions, observations, pictures, readers }
    : environment.kind === 'prompts'
      ? { prompts }
      : { games, game: GAMES[environment.name] }
  return [
    { path: 'README.md', content: readme(run, { history, server: url, ...has }) },
    { path: 'train.py', content: trainScript(run, has) },
    ...(environment.kind === 'prompts' ? rowFiles(run.config, rows) : [{ path: 'environment.py', content: environmentScript(run, url) }]),
    ...Object.entries<string>({ playground, ...helpers }).map(([name, content]) => ({ path: `${name}.py`, content })),
    ...rolloutFiles(run.config),
    { path: 'requirements.txt', content: `${requirements(run.config).join('\n')}\n` },
    { path: 'requirements-vllm.txt', content: `${vllmRequirements(run.config).join('\n')}\n` },
    ...accelerateFiles(grpo.prompts_per_step * grpo.num_generations),
    ...placed('adapter', adapter),
    ...placed('base', base),
    ...(has.start ? placed('start', start) : []),
  ]
}

/** Files by their own names, whatever folder they came from. */
function placed(folder: string, files: readonly ExportFile[]): ExportFile[] {
  return files.map(({ path, content }) => ({ path: `${folder}/${path.split('/').at(-1) ?? path}`, content }))
}
