/** Parts of train.py that depend on what is played: lines of main for a run in one environment. */

import { evaluationSeed } from '../../core/evaluation'
import type { RunConfig } from '../../core/config'
import type { WrittenFacts } from './written-class'

/** What differs between runs, as lines of Python. */
export interface TaskParts {
  /** Lines of main after its arguments are read. */
  imports: string
  dataset: string
  processing: string
  factory: string
  after: string
  /** Scenarios of evaluations; null where none are played. */
  evaluated: EvaluatedParts | null
}

/** Where evaluations take their scenarios from. */
export interface EvaluatedParts {
  /** Whether they are such that training never draws; null: known only where the script runs. */
  heldOut: boolean | null
  seeds: string
  /** A list of rows, as an expression. */
  rows: string
}

/** Long enough that TRL leaves the result out. */
export const ENDING = `    # A tool result that does not fit the budget is left out by TRL, and the episode ends with the model's own last token: as the page ends
    # an episode that the environment calls done. Without this, TRL would let the model go on talking after the end.
`

/** Ends the script where methods of a class of the page are still to be written, before anything is loaded. */
export const UNWRITTEN = `    from written import unwritten

    # The page's environment is a class in JavaScript.
    missing = unwritten(args.folder)
    if missing:
        sys.exit("Before training, write the environment in Python. " + "; ".join(missing) + ".")
`

/** Of a run that plays one environment. */
export function playedParts({ environment }: RunConfig, written: WrittenFacts | null): TaskParts {
  const heldOut = environment.kind === 'builtin' || (written?.heldOut ?? false)
  return {
    imports: `${environment.kind === 'custom' ? `${UNWRITTEN}\n` : ''}    from environment import SYSTEM_PROMPT, TOOLS, USER_PROMPT, PlaygroundEnvironment
    from playground import group_seeds

${ENDING}    PlaygroundEnvironment._end = " over" * (MAX_COMPLETION_LENGTH + 1)
${environment.kind === 'openenv' ? '    if args.environment_url:\n        PlaygroundEnvironment._url = args.environment_url\n' : ''}`,
    dataset: `    prompt = [{"role": "user", "content": USER_PROMPT}]
    if SYSTEM_PROMPT:
        prompt.insert(0, {"role": "system", "content": SYSTEM_PROMPT})
    # One row a group: each member is reset with the same seed. Steps of the page count from 1.
    seeds = [seed for step in range(args.steps) for seed in group_seeds(SEED, STEPS_DONE + 1 + step, PROMPTS_PER_STEP)]
    dataset = Dataset.from_list([{"prompt": prompt, "seed": seed} for seed in seeds])`,
    processing: 'load_tokenizer(base, prompt, TOOLS)',
    factory: '        environment_factory=PlaygroundEnvironment,\n',
    after: `    # TRL would write the schemas anew from the methods, sorted by name; the policy has learned to read these.
    trainer._env_tools = {None: TOOLS}
`,
    evaluated: {
      heldOut,
      seeds: `EVAL_SEED = ${evaluationSeed(heldOut ? 'heldout' : 'train')}`,
      rows: `[{"prompt": prompt, "seed": seed${heldOut ? ', "split": "heldout"' : ''}} for seed in group_seeds(EVAL_SEED, 0, EVAL_EPISODES)]`,
    },
  }
}
