/** Export and import of trajectories, both formats. */

import { parquetMetadataAsync } from 'hyparquet'
import { ByteWriter, parquetWrite } from 'hyparquet-writer'
import { describe, expect, it } from 'vitest'
import type { KeptEpisode, RunRecord } from '../../core/run-record'
import { oneByOne, sampleRun, sampleSteps } from '../testing/episodes'
import { DEFAULT_STAGE, type StageRecord } from '../../core/stage'
import { columnsOf, readTrajectories, trajectoriesJsonl, trajectoriesParquet } from '.'

const FORMATS = { jsonl: trajectoriesJsonl, parquet: trajectoriesParquet }
const formats = Object.keys(FORMATS) as (keyof typeof FORMATS)[]
const written = (format: keyof typeof FORMATS, steps = sampleSteps(), run = sampleRun()) => FORMATS[format](run, oneByOne(steps))

/** The lines of the sample run, each changed by `change`. */
async function lines(change: (row: Record<string, unknown>, i: number) => unknown = (row) => row): Promise<Blob> {
  const text = await (await written('jsonl')).text()
  return new Blob([text.trimEnd().split('\n').map((line, i) => JSON.stringify(change(JSON.parse(line), i))).join('\n')])
}

describe.each(formats)('%s', (format) => {
  it('gives back the same episodes and the run', async () => {
    const { run, episodes, tokens, notices } = await readTrajectories(await written(format), 'x')
    expect(episodes).toEqual(sampleSteps())
    expect(run).toEqual({ ...sampleRun(), notes: '', checkpoint: null, bytes: 0 })
    expect({ tokens, notices }).toEqual({ tokens: true, notices: [] })
  })

  it('keeps notes and tokens of the Hub at home', async () => {
    const config = { ...sampleRun().config, environment: { kind: 'openenv' as const, url: 'https://a.b/?t=hf_abcdefghijklmnopqrstuvwxyz' } }
    const blob = await written(format, sampleSteps(), sampleRun({ config }))
    const bytes = new TextDecoder('latin1').decode(await blob.arrayBuffer())
    expect(bytes).not.toContain('Nobody')
    expect((await readTrajectories(blob, 'x')).run.config.environment).toEqual({ kind: 'openenv', url: 'https://a.b/?t=hf_…' })
    expect(bytes).not.toContain('hf_abcdef')
  })

  it('keeps who played each episode of several environments, and what each was', async () => {
    const members = sampleRun().environment.tools.slice(0, 1).map((tool) => ({ name: 'lane', tools: [tool], prompts: { system: 's', user: 'u' }, maxSessions: null }))
    const member = { weight: 1, system_prompt: '', user_prompt: '' }
    const environment = { kind: 'mix' as const, members: [{ ...member, environment: { kind: 'builtin' as const, name: 'lane' as const } }, { ...member, environment: { kind: 'openenv' as const, url: 'https://u:secret@a.b/' } }], dataset: null }
    const of = sampleRun()
    const run = { ...of, config: { ...of.config, environment }, environment: { ...of.environment, members } }
    const steps = sampleSteps().map((step) => step.map((episode, i) => (i === 0 ? { ...episode, environment: 'lane' } : episode)))
    const read = await readTrajectories(await written(format, steps, run), 'x')
    expect(read.episodes).toEqual(steps)
    expect(read.run.environment.members).toEqual(members)
    expect(read.run.config.environment).toEqual(environment)
  })

  it('keeps the hosts that code asked for, and none that is no host', async () => {
    const hostsOf = async (network_hosts: string[]) => (await readTrajectories(await written(format, sampleSteps(), sampleRun({ config: { ...sampleRun().config, network_hosts } })), 'x')).run.config.network_hosts
    expect([await hostsOf(['https://a.example', 'http://localhost:8000']), await hostsOf(['https://a.example', "'self'"])]).toEqual([['https://a.example', 'http://localhost:8000'], undefined])
  })

  it('refuses a run without episodes', async () => {
    await expect(written(format, [])).rejects.toThrow('No trajectories of the run “Echo: "quotes", #1” are kept.')
    await expect(written(format, [[], []])).rejects.toThrow('are kept')
  })

  it('replaces half a surrogate pair, which is no text', async () => {
    const [[episode]] = sampleSteps() as [[KeptEpisode]]
    const odd = { ...episode, advantage: -0, completion: 'a\uD83Db \\ud83d 😀', texts: episode.texts.map(() => '\uDE00') }
    const { episodes } = await readTrajectories(await written(format, [[odd, { ...odd, index: 1, advantage: 0 }]]), 'x')
    expect(episodes[0]?.[0]?.completion).toBe('a\uFFFDb \\ud83d 😀')
    expect(episodes[0]?.[0]?.texts[0]).toBe('\uFFFD')
    expect(episodes[0]?.[0]?.advantage).toBe(-0)
  })

  it('sorts steps and episodes', async () => {
    const steps = sampleSteps().reverse().map((step) => [...step].reverse())
    const { episodes, run } = await readTrajectories(await written(format, steps), 'x')
    expect(episodes).toEqual(sampleSteps())
    expect(run.id).toBe('run-1')
  })

  it('gives the reward a column of its own when the environment is called like one', async () => {
    const environment = { ...sampleRun().environment, name: 'reward' }
    expect(columnsOf(sampleRun({ environment })).map(({ name }) => name)).toContain('rewards/reward')
    const { episodes } = await readTrajectories(await written(format, sampleSteps(), sampleRun({ environment })), 'x')
    expect(episodes).toEqual(sampleSteps())
  })
})

describe.each(['jsonl', 'parquet'] as const)('reward functions as %s', (format) => {
  const funcs = [{ name: 'environment', take: 'own' }, { name: 'think_format_reward' }, { name: 'think_format_reward' }] as const
  const several = sampleRun({ config: { ...sampleRun().config, grpo: { ...sampleRun().config.grpo, reward_funcs: [...funcs] } } })
  const scored = () => sampleSteps().map((step) => step.map((episode, i) => ({ ...episode, rewards: { echo_env: episode.reward, think_format_reward: i, think_format_reward_2: null } })))

  it('have a column each, by their names, and come back', async () => {
    expect(columnsOf(several).map(({ name }) => name).slice(3, 7)).toEqual(['echo_env', 'think_format_reward', 'think_format_reward_2', 'advantage'])
    const { episodes } = await readTrajectories(await written(format, scored(), several), 'x')
    expect(episodes).toEqual(scored())
  })

  it('of groups that were sampled again are marked, trained nothing, and come back', async () => {
    const steps = sampleSteps().map((step, i) => (i === 0 ? step : step.map((episode) => ({ ...episode, discarded: true as const }))))
    const { episodes } = await readTrajectories(await written(format, steps), 'x')
    expect(episodes).toEqual(steps)
    const rows = (await (await written('jsonl', steps)).text()).trimEnd().split('\n').map((line) => JSON.parse(line) as { discarded: boolean; train_mask: number[] })
    expect(rows.map(({ discarded, train_mask }) => [discarded, train_mask.some((bit) => bit === 1)])).toEqual([[false, true], [false, false], [true, false], [true, false]])
  })

  it('and the run’s stages and evaluations come back with it', async () => {
    const stage: StageRecord = { kind: 'sft', dataset: 'x.jsonl', rows: 3, steps: 2, settings: DEFAULT_STAGE.sft, afterStep: 0, first: { loss: 2 }, last: { loss: null } }
    const made = sampleRun({ stages: [stage], evaluations: [{ ...sampleRun().evaluations[0]!, metrics: { eval_reward: 0.9, eval_success: null } }] })
    const { run } = await readTrajectories(await written(format, sampleSteps(), made), 'x')
    expect([run.stages, run.evaluations]).toEqual([[stage], made.evaluations])
  })
})

describe('train_mask', () => {
  const cut = () => sampleSteps().map((step) => step.map((episode, i) => (i === 1 ? { ...episode, terminated: false, trainLogprobs: null, entropies: null } : episode)))

  it('is 0 all over where the update left the episode out, while mask tells what the model wrote', async () => {
    const text = await (await written('jsonl', cut())).text()
    const rows = text.trimEnd().split('\n').map((line) => JSON.parse(line) as { mask: number[]; train_mask: number[] })
    const [whole] = sampleSteps()[0] as [KeptEpisode]
    const none = whole.mask.map(() => 0)
    expect(rows.map(({ mask }) => mask)).toEqual([whole.mask, whole.mask, whole.mask, whole.mask])
    // Of the first step the second episode has no reward, of the second it was cut off.
    expect(rows.map(({ train_mask }) => train_mask)).toEqual([whole.mask, none, whole.mask, none])
  })

  it('is not missed in older files', async () => {
    const { episodes } = await readTrajectories(await lines(({ train_mask: _, ...row }) => row), 'x')
    expect(episodes).toEqual(sampleSteps())
  })
})

describe('Parquet', () => {
  it('has every column of the rows, in order, TRL’s first', async () => {
    const names = columnsOf(sampleRun()).map(({ name }) => name)
    expect(names.slice(0, 5)).toEqual(['step', 'prompt', 'completion', 'echo_env', 'advantage'])
    expect(Object.keys(JSON.parse((await (await written('jsonl')).text()).split('\n')[0] ?? ''))).toEqual(names)
  })

  it('writes real numbers as such in JSONL, since readers guess a column’s type from the first ones', async () => {
    const text = await (await written('jsonl')).text()
    expect(text).toMatch(/"reward":1\.0,/)
    expect(text).toMatch(/"sampler_logprobs":\[0\.0,0\.0,/)
    expect(text).toMatch(/"ids":\[151644,7,/)
  })

  it('is written in row groups of 100', async () => {
    const [[episode]] = sampleSteps() as [[KeptEpisode]]
    const steps = [0, 1].map((step) => Array.from({ length: 130 }, (_, index) => ({ ...episode, step, index })))
    const blob = await written('parquet', steps)
    const metadata = await parquetMetadataAsync({ byteLength: blob.size, slice: (start, end) => blob.slice(start, end).arrayBuffer() })
    expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([100, 100, 60])
    expect((await readTrajectories(blob, 'x')).episodes).toEqual(steps)
  })
})

describe('rows that are not ours', () => {
  it.each<[string, (row: Record<string, unknown>) => unknown, RegExp]>([
    ['a missing column', ({ texts: _, ...row }) => row, /^t\.jsonl, line 2: column texts is missing\. Export/],
    ['a wrong type', (row) => ({ ...row, ids: ['7'] }), /line 2: column ids\[0\]: expected number, found "7"\./],
    ['another mask', (row) => ({ ...row, mask: [2] }), /column mask\[0\]: expected 0 or 1, found 2\./],
    ['a train_mask too short', (row) => ({ ...row, train_mask: [1] }), /column train_mask has 1 entries, but ids has 9\./],
    ['a list too short', (row) => ({ ...row, mask: [1] }), /column mask has 1 entries, but ids has 9\./],
    ['a prompt too long', (row) => ({ ...row, prompt_length: 10 }), /column prompt_length is 10, but ids has 9 entries\./],
    ['broken JSON inside', (row) => ({ ...row, scene: '{' }), /column scene: expected JSON, found "\{"\./],
    ['calls of another shape', (row) => ({ ...row, turns: [{ start: 8, end: 9, result_end: 9, calls: '[{}]' }] }), /column turns\[0\]\.calls\[0\]\.call: /],
    ['an unknown exit', (row) => ({ ...row, exit_reason: 'bored' }), /column exit_reason: .*"env_done".*found "bored"\./],
    ['another run', (row) => ({ ...row, run_id: 'b' }), /column run_id is "b", but the rows before are of the run "run-1"\. Give the rows of one run\./],
    ['an episode twice', (row) => ({ ...row, episode: 0 }), /line 2: episode 0 of step 1 is there twice\./],
    ['a turn beyond the end', (row) => ({ ...row, turns: [{ start: 8, end: 9, result_end: 10, calls: '[]' }] }), /column turns\[0\] spans the tokens 8, 9, 10/],
    ['other alternatives', (row) => ({ ...row, alternative_probs: (row.alternative_ids as unknown[]).map(() => [1]) }), /column alternative_probs\[0\] has another length than/],
    ['no ids all at once', ({ ids: _, ...row }) => row, /line 2: column ids is missing\./],
    ['a list', () => [], /line 2 is not a JSON object\./],
  ])('%s', async (_, change, sentence) => {
    const file = await lines((row, i) => (i === 1 ? change(row) : row))
    await expect(readTrajectories(file, 't.jsonl')).rejects.toThrow(expect.objectContaining({ kind: 'config' }))
    const error = (await readTrajectories(file, 't.jsonl').catch((e: unknown) => e)) as { message: string; advice: string }
    expect(`${error.message} ${error.advice}`).toMatch(sentence)
  })

  it.each<[string, BlobPart[], RegExp]>([
    ['nothing', [''], /t is empty\./],
    ['a zip', ['PK\u0003\u0004'], /t is a zip\./],
    ['a list', ['[{}]'], /t is one JSON list/],
    ['anything else', ['step,prompt'], /neither Parquet nor JSONL: it begins with "step,prompt"/],
    ['a cut line', ['{"step": 1}\n{"step"'], /t, line 1: column prompt is missing/],
    ['half a line', ['{"step":'], /t, line 1 is not JSON: /],
    ['bytes that are no text', ['{"step": "', new Uint8Array([0xff]), '"}'], /t is not UTF-8 text/],
    ['a cut Parquet file', ['PAR1 and no end'], /t: its end, which lists what it holds, cannot be read \(.*footer.*\)\./],
  ])('%s', async (_, parts, sentence) => {
    await expect(readTrajectories(new Blob(parts), 't')).rejects.toThrow(sentence)
  })

  it('names the row where a Parquet file is damaged', async () => {
    const bytes = new Uint8Array(await (await written('parquet')).arrayBuffer())
    bytes.fill(0xff, 4, 400)
    await expect(readTrajectories(new Blob([bytes]), 't')).rejects.toThrow(/t: rows 1 to 4 cannot be read/)
  })

  it.each([
    ['missing', null, 'does not hold the run’s settings'],
    ['of another version', '{"id": 3}', 'holds settings of the run that this version does not understand'],
  ])('shows the episodes where the run is %s', async (_, run, sentence) => {
    const { episodes, run: found, notices } = await readTrajectories(await lines((row) => ({ ...row, run })), 'part.jsonl')
    expect(episodes).toEqual(sampleSteps())
    expect(found).toMatchObject({ id: 'run-1', name: 'part.jsonl', step: 2, checkpoint: null, config: { grpo: { num_generations: 2, prompts_per_step: 1 } } })
    expect(notices).toEqual([`part.jsonl ${sentence}: only its episodes are shown.`])
  })

  it('takes null where a JSONL writer leaves empty fields out, and unknown columns', async () => {
    const slim = await lines((row) => ({ ...Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)), extra: 1 }))
    expect((await readTrajectories(slim, 'x')).episodes).toEqual(sampleSteps())
  })
})

describe('TRL’s completions', () => {
  const rows = [
    { step: 5, prompt: 'A?', completion: 'one', format: 1, length: 0.5, note: 'x', advantage: 0.7 },
    { step: 5, prompt: 'A?', completion: 'two', format: 0, length: null, note: null, advantage: -0.7 },
    { step: 5, prompt: 'B?', completion: 'three', format: null, length: null, note: 'z', advantage: 0 },
  ]

  function parquet(): Blob {
    const writer = new ByteWriter()
    const names = ['step', 'prompt', 'completion', 'format', 'length', 'note', 'advantage'] as const
    const types = { step: 'INT64', prompt: 'STRING', completion: 'STRING', format: 'DOUBLE', length: 'DOUBLE', note: 'STRING', advantage: 'DOUBLE' } as const
    const cell = (name: (typeof names)[number], row: (typeof rows)[number]) => (name === 'step' ? BigInt(row.step) : row[name])
    void parquetWrite({ writer, columnData: names.map((name) => ({ name, type: types[name], data: rows.map((row) => cell(name, row)) })) })
    return new Blob([writer.getBuffer()])
  }

  it.each([
    ['JSONL', () => new Blob([rows.map((row) => JSON.stringify(row)).join('\n')])],
    ['Parquet', parquet],
  ])('are shown from %s as one piece of text per author, and a notice says so', async (_, file) => {
    const { run, episodes, tokens, notices } = await readTrajectories(file(), 'completions_00005.parquet')
    expect(tokens).toBe(false)
    expect(notices).toEqual([expect.stringMatching(/text without token ids.*The reward is the sum of the columns format, length\./)])
    expect(run).toMatchObject({ name: 'completions_00005.parquet', environment: { name: 'format + length' }, step: 5, checkpoint: null } satisfies DeepPartial<RunRecord>)
    expect(episodes).toHaveLength(1)
    expect(episodes[0]?.map(({ index, group, reward, advantage, texts }) => ({ index, group, reward, advantage, texts }))).toEqual([
      { index: 0, group: 0, reward: 1.5, advantage: 0.7, texts: ['A?', 'one'] },
      { index: 1, group: 0, reward: 0, advantage: -0.7, texts: ['A?', 'two'] },
      { index: 2, group: 1, reward: null, advantage: 0, texts: ['B?', 'three'] },
    ])
    expect(episodes[0]?.[0]).toMatchObject({ ids: [-1, -1], authors: ['template', 'model'], mask: [0, 1], promptLength: 1, prompt: 'A?', completion: 'one' })
  })

  it('are shown message by message where they are conversations', async () => {
    const call = { type: 'function', function: { name: 'go', arguments: { x: 1, y: null } } }
    const prompt = [{ role: 'system', content: 'S' }, { role: 'user', content: [{ type: 'text', text: 'U' }] }]
    const completion = [{ role: 'assistant', content: 'I go.', tool_calls: [call] }, { role: 'tool', name: 'go', content: 'went' }, { role: 'assistant', content: null }]
    const { episodes } = await readTrajectories(new Blob([JSON.stringify({ step: 1, prompt, completion, env: 1, advantage: 0 })]), 'x')
    expect(episodes[0]?.[0]).toMatchObject({
      texts: ['S', 'U', 'I go.\n{"name":"go","arguments":{"x":1}}', 'went', ''],
      authors: ['template', 'template', 'model', 'environment', 'model'],
      mask: [0, 0, 1, 0, 1],
      promptLength: 2,
      prompt: 'S\nU',
    })
  })

  it('that lack a column are refused', async () => {
    await expect(readTrajectories(new Blob(['{"step": 1, "prompt": 3, "completion": ""}']), 'x')).rejects.toThrow('x, line 1: column prompt: expected text or a list of messages, found 3.')
  })
})

type DeepPartial<T> = { [K in keyof T]?: DeepPartial<T[K]> }
