/** Runs as a worker keeps and restores them, scripted; for tests and for looking at the page, never for the product. */

import type { StepRecord } from '../../core/events'
import { type KeptEpisode, type RunRecord, summarise } from '../../core/run-record'
import type { Message } from '../../worker/protocol'
import { engineMessages, LANE, type ScriptOptions, stepMessages } from './script'

/** A run of lane that was left at step 37; times are fixed. */
export function runRecord(change: Partial<RunRecord> = {}): RunRecord {
  const info = engineMessages().find((m) => m.type === 'engine')?.report.info
  if (!info) throw new Error('The script has no engine.')
  return {
    id: 'run-a',
    name: 'lane · tiny-qwen3',
    notes: '',
    createdAt: Date.UTC(2026, 10, 28, 9, 30),
    updatedAt: Date.UTC(2026, 10, 28, 9, 42),
    config: LANE,
    modelSha: null,
    lora: LANE.lora,
    engine: info,
    environment: { name: 'lane', tools: [], prompts: { system: '', user: '' } },
    step: 37,
    checkpoint: 37,
    finished: false,
    evaluations: [],
    bytes: 4_180_000,
    droppedSteps: 0,
    version: '0.1.0',
    ...change,
  }
}

export const runsMessage = (runs: RunRecord[], change: Partial<Extract<Message, { type: 'runs' }>> = {}): Message => ({
  type: 'runs',
  runs,
  current: null,
  held: [],
  storage: { usage: 8_400_000, quota: 2_000_000_000 },
  problem: '',
  unkept: null,
  ...change,
})

function recordOf(messages: readonly Message[]): StepRecord {
  const event = messages.flatMap((m) => (m.type === 'event' ? [m.event] : [])).find((e) => e.type === 'step-finished')
  if (!event) throw new Error('The script has no finished step.')
  return event.record
}

/** One scripted step as it is archived. */
export function keptStep(step: number, options: ScriptOptions = {}): KeptEpisode[] {
  const messages = stepMessages(step, options)
  const texts = new Map<number, string[]>()
  for (const message of messages) {
    if (message.type !== 'event') continue
    const { event } = message
    if (event.type === 'episode-started') texts.set(event.index, event.prompt.map((t) => t.text))
    if (event.type === 'tokens') texts.get(event.index)?.push(...event.tokens.map((t) => t.text))
  }
  return recordOf(messages).episodes.map((episode) => {
    const pieces = texts.get(episode.index) ?? []
    return { ...episode, texts: pieces, prompt: pieces.slice(0, episode.promptLength).join(''), completion: pieces.slice(episode.promptLength).join('') }
  })
}

/** What comes of `resume`: this many steps, with the episodes of the last three. */
export function restoredMessage(steps: number, change: Partial<RunRecord> = {}, options: ScriptOptions = {}): Extract<Message, { type: 'restored' }> {
  const numbers = Array.from({ length: steps }, (_, i) => i + 1)
  return {
    type: 'restored',
    run: runRecord({ step: steps, checkpoint: steps, ...change }),
    history: numbers.map((step) => summarise(recordOf(stepMessages(step, options)))),
    episodes: numbers.slice(-3).map((step) => keptStep(step, options)),
  }
}
