/** Secrets of a person's address, prompts, name and notes, and those in trajectories, are in nothing that is taken away. */

import { describe, expect, it } from 'vitest'
import type { ExportFile, KeptEpisode } from '../core/run-record'
import { datasetFiles } from './dataset-card'
import { metricsCsv, trackioFiles, trainerState } from './metrics-export'
import { modelCard } from './model-card'
import { withoutSecrets } from './secrets'
import { oneByOne, sampleHistory, sampleRun, sampleSteps } from './testing/episodes'
import { readTrajectories, trajectoriesJsonl, trajectoriesParquet } from './trajectories'
import { trlFolder } from './trl'
import { unipoJsonl } from './unipo-export'

const TOKEN = `hf_${'aB3'.repeat(12)}`
const JWT = 'eyJhbGciOiJFZERTQSJ9.eyJyZWFkIjp0cnVlLCJzdWIiOiJ4In0.c2lnbmF0dXJlLW9mLWl0'
const HALF = 'half \uD83D'
const SECRET = /hf_a|eyJh|sesame|word@|__sign/

const { config, environment } = sampleRun()
const RUN = withoutSecrets(
  sampleRun({
    name: `Run ${TOKEN}`,
    notes: TOKEN,
    config: {
      ...config,
      environment: { kind: 'openenv', url: `https://me:word@owner-env.hf.space/?__sign=${JWT}&key=sesame` },
      system_prompt: `Use ${TOKEN}.`,
      user_prompt: TOKEN,
      tool_edits: [{ kind: 'describe', tool: 'say', description: TOKEN }],
    },
    environment: { ...environment, tools: environment.tools.map(({ type, function: tool }) => ({ type, function: { ...tool, description: TOKEN } })), prompts: { system: TOKEN, user: TOKEN } },
  }),
)

/** The prompt and a call hold the token, spelled by three of the model's tokens; the rest of a text is half a character. */
const STEPS: KeptEpisode[][] = sampleSteps().map((step) =>
  step.map((episode) => ({
    ...episode,
    prompt: `Say ${TOKEN}`,
    completion: `${TOKEN} ${HALF}`,
    error: `Refused ${TOKEN}.`,
    texts: ['<s>', 'Say', ' ', TOKEN.slice(0, 2), TOKEN.slice(2, 9), TOKEN.slice(9), ` ${HALF}`, '', '<e>'],
    messages: episode.messages.map((message) => ({ ...message, content: `${TOKEN} ${HALF}` })),
    turns: episode.turns.map((turn) => ({ ...turn, calls: turn.calls.map((call) => ({ ...call, result: `${TOKEN} ${HALF}` })), scene: { said: HALF } })),
    scene: { said: TOKEN, cut: HALF },
  })),
)
const steps = () => oneByOne(STEPS)

const textOf = async ({ content }: Pick<ExportFile, 'content'>) => (content instanceof Blob ? await content.text() : typeof content === 'string' ? content : '')
const textsOf = async (files: readonly ExportFile[]) => (await Promise.all(files.map(textOf))).join('\n')

it('cards have the code that a person wrote, in fences that it cannot close, without secrets', async () => {
  const code = `class A {\n  // \`\`\`\n  key = '${TOKEN}'\n}`
  const run = sampleRun({ config: { ...config, environment: { kind: 'custom', called: 'A', code }, rollout_func: { called: 'roll', code: `function roll() { return '${JWT}' }` } } })
  const cards = [modelCard({ run, history: sampleHistory(), kind: 'adapter', repo: 'me/lora', curve: null }), await textsOf((await datasetFiles(run, steps())).slice(0, 1))]
  for (const card of cards) {
    expect(card).toContain("## Code of the run\n\nWritten in the page in JavaScript; it ran in a sandbox.\n\nThe environment `A`:\n\n````js\nclass A {\n  // ```\n  key = 'hf_…'\n}\n````")
    expect(card).toContain("The function that generated the completions, `roll`:\n\n```js\nfunction roll() { return 'eyJ…' }\n```")
    expect(card).not.toMatch(SECRET)
  }
  expect(modelCard({ run: RUN, history: [], kind: 'adapter', repo: null, curve: null })).not.toContain('Code of the run')
  const network_hosts = ['https://a.example', 'http://localhost:8000']
  const open = sampleRun({ config: { ...run.config, network_hosts } })
  expect(modelCard({ run: open, history: [], kind: 'adapter', repo: null, curve: null })).toContain('it ran in a sandbox with network to `https://a.example`, `http://localhost:8000` and to no other host;')
  const judged = sampleRun({ config: { ...config, network_hosts, grpo: { ...config.grpo, reward_funcs: [{ name: 'custom', called: 'mine', code: '' }] } } })
  expect(modelCard({ run: judged, history: [], kind: 'adapter', repo: null, curve: null })).toContain('Reward functions were written in JavaScript and ran in a sandbox with network to `https://a.example`')
  // Without code there is nothing that could reach them.
  expect(modelCard({ run: sampleRun({ config: { ...config, network_hosts } }), history: [], kind: 'adapter', repo: null, curve: null })).not.toContain('a.example')
})

/** Everything of a run that holds texts of its own in TRL's folder: code, a server, pasted rows. */
const MEMBERS = [{ kind: 'custom', called: 'Shop', code: `class Shop { key = '${TOKEN}' }` }, { kind: 'openenv', url: `https://h.hf.space/?__sign=${JWT}` }, { kind: 'prompts', dataset: { kind: 'text', name: 'mine', text: `{"prompt":"Say ${TOKEN}"}` } }] as const
const CODE = withoutSecrets(
  sampleRun({
    config: {
      ...config,
      environment: { kind: 'mix', members: MEMBERS.map((each) => ({ environment: each, weight: 1, system_prompt: TOKEN, user_prompt: '' })), dataset: null },
      tool_edits: [],
      rollout_func: { called: 'roll', code: `function roll() { return '${TOKEN}' }` },
      grpo: { ...config.grpo, reward_funcs: [{ name: 'custom', called: 'mine', code: `'${TOKEN}'`, only: [`https://h.hf.space/?__sign=${JWT}`] }, { name: 'environment', take: 'own' }] },
    },
    environment: { ...environment, members: ['Shop', 'h', 'mine'].map((name) => ({ name, tools: environment.tools, prompts: { system: TOKEN, user: '' }, maxSessions: null })) },
  }),
)

describe('no secret is in', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['the card', () => modelCard({ run: RUN, history: sampleHistory(), kind: 'adapter', repo: 'me/lora', curve: null })],
    ['the dataset’s card', async () => textsOf((await datasetFiles(RUN, steps())).slice(0, 1))],
    ['trackio’s folder', () => textsOf(trackioFiles(RUN, sampleHistory()))],
    ['the metrics', () => metricsCsv(sampleHistory()) + trainerState(RUN, sampleHistory())],
    ['TRL’s folder', () => textsOf(trlFolder({ run: RUN, history: sampleHistory(), adapter: [{ path: 'adapter_config.json', content: '{}' }] }))],
    ['TRL’s folder of several environments and of code', () => textsOf(trlFolder({ run: CODE, history: [], adapter: [{ path: 'adapter_config.json', content: '{}' }] }))],
    ['UNIPO’s lines', async () => (await unipoJsonl(RUN, sampleHistory(), steps())).text()],
    ['JSONL', async () => (await trajectoriesJsonl(RUN, steps())).text()],
    ['Parquet', async () => JSON.stringify(await readTrajectories(await trajectoriesParquet(RUN, steps()), 'x'))],
  ])('%s', async (_, made) => {
    const text = await made()
    expect(text.length).toBeGreaterThan(100)
    expect(text).not.toMatch(SECRET)
  })

  it('the texts and ids of single tokens', async () => {
    for (const file of [await trajectoriesJsonl(RUN, steps()), await trajectoriesParquet(RUN, steps())]) {
      const { episodes, run } = await readTrajectories(file, 'x')
      expect(run.config.environment).toEqual({ kind: 'openenv', url: 'https://owner-env.hf.space/' })
      expect(episodes[0]?.[0]).toMatchObject({ prompt: 'Say hf_…', texts: ['<s>', 'Say', ' ', 'hf_…', '', '', ' half \uFFFD', '', '<e>'] })
      expect(episodes[0]?.[0]?.ids.slice(2, 7)).toEqual([9, 0, 0, 0, 14])
    }
    const [, step] = (await (await unipoJsonl(RUN, sampleHistory(), steps())).text()).split('\n').map((line) => line && (JSON.parse(line) as { prompts: { responses: { tokens: { strings: string[] } }[] }[] }))
    expect(step && step.prompts[0]?.responses[0]?.tokens.strings.join('')).toBe('hf_… half \uFFFD<e>')
  })
})

it('no half of a character is in what Python reads as JSON, nor in the JSON within it', async () => {
  const odd = { ...RUN, name: HALF }
  const lines = [await (await trajectoriesJsonl(odd, steps())).text(), await (await unipoJsonl(odd, sampleHistory(), steps())).text(), await textsOf(trackioFiles(odd, sampleHistory()))]
  for (const text of lines) {
    expect(text).toContain('half \uFFFD')
    expect(text).not.toMatch(/\\ud[89a-f]/)
  }
})
