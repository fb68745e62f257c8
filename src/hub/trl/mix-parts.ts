/** A run of several environments: environment.py that lists them, and the parts of train.py that share the prompts among them. */

import { evaluationSeed } from '../../core/evaluation'
import type { DatasetFacts } from '../../core/dataset'
import type { PromptSource } from '../../core/environment-spec'
import type { RunRecord } from '../../core/run-record'
import type { Member } from './members'
import { comment, docstring, py, pyString } from './python'
import { rowsPath } from './row-files'
import { ENDING, type TaskParts, UNWRITTEN } from './task-parts'
import type { WrittenFacts } from './written-class'

const isAnswered = ({ run }: Member): boolean => run.config.environment.kind === 'prompts'
/** The module of a member's own environment.py. */
export const moduleOf = ({ word }: Member): string => `environment_${word}`

/** The text of environment.py. */
export function mixScript(members: readonly Member[], written: readonly (WrittenFacts | null)[]): string {
  const played = members.filter((member) => !isAnswered(member))
  const answers = members.some(isAnswered)
  return [
    docstring(`The environments of the run for TRL, ${members.length} of them: each prompt is played by one.`, 0),
    '',
    'from __future__ import annotations',
    '',
    ...played.map((member) => `import ${moduleOf(member)}`),
    `from mix import ${answers ? 'Answers, ' : ''}Member`,
    '',
    '# In the page’s order, which decides whose turn it is where several are due.',
    'MEMBERS = [',
    ...members.map((member, i) => entry(member, written[i] ?? null)),
    ']',
    '',
  ].join('\n')
}

function entry(member: Member, written: WrittenFacts | null): string {
  const { name, chosenAs, weight, run } = member
  const { kind } = run.config.environment
  const of = moduleOf(member)
  const lines = isAnswered(member)
    ? ['kind=Answers,', 'tools=[],', `system_prompt=${pyString(run.config.system_prompt)},`, 'user_prompt="",']
    : [`kind=${of}.PlaygroundEnvironment,`, `tools=${of}.TOOLS,`, `system_prompt=${of}.SYSTEM_PROMPT,`, `user_prompt=${of}.USER_PROMPT,`]
  const all = [`name=${pyString(name)},`, `chosen_as=${pyString(chosenAs)},`, ...lines, `weight=${py(weight)},`, `held_out=${py(kind === 'builtin' || (written?.heldOut ?? false))},`]
  return ['    Member(', ...all.map((line) => `        ${line}`), '    ),'].join('\n')
}

/** Of a run of several environments; null for others. */
export function mixParts({ config, environment }: RunRecord, members: readonly Member[]): TaskParts | null {
  if (config.environment.kind !== 'mix') return null
  const { dataset } = config.environment
  const own = members.flatMap((member) => (member.run.config.environment.kind === 'prompts' ? [{ member, dataset: member.run.config.environment.dataset }] : []))
  const datasets = [...(dataset ? [dataset] : []), ...own.map((each) => each.dataset)]
  const kinds = members.map(({ run }) => run.config.environment.kind)
  const withTools = members.some((member) => member.run.environment.tools.length > 0)
  const fromMix = ['Prompts', ...(dataset ? ['known_rows'] : []), 'table']
  const given = ['MEMBERS', 'SEED', ...(own.length > 0 ? ['own=own'] : []), ...(dataset ? ['chosen=chosen'] : [])]
  return {
    imports: [
      ...(kinds.includes('custom') ? [UNWRITTEN] : []),
      ...(datasets.some(({ kind }) => kind === 'hub') ? ['    from datasets import load_dataset'] : []),
      '    from environment import MEMBERS',
      `    from mix import ${fromMix.join(', ')}`,
      '    from playground import group_seeds',
      ...(datasets.length > 0 ? [`    from prompts import ${datasets.every(({ kind }) => kind === 'hub') ? '' : 'read_rows, '}split_rows`] : []),
      '',
      `${ENDING}    for member in MEMBERS:`,
      '        member.kind._end = " over" * (MAX_COMPLETION_LENGTH + 1)',
      ...(kinds.includes('openenv') ? [ADDRESSES] : []),
    ].join('\n'),
    dataset: [
      ...(own.length > 0 ? ['    # Rows of members that are datasets, as the page reads them.', '    own = {', ...own.flatMap((each) => ownRows(each.member, each.dataset)), '    }'] : []),
      ...(dataset ? ['    # Each row’s column environment chooses who plays it; where no row has one, weights do.', `    chosen = ${rowsOf(dataset, rowsPath(null), '', environment.dataset?.place, true)}`] : []),
      `    prompts = Prompts(${given.join(', ')})`,
      '    # One row a group, in the page’s order: its members are reset with the same seed. Steps of the page count from 1.',
      '    steps = range(STEPS_DONE, STEPS_DONE + args.steps)',
      '    groups = [row for step in steps for row in prompts.groups(group_seeds(SEED, step + 1, PROMPTS_PER_STEP), step * PROMPTS_PER_STEP)]',
      '    dataset = Dataset.from_list(table(groups))',
      ...(withTools ? ['    # The model’s chat template is compared with TRL’s on what a member with tools begins with.', ...START] : []),
    ].join('\n'),
    processing: withTools ? 'load_tokenizer(base, start, speaker.tools)' : 'AutoTokenizer.from_pretrained(base, revision=REVISION, padding_side="left")',
    factory: '        environment_factory={member.name: member.kind for member in MEMBERS},\n',
    after: `    # TRL would write the schemas anew from the methods, sorted by name; the policy has learned to read these.
    trainer._env_tools = {member.name: member.tools for member in MEMBERS}
`,
    evaluated: {
      heldOut: null,
      seeds: `EVAL_SEEDS = {"train": ${evaluationSeed('train')}, "heldout": ${evaluationSeed('heldout')}}`,
      rows: 'table(prompts.groups(group_seeds(EVAL_SEEDS[prompts.split], 0, prompts.evaluated(EVAL_EPISODES)), 0, prompts.split))',
    },
  }
}

const START = [
  '    speaker = next(member for member in MEMBERS if member.tools)',
  '    start = [{"role": "system", "content": speaker.system_prompt}] if speaker.system_prompt else []',
  '    start.append({"role": "user", "content": speaker.user_prompt})',
]

const ADDRESSES = `    addressed = {member.name: member.kind for member in MEMBERS if hasattr(member.kind, "_url")}
    for given in args.environment_url:
        name, _, url = given.rpartition("=")
        if name not in addressed:
            sys.exit(f"--environment-url is NAME=URL, and a name is one of: {', '.join(addressed)}.")
        addressed[name]._url = url
`

/** The entry of a member that is a dataset. */
function ownRows({ name, word, run }: Member, dataset: PromptSource): string[] {
  const moved = dataset.kind === 'hub' && !/^[0-9a-f]{40}$/.test(dataset.revision)
  const told = moved ? [comment(`The page read ${dataset.repo} at this revision, which may have moved since.`, 8)] : []
  return [...told, `        ${pyString(name)}: ${rowsOf(dataset, rowsPath(word), run.config.system_prompt, undefined, false)},`]
}

/** Rows in their two parts, as an expression. `place`: where the page read them, where that is known; `chooses`: they may name an environment. */
function rowsOf(dataset: PromptSource, path: ReturnType<typeof rowsPath>, systemPrompt: string, place: DatasetFacts['place'], chooses: boolean): string {
  const split = (rows: string, more = '') => `split_rows(${chooses ? `known_rows(${rows}, MEMBERS)` : rows}, ${pyString(systemPrompt)}${more})`
  const read = (part: 'train' | 'heldout') => `read_rows(args.folder / ${pyString(path(part))})`
  if (dataset.kind === 'builtin') {
    const part = (name: 'train' | 'heldout') => `"${name}": ${split(read(name), ', hold_out=False')}["train"]`
    return `{${part('train')}, ${part('heldout')}}`
  }
  if (dataset.kind === 'text') return split(read('train'))
  const config = place?.config === 'default' ? null : (place?.config ?? dataset.config)
  return split(`load_dataset(${pyString(dataset.repo)}, ${py(config)}, split=${pyString(place?.split ?? dataset.split ?? 'train')}, revision=${pyString(place?.sha ?? dataset.revision)}).to_list()[:20_000]`)
}
