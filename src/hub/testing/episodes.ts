/** A small run with everything that an episode may hold: turns, scenes, refused and unreadable calls, an outage, odd text. */

import { DEFAULT_GRPO, DEFAULT_LORA } from '../../core/config'
import type { Turn } from '../../core/episode'
import type { KeptEpisode, RunRecord, StepSummary } from '../../core/run-record'

/** A run record with some fields changed. */
export function sampleRun(changes: Partial<RunRecord> = {}): RunRecord {
  return {
    id: 'run-1',
    name: 'Echo: "quotes", #1',
    notes: 'Nobody else’s business.',
    createdAt: 1_800_000_000_000,
    updatedAt: 1_800_000_600_000,
    config: {
      environment: { kind: 'openenv', url: 'https://owner-env.hf.space' },
      tool_edits: [{ kind: 'restrict', tool: 'say', parameter: 'word', enum: ['a', 'b'] }],
      model: 'Qwen/Qwen3-0.6B',
      model_revision: 'main',
      precision: 'int4',
      adapter: null,
      system_prompt: '',
      user_prompt: 'Say it.',
      enable_thinking: false,
      grpo: { ...DEFAULT_GRPO, num_generations: 2, prompts_per_step: 1, max_steps: 2 },
      lora: DEFAULT_LORA,
      backend: 'wasm',
    },
    modelSha: 'c1899de289a04d12100db370d81485cdf75e47ca',
    lora: DEFAULT_LORA,
    engine: { backend: 'wasm', device: '4', threads: 4, model: 'Qwen/Qwen3-0.6B', parameters: 6e8, trainable: 1e7, vocabSize: 151_936, ortVersion: '1.30.0' },
    environment: {
      name: 'echo_env',
      tools: [{ type: 'function', function: { name: 'say', description: 'Say it.', parameters: { type: 'object', properties: { word: { type: 'string' } } } } }],
      prompts: { system: '', user: 'Say it.' },
    },
    step: 2,
    checkpoint: 2,
    finished: true,
    evaluations: [{ step: 2, split: 'heldout', solved: 7, scorable: 8, reward: 0.9, precision: 'int4' }],
    bytes: 12_345,
    droppedSteps: 0,
    version: '0.1.0',
    ...changes,
  }
}

const TURNS: Turn[] = [
  {
    start: 3,
    end: 6,
    resultEnd: 8,
    calls: [
      { call: { name: 'say', arguments: { word: 'ä\n"😀"', n: [1, { x: null }] } }, result: 'no', reward: 0.25, done: false, error: false, ms: 12.5 },
      { call: { name: 'shout', arguments: {} }, result: 'unknown tool', reward: null, done: false, error: true, ms: 0, refused: true },
    ],
    parseError: null,
    scene: { kind: 'echo', wanted: 'ä', said: null },
  },
  { start: 8, end: 9, resultEnd: 9, calls: [], parseError: 'no closing brace', parseErrors: 2 },
]

/** Four episodes in two steps; their numbers need all of a double's digits. */
export function sampleSteps(): KeptEpisode[][] {
  const ids = [151_644, 7, 9, 11, 12, 13, 14, 15, 151_645]
  const mask = [0, 0, 0, 1, 1, 1, 0, 0, 1] as (0 | 1)[]
  const of = (at: number) => mask.map((m, i) => (m === 1 ? -((at + i) / 7) : 0))
  const whole: KeptEpisode = {
    step: 1,
    index: 0,
    group: 0,
    seed: 4_000_000_123,
    ids,
    mask,
    logprobs: of(1),
    authors: ['template', 'environment', 'template', 'model', 'model', 'model', 'environment', 'template', 'model'],
    alternatives: mask.map((m, i) => (m === 1 ? [{ id: i, prob: 1 / 3, text: ' ä' }, { id: i + 1, prob: Math.fround(0.1) }] : null)),
    promptLength: 3,
    turns: TURNS,
    messages: [
      { role: 'user', content: 'Say "ä",\nplease. 😀' },
      { role: 'assistant', content: '', tool_calls: [{ type: 'function', function: { name: 'say', arguments: { word: 'ä' } } }] },
      { role: 'tool', name: 'say', content: 'no' },
      { role: 'assistant', content: 'done' },
    ],
    scene: { kind: 'echo', wanted: 'ä', said: null },
    reward: 0.25,
    success: false,
    exit: 'answered',
    error: null,
    terminated: true,
    advantage: 1 / Math.sqrt(2),
    trainLogprobs: of(1.0001),
    entropies: of(-20),
    texts: ['<|im_start|>', 'Say', ' "ä"', '<tool_call>', '\n', '�', '😀', '', '<|im_end|>'],
    prompt: 'Say "ä"',
    completion: 'a,b\r\n\t\u2028 😀',
  }
  const failed: KeptEpisode = {
    ...whole,
    index: 1,
    turns: [],
    messages: [],
    scene: undefined,
    reward: null,
    success: undefined,
    exit: 'env_error',
    error: 'The server went away.',
    lasting: true,
    terminated: false,
    advantage: 0,
    trainLogprobs: null,
    entropies: null,
  }
  const second = [{ ...whole, step: 2, reward: 1, success: true, exit: 'env_done' as const }, { ...whole, step: 2, index: 1, reward: 0 }]
  return [[whole, failed], second]
}

/** The steps one by one, as the archive gives them. */
export async function* oneByOne(steps: KeptEpisode[][]): AsyncGenerator<KeptEpisode[]> {
  yield* steps
}

/** Summaries of `count` steps: some metrics are missing in some steps. */
export function sampleHistory(count = 2): StepSummary[] {
  return Array.from({ length: count }, (_, i) => ({
    step: i + 1,
    metrics: { reward: (i + 1) / 3, 'rewards/echo_env/mean': i / 3, loss: i === 0 ? null : -1e-8, ...(i === 1 ? { kl: 0.5 } : {}) },
    rewardMin: 0,
    rewardMax: 1,
    groups: [{ group: 0, mean: 0.5, std: 0.7, unscorable: 0, signal: true }],
    episodes: 2,
    unscorable: 0,
    seconds: { sampling: 1, training: 2 },
    version: i + 1,
  }))
}
