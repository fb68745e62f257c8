/** README.md's parts on what is played: files, several environments, a class that is to be written, servers. */

import { singleSpecs, specName } from '../../core/environment-spec'
import type { RunRecord } from '../../core/run-record'
import type { ServerOf } from './environment-files'
import { code } from './markdown'

/** Rows of the table of files. */
export function fileRows({ config: { environment } }: RunRecord): string {
  if (environment.kind === 'prompts') {
    return `${environment.dataset.kind === 'hub' ? '' : '| data/train.jsonl | the rows |\n'}| prompts.py, playground.py | how the page reads rows, and which of them it holds out |\n`
  }
  const kinds = new Set(singleSpecs(environment).map(({ kind }) => kind))
  const isMix = environment.kind === 'mix'
  const helpers = [
    ...(kinds.has('openenv') ? ['sessions.py, observations.py, pictures.py, readers.py'] : []),
    ...(kinds.has('builtin') ? [isMix ? 'games.py, game_*.py' : 'games.py, game.py'] : []),
    ...(kinds.has('custom') ? ['written.py'] : []),
  ]
  const does = [...(kinds.has('openenv') ? ['sessions, observations as text'] : []), ...(kinds.has('builtin') ? ['the games’ rules'] : [])]
  return [
    ...(isMix
      ? ['| environment.py | the run’s environments, with their weights and prompts |', '| environment_*.py | each as TRL wants it: one method for each tool |', '| mix.py, round_robin.py, prompts.py, limits.py | whose turn a prompt is, and which reward function judges it |']
      : ['| environment.py | the environment as TRL wants it: one method for each tool |']),
    ...(kinds.has('custom') ? [`| ${isMix ? 'environment_*.js' : 'environment.js'} | the page’s class in JavaScript, to be written in Python |`] : []),
    ...(isMix && (kinds.has('prompts') || environment.dataset) ? ['| data/ | rows; those of datasets on the Hub are read from there |'] : []),
    `| ${[...helpers, 'playground.py'].join(', ')} | what the page does around the environment: ${[...does, 'seeds', 'checks of calls'].join(', ')} |`,
    '',
  ].join('\n')
}

/** What is to be written before anything starts; '' for nothing. */
export function writtenPart({ config: { environment }, environment: { members } }: RunRecord): string {
  const isMix = environment.kind === 'mix'
  const classes = singleSpecs(environment).flatMap((one, i) => (one.kind === 'custom' ? [members?.[i]?.name ?? one.called] : []))
  if (classes.length === 0) return ''
  const [file, source] = isMix ? ['Its file environment_….py', 'the file of the same name that ends in .js'] : ['environment.py', 'environment.js']
  return `
## To be written first

${classes.map(code).join(', ')}: on the page this is a class in JavaScript, which TRL cannot play. ${file} has the same class in Python, with its methods, their types and what the model reads
of them; the bodies are to be written, after ${source}. **train.py says which methods are still to be written, and starts when none is.**

* Each episode has an instance of its own. \`reset\` gets the seed, the split ("train" or "heldout") and the dataset’s columns, and returns a text for the prompt, or None.
* Where the JavaScript draws with Math.random, draw with \`self.random\` (random.Random, from the episode’s seed, the same for all members of a group). The numbers are not the page’s.
* A tool returns a text, or \`{"text": …, "reward": …, "done": True}\`; anything else is written as JSON. What it raises is told to the model as an error.
* An episode ends by \`self.done = True\` or \`"done": True\`. \`get_reward\`, where the class has one, is asked once at the end; else the last reward of a tool counts.
`
}

/** How prompts are shared out. */
export function mixPart({ config: { environment }, environment: { members = [] } }: RunRecord): string {
  if (environment.kind !== 'mix') return ''
  const lines = environment.members.map(({ environment: one, weight }, i) => {
    const name = members[i]?.name ?? specName(one)
    return `* ${code(name)}, weight ${weight}${specName(one) === name ? '' : ` (${code(specName(one))})`}`
  })
  return `
## Several environments

${lines.join('\n')}

TRL gets them as a dict of factories, and each row of the training data names one in its column \`environment\`: its tools alone stand in the prompt, and its reward counts. Rows come in the
page's order${environment.dataset ? ': those of the dataset, each once an epoch; the row’s own column chooses where rows have one, else the weights do' : ', by exact weights (round_robin.py)'}. TRL's log has \`NAME/success\` and \`NAME/reward\` for each.
`
}

/** The servers; '' for none. */
export function serversPart(servers: readonly ServerOf[], episodes: number): string {
  if (servers.length === 0) return ''
  const [only] = servers
  const one = servers.length === 1 && only?.name === null
  const seedIgnored = servers.some((server) => server.seedIgnored)
  const head = one
    ? `## The environment's server\n\n${code(only.address)}, or another one: \`--environment-url http://localhost:8000\`.`
    : `## The environments' servers\n\n${servers.map(({ name, address }) => `* ${code(name ?? '')}: ${code(address)}`).join('\n')}\n\nAnother address: \`--environment-url NAME=http://localhost:8000\`, once for each.`
  return `
${head} For a private Space set HF_TOKEN; it is sent to hosts under hf.space alone.

TRL holds one session for each episode of a step: the server must allow **${one ? '' : 'up to '}${episodes} sessions at once** (\`max_concurrent_envs\`; many public Spaces allow one or eight, so duplicate the
Space and raise it), or make PROMPTS_PER_STEP and NUM_GENERATIONS in train.py smaller. A session that breaks leaves its episode without a reward (None), never with 0; when no
episode can be begun for a minute, the run stops.
${seedIgnored ? '\nServers of this kind may ignore the seed: the members of a group then get different tasks, which makes the baseline noisier.\n' : ''}`
}
