/** The real TRL trains in a real OpenEnv server, in a class that was written in the page and in a game at once, as the page plays them. */

import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { Environment } from '../../src/core/environment'
import type { EnvironmentSpec, MixMember, PageFunction } from '../../src/core/environment-spec'
import type { ToolCall } from '../../src/core/tools'
import { builtinEnvironment } from '../../src/env/builtin'
import { mixEnvironment } from '../../src/env/mix'
import { OpenEnvEnvironment } from '../../src/env/openenv/client'
import { peftAdapterFiles } from '../../src/hub/peft-writer'
import { trlFolder } from '../../src/hub/trl'
import { groupSeeds } from '../../src/train/seeds'
import { tinyEngine } from '../integration/grpo-run'
import { startServers, type RunningServer } from '../openenv/server'
import { REFERENCE } from './reference'
import { playEpisode } from './trl-episodes'
import { completions, logs, recordOf, tinyModelFiles, trainInTrl, writeFolder } from './trl-run'
import { classFacts, classOf, writeMethods } from './written-class'

/** With tools and words that the shipped model knows. */
const CROSSING: PageFunction = {
  called: 'Crossing',
  code: `class Crossing {
  static system_prompt = 'You drive a car. Hit nobody.'

  reset({ seed }) {
    this.far = seed % 3 !== 0
    return ['dog', 'deer'][seed % 2] + ': distance ' + (this.far ? 80 : 20) + ', speed 50, free left'
  }

  /** Stop. Use when distance is more than speed. */
  emergency_stop() {
    return { text: this.far ? 'passed' : 'hit', reward: this.far ? 1 : 0, done: true }
  }

  /**
   * Change lane. Use when distance is less than speed.
   * @param {'left'|'right'} direction - The lane to change to.
   */
  lane_change(direction) {
    const safe = !this.far && direction === 'left'
    return { text: safe ? 'passed' : 'hit', reward: safe ? 1 : 0.25, done: true }
  }
}
`,
}
const BODIES = {
  reset: 'self.far = seed % 3 != 0\n        return ["dog", "deer"][seed % 2] + f": distance {80 if self.far else 20}, speed 50, free left"',
  emergency_stop: 'return {"text": "passed" if self.far else "hit", "reward": 1 if self.far else 0, "done": True}',
  lane_change: 'safe = not self.far and direction == "left"\n        return {"text": "passed" if safe else "hit", "reward": 1 if safe else 0.25, "done": True}',
}

/** Parquet has one column for each argument of any tool, null where a call has none. */
const given = ({ name, arguments: all }: ToolCall): ToolCall => ({ name, arguments: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) })

describe('two steps in the real TRL', () => {
  const OUT = 'mix-kinds-out'
  const [SEED, TURNS] = [7, 7]
  /** The page's environments, in the members' order; the server's game as the page itself has it. */
  const page: Environment[] = [builtinEnvironment('lane'), builtinEnvironment('catch'), classOf(CROSSING)]
  let names: string[] = []
  /** Of each group of the first step, whose turn it is on the page. */
  let turns: number[] = []

  beforeAll(async () => {
    const [server] = (await startServers(['catch:64'])) as [RunningServer]
    const kinds: MixMember['environment'][] = [{ kind: 'builtin', name: 'lane' }, { kind: 'openenv', url: server.url }, { kind: 'custom', ...CROSSING }]
    const parts = [builtinEnvironment('lane'), new OpenEnvEnvironment(server.url, { WebSocket }), classOf(CROSSING)].map((environment) => ({ name: environment.name, environment, weight: 1, system_prompt: '', user_prompt: '', room: 256 }))
    const environment = mixEnvironment({ parts, edits: [], dataset: null })
    await environment.connect()
    await Promise.all(page.map((each) => each.connect()))
    try {
      names = (environment.members ?? []).map(({ name }) => name)
      turns = groupSeeds(SEED, 4, 6).map((seed, i) => names.indexOf(environment.assign?.({ seed, split: 'train', prompt: 18 + i }).environment.name ?? ''))
      const spec: EnvironmentSpec = { kind: 'mix', members: kinds.map((each) => ({ environment: each, weight: 1, system_prompt: '', user_prompt: '' })), dataset: null }
      const grpo = { seed: SEED, num_generations: 4, prompts_per_step: 6, max_completion_length: 320, max_tool_calling_iterations: TURNS }
      const run = recordOf('catch', environment, { environment: spec, system_prompt: '', user_prompt: '' }, grpo)
      const engine = await tinyEngine(run.config)
      const tensors = await engine.exportParameters().finally(() => engine.dispose())
      const adapter = peftAdapterFiles({ lora: run.config.lora, tensors, baseModel: run.config.model, revision: null })
      const folder = join(REFERENCE, 'trl-mix', 'train-kinds')
      writeFolder(folder, trlFolder({ run, history: [], adapter, base: tinyModelFiles(), written: [null, null, classFacts(CROSSING)] }))
      writeMethods(join(folder, 'environment_crossing.py'), BODIES)
      await trainInTrl(folder, OUT, ['--steps', '2', '--environment-url', `${names[1]}=http://127.0.0.1:${server.port}`])
    } finally {
      await environment.close()
      await server.kill()
    }
  }, 10 * 60_000)

  it('plays every kind in the page’s turns, with its own words and the page’s rewards', async () => {
    expect(new Set(turns)).toEqual(new Set([0, 1, 2]))
    const rows = await completions(OUT, 1)
    expect(rows).toHaveLength(24)
    const seeds = groupSeeds(SEED, 4, 6)
    const replayed = [0, 0, 0]
    for (const [i, { prompt, completion, environment_reward }] of rows.entries()) {
      const [who, seed] = [turns[Math.floor(i / 4)] as number, seeds[Math.floor(i / 4)] as number]
      const calls = completion.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ function: call }) => given(call))
      const played = await playEpisode(page[who] as Environment, seed, 'train', calls.length, (turn) => calls[turn] as ToolCall)
      expect(prompt.at(-1)?.content.endsWith(played.start)).toBe(true)
      expect(prompt[0]?.content).toBe(page[who]?.prompts.system)
      if (!played.over) continue
      replayed[who] = (replayed[who] as number) + 1
      expect(environment_reward).toBe(played.reward)
    }
    // Of each kind some episodes came to their end, so that rewards were really compared.
    expect(Math.min(...replayed)).toBeGreaterThan(0)
  })

  it('learns from all of them, and measures each', () => {
    const steps = logs(OUT).filter((entry) => 'reward' in entry)
    expect(steps.map(({ step }) => step)).toEqual([1, 2])
    for (const step of steps) {
      expect(step['grad_norm']).toBeGreaterThan(0)
      expect(step['unscorable']).toBe(0)
      for (const name of names) expect(step).toHaveProperty([`${name}/reward`])
    }
  })
})
