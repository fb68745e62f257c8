/** Small runs as the archive keeps them, for tests. */

import { DEFAULT_LORA } from '../../core/config'
import { type KeptEpisode, type RunRecord, type StepSummary } from '../../core/run-record'
import { banditConfig } from '../../train/testing/bandit'

export function runRecord(id: string, change: Partial<RunRecord> = {}): RunRecord {
  return {
    id,
    name: 'bandit · tiny',
    notes: '',
    createdAt: 1,
    updatedAt: 1,
    config: banditConfig({}),
    modelSha: null,
    lora: DEFAULT_LORA,
    engine: { backend: 'wasm', device: '2 threads', threads: 2, model: 'models/tiny', parameters: 10, trainable: 2, vocabSize: 4, ortVersion: '1.30.0' },
    environment: { name: 'bandit', tools: [], prompts: { system: '', user: '' } },
    step: 0,
    checkpoint: null,
    finished: false,
    evaluations: [],
    bytes: 0,
    droppedSteps: 0,
    version: '0',
    ...change,
  }
}

export function summary(step: number): StepSummary {
  return {
    step,
    metrics: { reward: step / 10, loss: null },
    rewardMin: 0,
    rewardMax: 1,
    groups: [{ group: 0, mean: 0.5, std: 0.1, unscorable: 0, signal: true }],
    episodes: 2,
    unscorable: 0,
    seconds: { sampling: 1, training: 2 },
    version: step,
  }
}

/** The two episodes of a step. */
export function keptStep(step: number): KeptEpisode[] {
  return [0, 1].map((index) => ({
    step,
    index,
    group: 0,
    seed: 7,
    ids: [1, 2, 3],
    mask: [0, 0, 1],
    logprobs: [0, 0, -0.125 * step],
    authors: ['template', 'environment', 'model'],
    alternatives: [null, null, [{ id: 3, prob: 0.5, text: 'x' }]],
    promptLength: 2,
    turns: [{ start: 2, end: 3, resultEnd: 3, calls: [], parseError: null }],
    messages: [{ role: 'user', content: 'go' }, { role: 'assistant', content: 'x' }],
    reward: index,
    exit: 'answered',
    error: null,
    terminated: true,
    advantage: index - 0.5,
    trainLogprobs: [0, 0, -0.25],
    entropies: [0, 0, 0.5],
    texts: ['<', 'go', 'x'],
    prompt: 'go',
    completion: 'x',
  }))
}
