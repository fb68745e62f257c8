/** UNIPO's canonical form. */

import { expect, it } from 'vitest'
import { oneByOne, sampleHistory, sampleRun, sampleSteps } from './testing/episodes'
import { unipoJsonl } from './unipo-export'

const lines = async (blob: Blob) => (await blob.text()).trimEnd().split('\n').map((line) => JSON.parse(line))

it('is a header and one line per step', async () => {
  const [header, first, second] = await lines(await unipoJsonl(sampleRun(), sampleHistory(), oneByOne(sampleSteps())))
  expect(header).toMatchObject({
    type: 'header',
    algorithm: 'dapo',
    totalSteps: 2,
    model_name: 'Qwen/Qwen3-0.6B',
    hparams: { clip_eps: [0.2, 0.2], kl_coef: 0, group_size: 2, learning_rate: 2e-5 },
  })
  expect(first).toMatchObject({ type: 'step', step: 1, metrics: { reward: 1 / 3 } })
  expect(first.metrics).not.toHaveProperty('policy_loss')
  expect(second.metrics).toMatchObject({ policy_loss: -1e-8, policy_objective: 1e-8 })
  // The episode without a reward has no place there.
  expect(first.prompts.map(({ responses }: { responses: unknown[] }) => responses.length)).toEqual([1])
  expect(second.prompts.map(({ responses }: { responses: unknown[] }) => responses.length)).toEqual([2])
})

it('has the tokens after the prompt, those of the environment without log-prob and advantage', async () => {
  const [, first] = await lines(await unipoJsonl(sampleRun(), sampleHistory(), oneByOne(sampleSteps())))
  const [{ prompt, responses: [response] }] = first.prompts
  const A = 1 / Math.sqrt(2)
  expect(prompt).toBe('Say "ä"')
  expect(response).toMatchObject({ id: 'step1_p0_sample0', reward: 0.25, advantage: A, response_length: 6 })
  expect(response.tokens.ids).toEqual([11, 12, 13, 14, 15, 151_645])
  expect(response.tokens.advantages).toEqual([A, A, A, 0, 0, A])
  expect(response.tokens.log_probs.map((each: number | null) => each === null)).toEqual([false, false, false, true, true, false])
  expect(response.tokens.old_log_probs).toEqual(response.tokens.log_probs)
  expect(response.tokens.strings.join('')).toBe('<tool_call>\n�😀<|im_end|>')
})

it('gives no advantage to tokens that the loss did not see, though the model wrote them', async () => {
  const [, second] = sampleSteps()
  const cut = second?.map((episode) => ({ ...episode, terminated: false, trainLogprobs: null, entropies: null })) ?? []
  const [, step] = await lines(await unipoJsonl(sampleRun(), sampleHistory(), oneByOne([cut])))
  const [{ tokens }] = step.prompts[0].responses
  expect(tokens.advantages).toEqual([0, 0, 0, 0, 0, 0])
  expect(tokens.token_objective).toEqual(tokens.advantages)
  expect(tokens.log_probs.map((each: number | null) => each === null)).toEqual([false, false, false, true, true, false])
})

it('uses UNIPO’s name of Dr. GRPO, and refuses a run without episodes', async () => {
  const config = sampleRun().config
  const run = sampleRun({ config: { ...config, grpo: { ...config.grpo, loss_type: 'dr_grpo' } } })
  expect((await lines(await unipoJsonl(run, [], oneByOne(sampleSteps()))))[0].algorithm).toBe('drgrpo')
  await expect(unipoJsonl(run, [], oneByOne([]))).rejects.toThrow('are kept')
})
