/** Everything that the built page takes away of a run against a real OpenEnv server: Python's libraries read it, and TRL trains on. */

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { builtinEnvironment } from '../../src/env/builtin'
import { groupSeeds } from '../../src/train/seeds'
import type { StepRecord } from '../../src/worker/protocol'
import { launchChromium } from '../browser/chromium'
import { startSite, type RunningServer as Site } from '../browser/server'
import { startServers, type RunningServer } from '../openenv/server'
import { venvPython } from '../tools/venv'
import { openRunningPage, type TakenAway } from './page-run'
import { REFERENCE, ROOT, referenceJson } from './reference'
import { checkTrajectories, type TrajectoriesAnswer } from './trajectories-case'
import { playEpisode } from './trl-episodes'
import { completions, logs, trainInTrl, writeFolder } from './trl-run'

const PLACE = 'page-folder'
const STEPS = 2
const GROUPS = 2
const G = 4

let browser: Browser
let site: Site
let server: RunningServer
const records: StepRecord[] = []
let files: TakenAway
let found: TrajectoriesAnswer

const part = (folder: string): { path: string; content: Uint8Array<ArrayBuffer> }[] =>
  Object.entries(files).flatMap(([path, bytes]) => (path.startsWith(`${folder}/`) ? [{ path: path.slice(folder.length + 1), content: new Uint8Array(bytes) }] : []))

beforeAll(async () => {
  ;[server] = (await startServers(['catch:64'])) as [RunningServer]
  ;[browser, site] = await Promise.all([launchChromium(), startSite()])
  const page = await openRunningPage(browser, site.url, { env: 'catch', seed: 3, prompts_per_step: GROUPS, num_generations: G, max_steps: 9, learning_rate: 0.001, max_completion_length: 320, backend: 'wasm' })
  await page.configure((before) => ({ ...before, environment: { kind: 'openenv', url: server.url } }))
  for (let step = 0; step < STEPS; step++) records.push(await page.step())
  files = { ...(await page.takeAway('everything')), ...(await page.takeAway('trajectories.jsonl')) }
  expect([...page.pageErrors, ...page.consoleErrors]).toEqual([])
  await page.close()
  const jsonl = Object.entries(files).find(([path]) => path.endsWith('-trajectories.jsonl'))?.[1] as Uint8Array<ArrayBuffer>
  const read = (path: string) => new Uint8Array(files[path] as Uint8Array)
  writeFolder(join(REFERENCE, PLACE, 'logs'), [
    ...part('trajectories').map(({ path, content }) => ({ path: `dataset/${path}`, content })),
    ...part('trackio').map(({ path, content }) => ({ path: `trackio/${path}`, content })),
    { path: 'trajectories.jsonl', content: jsonl },
    { path: 'metrics.csv', content: read('metrics.csv') },
    { path: 'trainer_state.json', content: read('adapter/trainer_state.json') },
  ])
  found = checkTrajectories(join(REFERENCE, PLACE, 'logs'))
}, 10 * 60_000)
afterAll(async () => {
  await browser?.close()
  await site?.close()
  await server?.kill()
})

it('holds every part', () => {
  expect(Object.keys(files).filter((path) => path.endsWith('NOT-INCLUDED.txt'))).toEqual([])
  const folders = new Set(Object.keys(files).map((path) => path.split('/')[0]))
  for (const folder of ['adapter', 'merged', 'trajectories', 'trackio', 'trl', 'unipo', 'run.json', 'metrics.csv']) expect(folders).toContain(folder)
})

it('the dataset, by pyarrow and datasets, and the JSONL hold what the page trained on', () => {
  const episodes = records.flatMap((record) => record.episodes)
  expect(episodes).toHaveLength(STEPS * GROUPS * G)
  for (const rows of [found.dataset?.rows, found.parquet?.rows, found.lines]) {
    expect(rows?.map(({ step, ids, reward, advantage, exit_reason }) => ({ step, ids, reward, advantage, exit: exit_reason }))).toEqual(
      episodes.map(({ step, ids, reward, advantage, exit }) => ({ step, ids, reward, advantage, exit })),
    )
    expect(rows?.map(({ mask }) => mask)).toEqual(episodes.map(({ mask }) => mask))
  }
  for (const [prompt] of found.decoded ?? []) expect(prompt.length).toBeGreaterThan(100)
  found.parquet?.rows.forEach(({ prompt, completion }, i) => expect([prompt, completion]).toEqual(found.decoded?.[i]))
  expect(found.card?.configs).not.toEqual({})
})

it('metrics, by Python’s csv, the Trainer’s state and trackio, are the page’s', () => {
  const rewards = records.map(({ metrics }) => metrics['reward'])
  expect(found['metrics.csv']?.map(({ reward }) => reward)).toEqual(rewards)
  expect(found['trainer_state.json']?.log_history.map(({ reward }) => reward)).toEqual(rewards)
  expect(found.trackio?.logs[0]).toHaveLength(STEPS)
})

it('the model card’s metadata is valid, and its Python loads the adapter beside it', () => {
  const place = join(REFERENCE, PLACE, 'cards')
  const card = new TextDecoder().decode(files['adapter/README.md'])
  expect(card).toContain('path/to/this/folder')
  // A person writes down where he has put the folder.
  const content = card.replaceAll('path/to/this/folder', join(place, 'adapter'))
  writeFolder(join(place, 'adapter'), [...part('adapter'), { path: 'README.md', content }])
  writeFileSync(join(place, 'cases.json'), JSON.stringify([{ folder: 'adapter', ids: [1, 17, 300] }]))
  execFileSync(venvPython('reference'), ['e2e/reference/card_cases.py', place], { cwd: ROOT, env: { ...process.env, OMP_WAIT_POLICY: 'PASSIVE' }, stdio: 'inherit' })
  const [answer] = referenceJson<{ metadata: Record<string, unknown>; logits: number[][] }[]>(join(PLACE, 'cards/answers.json'))
  expect(answer?.metadata).toMatchObject({ library_name: 'peft', pipeline_tag: 'text-generation' })
  expect(answer?.logits.length).toBeGreaterThan(0)
})

it('train.py goes on with TRL for two steps, from the rewards that the page’s own game gives', async () => {
  const folder = join(REFERENCE, PLACE, 'trl')
  writeFolder(folder, part('trl'))
  await trainInTrl(folder, 'out-page', ['--steps', '2'])
  const steps = logs('out-page').filter((log) => 'reward' in log)
  expect(steps.map(({ step, unscorable }) => [step, unscorable])).toEqual([[1, 0], [2, 0]])
  const game = builtinEnvironment('catch')
  const rows = await completions('out-page', 1)
  expect(rows).toHaveLength(GROUPS * G)
  const seeds = groupSeeds(3, STEPS + 1, GROUPS)
  let compared = 0
  for (const [i, { prompt, completion, environment_reward }] of rows.entries()) {
    const calls = completion.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ function: call }) => call)
    const played = await playEpisode(game, seeds[Math.floor(i / G)] as number, 'train', 7, (turn) => calls[turn] ?? { name: 'none', arguments: {} })
    expect(prompt.at(-1)?.content).toBe(played.start)
    if (calls.length < played.calls.length) continue
    compared++
    expect(environment_reward).toBe(played.reward)
  }
  expect(compared).toBeGreaterThan(0)
}, 10 * 60_000)
