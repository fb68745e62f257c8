/** What a run's generation has in JavaScript, in the folder for TRL: its source goes along, and every file says that TRL's own loop takes its place. */

import type { RunConfig } from '../../core/config'
import { hasCode, hostsOf } from '../../core/network-hosts'
import type { ExportFile } from '../../core/run-record'
import { code } from './markdown'
import { comment } from './python'

type Generated = Pick<RunConfig, 'rollout_func'>

/** The source of the page's function. */
export function rolloutFiles({ rollout_func: func }: Generated): ExportFile[] {
  return func ? [{ path: 'rollout_func.js', content: `${func.code.trimEnd()}\n` }] : []
}

/** What stands in train.py where TRL would get a rollout_func, with its line end; '' for nothing. */
export function rolloutComment({ rollout_func: func }: Generated): string {
  if (!func) return ''
  return `${comment(`STUB: on the page ${func.called}, a rollout_func in JavaScript, generated the completions: see rollout_func.js. Here TRL’s own\nloop generates. Written in Python, it is passed here: rollout_func=${func.called}.`, 8)}\n`
}

/** A row of README.md's table of files; '' for nothing. */
export function rolloutRow({ rollout_func: func }: Generated): string {
  return func ? '| rollout_func.js | the page’s function that generated the completions; train.py does not use it |\n' : ''
}

/** A section of README.md; '' for nothing. */
export function rolloutPart({ rollout_func: func }: Generated): string {
  if (!func) return ''
  return `
## How completions are generated

On the page the function ${code(func.called)} generated them (\`rollout_func\`). It is JavaScript, which TRL cannot run: its source is in rollout_func.js, and **train.py generates with TRL’s
own loop instead**, so episodes may be of another kind than those that the LoRA was trained on. To generate as on the page, write the function in Python and pass it to GRPOTrainer as
\`rollout_func\`; a STUB in train.py marks the place. TRL’s function gets the prompts of one process, each once, and returns \`prompt_ids\`, \`completion_ids\` and \`logprobs\` of all completions.
`
}

/** A section of README.md on what the run's JavaScript could reach; '' where it could reach nothing. */
export function networkPart(config: Pick<RunConfig, 'environment' | 'rollout_func' | 'grpo' | 'network_hosts'>): string {
  const hosts = hasCode(config) ? hostsOf(config) : []
  if (hosts.length === 0) return ''
  return `
## Network

On the page the run’s JavaScript ran in a sandbox with network to ${hosts.map(code).join(', ')} and to no other host, and each of its calls had 10 s, waiting for them included. Python
is held to neither: what you write in its place has this machine’s network. Keys that the code needs go into environment variables, not into these files.
`
}
