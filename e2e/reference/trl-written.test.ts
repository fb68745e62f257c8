/** A class of the page in a folder for TRL: train.py says at once what is to be written, and what was written plays as the page does. */

import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { RandomStream } from '../../src/core/random'
import type { ToolEdit } from '../../src/core/tool-edits'
import { withToolEdits } from '../../src/env/tool-edits'
import { trlFolder } from '../../src/hub/trl'
import { venvPython } from '../tools/venv'
import { REFERENCE } from './reference'
import { ask, comparable, playEpisode, randomCall, type PlayedEpisode } from './trl-episodes'
import { recordOf, writeFolder } from './trl-run'
import { classFacts, classOf, writeMethods } from './written-class'

/** Everything that a method may give: a text, a number, a list, nothing, a reward, an error, an end. */
const SHOP = `class Shop {
  static success_at = 0.5
  static user_prompt = 'Buy something.'

  reset({ seed }) {
    this.left = 3 + (seed % 4)
    return seed % 2 === 0 ? 'You have ' + this.left + ' coins.' : undefined
  }

  /**
   * Buy things.
   * @param {string} what - What to buy.
   * @param {integer} [count] - How many.
   * @returns {string} What is left.
   */
  buy(what, count) {
    if (what === '') throw new Error("It's \\"nothing\\".")
    this.left -= count ?? 1
    if (this.left < 0) return { text: 'Broke.', reward: -1, done: true }
    return { text: what + ': ' + this.left, reward: this.left / 4 }
  }

  /** Count your coins. */
  class() {
    return [this.left, { half: this.left / 2, sure: true }]
  }

  /** Wait. */
  pass() {
    this.left -= 0.5
    if (this.left < 2) this.done = true
  }
}
`
const JUDGED = `${SHOP.replace('class Shop', 'class Judged').slice(0, -2)}
  get_reward() {
    return this.left > 3 ? null : this.left < 1
  }
}
`
const BODIES = {
  reset: 'self.left = 3 + seed % 4\n        return f"You have {self.left} coins." if seed % 2 == 0 else None',
  buy: 'if what == "":\n            raise ValueError("It\'s \\"nothing\\".")\n        self.left -= 1 if count is None else count\n        if self.left < 0:\n            return {"text": "Broke.", "reward": -1, "done": True}\n        return {"text": f"{what}: {js(self.left)}", "reward": self.left / 4}',
  tool_class: 'return [self.left, {"half": self.left / 2, "sure": True}]',
  tool_pass: 'self.left -= 0.5\n        if self.left < 2:\n            self.done = True',
  get_reward: 'return None if self.left > 3 else self.left < 1',
}

async function exported(called: string, code: string, edits: ToolEdit[]) {
  const environment = classOf({ called, code })
  await environment.connect()
  const edited = withToolEdits(environment, edits)
  const run = recordOf('lane', edited, { environment: { kind: 'custom', called, code }, tool_edits: edits, system_prompt: '', user_prompt: edited.prompts.user })
  const folder = join(REFERENCE, 'trl-written', called)
  // What train.py would load is no model.
  const adapter = ['adapter_config.json', 'adapter_model.safetensors'].map((path) => ({ path, content: '' }))
  writeFolder(folder, trlFolder({ run, history: [], adapter, base: [{ path: 'config.json', content: '{}' }], written: [classFacts({ called, code })] }))
  return { folder, environment: edited, run }
}

/** Runs train.py, and what it wrote as its last words. */
function train(folder: string): string {
  try {
    execFileSync(venvPython('reference'), [join(folder, 'train.py'), '--steps', '1'], { cwd: folder, encoding: 'utf8', stdio: 'pipe', env: { ...process.env, HF_HUB_OFFLINE: '1' } })
    return ''
  } catch (error) {
    return (error as { stderr: string }).stderr.trim().split('\n').at(-1) ?? ''
  }
}

it('says which methods are to be written, before any model is loaded, and starts when all are', async () => {
  const { folder } = await exported('Judged', JUDGED, [])
  expect(train(folder)).toBe(
    'Before training, write the environment in Python. ' +
      [['reset', 'reset', 5], ['buy', 'buy', 16], ['tool_class', 'class', 24], ['tool_pass', 'pass', 29], ['get_reward', 'get_reward', 34]]
        .map(([method, id, line]) => `Judged.${method} is to be written: on the page it is ${id} in environment.js, line ${line}`)
        .join('; ') +
      '.',
  )
  const { get_reward: _, ...others } = BODIES
  writeMethods(join(folder, 'environment.py'), others)
  const script = 'import pathlib, sys; sys.path.insert(0, sys.argv[1]); from written import unwritten; print(unwritten(pathlib.Path(sys.argv[1])))'
  const left = execFileSync(venvPython('reference'), ['-c', script, folder], { encoding: 'utf8' })
  expect(left.trim()).toBe("['Judged.get_reward is to be written: on the page it is get_reward in environment.js, line 34']")
  writeMethods(join(folder, 'environment.py'), { get_reward: BODIES.get_reward })
  // Now it loads the model, which is none here.
  expect(train(folder)).not.toContain('write the environment')
})

it.each([
  ['with rewards in its answers, and a tool under another name', 'Shop', SHOP, [{ kind: 'rename', tool: 'pass', name: 'wait-a-bit' }] satisfies ToolEdit[]],
  ['with get_reward', 'Judged', JUDGED, []],
])('plays as the page does once it is written: %s', async (_, called, code, edits) => {
  const { folder, environment } = await exported(called, code, edits)
  const { get_reward, ...bodies } = BODIES
  writeMethods(join(folder, 'environment.py'), called === 'Judged' ? { ...bodies, get_reward } : bodies)
  const episodes: PlayedEpisode[] = []
  for (let seed = 0; seed < 200; seed++) {
    const random = new RandomStream(seed, 5)
    episodes.push(await playEpisode(environment, seed, 'train', 6, () => randomCall(environment.tools, random)))
  }
  const [answer] = ask([{ folder, episodes, schemas: true }])
  expect(answer?.episodes.map(comparable)).toEqual(episodes.map(comparable))
  expect(answer?.tools).toEqual(environment.tools)
  expect(Object.keys(answer?.methods ?? {}).sort()).toEqual(environment.tools.map((tool) => tool.function.name).sort())
  const results = episodes.flatMap((episode) => episode.results)
  for (const said of [/^\{'error': 'It\\'s "nothing"'\}$/, /^Error: /, /^\[\d.*"half":.*"sure":true\}\]$/, /^sun: /]) expect(results.some((each) => said.test(each))).toBe(true)
  expect(new Set(episodes.map(({ reward }) => reward)).size).toBeGreaterThan(2)
  expect(new Set(episodes.map(({ over }) => over)).size).toBe(2)
})

it('ends with a sentence where an answer has a key beside its reward, as the page does', async () => {
  const { folder } = await exported('Shop', SHOP, [])
  const { get_reward: _, ...bodies } = BODIES
  writeMethods(join(folder, 'environment.py'), { ...bodies, buy: 'return {"text": what, "reward": 1, "info": {}}' })
  const script = 'import sys; sys.path.insert(0, sys.argv[1]); from environment import PlaygroundEnvironment as Of; one = Of(); one.reset(seed=1); next(getattr(one, name) for name in dir(one) if getattr(getattr(one, name), "__name__", "") == "buy")(what="sun")'
  const refused = spawnSync(venvPython('reference'), ['-c', script, folder], { encoding: 'utf8' })
  expect([refused.status, refused.stderr.trim()]).toEqual([1, 'buy answered with info beside its reward or done: an answer has text, reward and done alone.'])
})
