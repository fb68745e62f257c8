// @vitest-environment happy-dom
/** The field for a dataset of prompts: what is asked of the worker, what is shown of its answer, and what is taken. */
import { act } from 'react'
import { expect, it } from 'vitest'
import { OWN_REWARD } from '../../core/reward-funcs'
import { StoresProvider, useSetup, useStores } from '../../store/hooks'
import type { Command, Message, PromptsLook } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { PromptsField } from './PromptsField'

const TEXT = '{"prompt": "1 + 1 =", "solution": "2"}'

const look = (dataset: PromptsLook['dataset'], columns: string[]): PromptsLook => ({
  dataset,
  facts: { name: 'x', rows: 2, heldOut: 0, columns },
  texts: 2,
  problems: { count: 1, first: ['Line 3: This is not JSON. Write one JSON object a line.'] },
  more: false,
  choices: [],
  examples: [{ place: 'line 1', prompt: [{ role: 'user', content: '1 + 1 =' }], columns: Object.fromEntries(columns.map((name) => [name, '2'])) }],
})

function Field() {
  const { controller } = useStores()
  const spec = useSetup(({ config: { environment } }) => (environment.kind === 'prompts' ? environment : null))
  return <PromptsField spec={spec} choose={(next) => controller.chooseEnvironment(next)} />
}

/** The field with these rows typed in and shown. */
async function shown(columns: string[]) {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <Field />
    </StoresProvider>
  ))
  await page.press(page.host.querySelector<HTMLElement>('[data-testid="prompts-origin"] input[value="text"]'))
  await page.type('prompts-text', TEXT)
  await page.press('prompts-show')
  const asked = page.port.sent.find((command): command is Extract<Command, { type: 'prompts-look' }> => command.type === 'prompts-look')
  const dataset = { kind: 'text', name: 'pasted rows', text: TEXT } as const
  expect(asked?.dataset).toEqual(dataset)
  const answer = (result: Extract<Message, { type: 'prompts-looked' }>['result']) => page.say({ type: 'prompts-looked', requestId: asked?.requestId ?? -1, result })
  const text = (id: string) => page.find(id)?.textContent ?? null
  const grpo = () => page.stores.setup.getState().config.grpo
  return { ...page, dataset, answer, text, grpo, found: () => answer({ ok: true, look: look(dataset, columns) }) }
}

it('shows the rows, where their columns go and what is wrong with others, before anything is taken', async () => {
  const page = await shown(['solution', 'level'])
  await page.found()
  expect(page.text('prompts-found')).toContain('2 rows to train on, none held out.')
  expect(page.text('prompts-found')).toContain('accuracy_reward')
  expect(page.text('prompts-problems')).toContain('Line 3: This is not JSON.')
  expect(page.text('prompts-rows')).toContain('1 + 1 =')
  expect(page.stores.setup.getState().config.environment.kind).toBe('builtin')
})

it('takes them with a judge that fits their columns', async () => {
  const page = await shown(['solution'])
  await page.found()
  await page.press('prompts-use')
  expect(page.stores.setup.getState().config.environment).toEqual({ kind: 'prompts', dataset: page.dataset })
  expect(page.grpo().reward_funcs).toEqual([{ name: 'accuracy_reward' }])
  expect(page.text('prompts-judged')).toBe('Judged by accuracy_reward. ')
  expect(page.find('prompts-use')?.disabled).toBe(true)
})

it('says that nobody judges where there is nothing to compare with', async () => {
  const page = await shown(['level'])
  await page.found()
  await page.press('prompts-use')
  expect(page.text('prompts-judged')).toContain('Nobody judges yet')
})

it('says that solutions are compared with by nobody where a function of before stayed, and adds the one that compares', async () => {
  const page = await shown(['solution'])
  const short = { name: 'custom' as const, called: 'short', code: 'function short({ completions }) { return completions.map(() => 1) }' }
  const judge = (code: string) => act(async () => page.stores.controller.edit((config) => ({ ...config, grpo: { ...config.grpo, reward_funcs: [OWN_REWARD, { ...short, code }], reward_weights: [1, 2] } })))
  await judge(short.code)
  await page.found()
  await page.press('prompts-use')
  expect(page.text('prompts-judged')).toContain('Judged by short. Nobody compares the answers with the column solution.')
  await page.press('add-accuracy')
  expect(page.grpo()).toMatchObject({ reward_funcs: [short, { name: 'accuracy_reward' }], reward_weights: [2, 1] })
  expect([page.text('prompts-judged'), page.find('add-accuracy')]).toEqual(['Judged by short, accuracy_reward. ', null])
  await judge('function short({ solution }) { return solution.map(() => 1) }')
  expect(page.find('add-accuracy')).toBeNull()
})

it('keeps what was typed when a look comes to nothing, and forgets what was seen when it is changed', async () => {
  const page = await shown([])
  await page.answer({ ok: false, error: 'No row of pasted rows can be used as a prompt.', advice: 'Line 1: …' })
  expect(page.text('prompts-error')).toBe('No row of pasted rows can be used as a prompt. Line 1: …')
  expect(page.find<HTMLTextAreaElement>('prompts-text')?.value).toBe(TEXT)
  await page.type('prompts-text', `${TEXT}\n${TEXT}`)
  expect(page.find('prompts-error')).toBeNull()
  // The answer to an older question is nobody's.
  await page.found()
  expect(page.find('prompts-found')).toBeNull()
})

it('says that the shipped model cannot write digits, and takes the one that can with the prompt that it knows', async () => {
  const page = await shown(['solution'])
  await page.found()
  const config = () => page.stores.setup.getState().config
  expect(page.text('no-digits')).toContain('tiny-qwen3 cannot write any')
  await page.press('take-numbers')
  expect(config().model).toBe('models/tiny-qwen3-numbers')
  expect(page.find('no-digits')).toBeNull()
  await page.press('prompts-use')
  expect(config()).toMatchObject({ model: 'models/tiny-qwen3-numbers', system_prompt: '' })
  await page.press('take-box')
  expect(config().system_prompt).toBe('Answer in a box.')
  expect(page.find('no-box')).toBeNull()
})
