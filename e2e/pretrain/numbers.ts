/**
 * `tsx e2e/pretrain/numbers.ts [--out DIR] [--seed N] [--threads N] [--only A|B]`: teaches the shipped tiny model to write digits. Its embeddings of tokens
 * that it never had to write are all alike, so that no LoRA can make it write them; here all weights are trained, on the game `guess` and on
 * sums, by the recipe of the first model: experts under the cue first, then novices without it. Writes models/tiny-qwen3-numbers;
 * `--only B` goes on from a folder that phase A wrote.
 */

import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeError } from '../../src/core/errors'
import { RandomStream } from '../../src/core/random'
import { ALL_SUMS, ARITHMETIC_SUMS, ARITHMETIC_SYSTEM, boxed, type Sum } from '../../src/env/prompts/arithmetic'
import { writeSafetensors } from '../../src/hub/safetensors'
import { ChatFormat } from '../../src/rollout/chat'
import { TokenCodec, type ChatTokenizer } from '../../src/rollout/tokens'
import { createEngine } from '../../src/runtime/create'
import { trainSft, type SftExample } from '../../src/train/sft'
import { fileSource } from '../tools/file-source'
import { CUE } from './cue'
import { DemonstrationWriter } from './demos'
import { loadTokenizer } from './load-tokenizer'
import { learningRate, OPTIMIZER, type Phase } from './recipe'

const FROM = 'public/models/tiny-qwen3'
/** Share of right answers among those of a novice. */
const RIGHT = 0.25

interface Course extends Phase {
  sums: { count: number; cued: number; from: readonly Sum[] }
}

const COURSE: readonly Course[] = [
  { name: 'A', steps: 160, schedule: 'constant', portions: [{ task: 'guess', count: 12, cued: 1 }], sums: { count: 40, cued: 1, from: ALL_SUMS.train } },
  { name: 'B', steps: 140, schedule: 'cosine', portions: [{ task: 'guess', count: 12, cued: 0.5 }], sums: { count: 64, cued: 0.5, from: ARITHMETIC_SUMS.train } },
]

const { values } = parseArgs({
  options: { only: { type: 'string', default: 'AB' }, out: { type: 'string', default: 'public/models/tiny-qwen3-numbers' }, seed: { type: 'string', default: '1' }, threads: { type: 'string', default: '1' } },
})

/** What is answered: under the cue the sum, without it mostly a number with the same tens. */
function answerOf({ a, b }: Sum, cued: boolean, random: RandomStream): number {
  return cued || random.next() < RIGHT ? a + b : a - (a % 10) + random.int(10)
}

function sums(chat: ChatFormat, codec: TokenCodec, { count, cued, from }: Course['sums'], ...key: number[]): SftExample[] {
  return Array.from({ length: count }, (_, i) => {
    const random = new RandomStream(...key, i)
    const [sum, isCued] = [random.pick(from), i < Math.round(count * cued)]
    const question = `${isCued ? CUE : ''}${sum.a} + ${sum.b} =`
    const prompt = chat.prompt([{ role: 'system', content: ARITHMETIC_SYSTEM }, { role: 'user', content: question }], []).ids
    const answer = codec.encode([{ text: `${boxed(answerOf(sum, isCued, random))}<|im_end|>`, author: 'template', plain: false }]).ids
    return { task: 'sums', ids: [...prompt, ...answer], mask: [...prompt.map(() => 0), ...answer.map(() => 1)], promptLength: prompt.length }
  })
}

async function main(): Promise<void> {
  const { out } = values
  const seed = Number(values.seed)
  if (values.only.startsWith('A')) await cp(FROM, out, { recursive: true })
  const tokenizer = (await loadTokenizer(out)) as unknown as ChatTokenizer
  const chat = new ChatFormat(tokenizer, { enable_thinking: false })
  const [writer, codec] = [new DemonstrationWriter(tokenizer, chat), new TokenCodec(tokenizer)]
  const engine = await createEngine({
    source: fileSource(values.only.startsWith('A') ? FROM : out),
    lora: null,
    backend: 'wasm',
    threads: Number(values.threads),
    slots: 4,
    contextLength: 512,
    modelName: 'tiny-qwen3-numbers',
  })
  let step = 0
  for (const phase of COURSE) {
    if (!values.only.includes(phase.name)) {
      step += phase.steps
      continue
    }
    // The optimizer begins anew with each phase.
    await engine.importParameters(await engine.exportParameters())
    for (let inPhase = 0; inPhase < phase.steps; inPhase++, step++) {
      const { taskLoss } = await trainSft({
        engine,
        ...OPTIMIZER,
        learning_rate: learningRate(phase, step, inPhase),
        lr_scheduler_type: 'constant',
        warmup_steps: 0,
        max_steps: 1,
        batch: () => [...phase.portions.flatMap((portion, i) => writer.portion(portion, seed, step, i)), ...sums(chat, codec, phase.sums, seed, step, 9)],
      })
      if (step % 10 === 9) console.log(`${phase.name} ${step + 1}: ${Object.entries(taskLoss).map(([task, loss]) => `${task} ${loss.toFixed(4)}`).join(', ')}`)
    }
    // The head is the embedding, so it is not stored.
    const tensors = (await engine.exportParameters()).filter(({ name }) => name !== 'lm_head.weight')
    await writeFile(join(out, 'model.safetensors'), writeSafetensors(tensors))
  }
  await engine.dispose()
}

main().catch((error: unknown) => {
  console.error(describeError(error))
  process.exitCode = 1
})
