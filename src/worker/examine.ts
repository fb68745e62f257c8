/** What the adapter as it is now and the base model alone think of given tokens. Nothing of the run changes: no slot, no gradient, no random number. */

import type { RunConfig } from '../core/config'
import type { Engine, Sampler, Trainer, TrainSequence } from '../core/engine'
import { describeError, PlaygroundError } from '../core/errors'
import type { Examination } from '../core/examination'
import type { Command, Message } from './protocol'

/** What a run is doing. 'held': a person paused it in the middle of a step, and nothing is being computed. */
export type Doing = 'nothing' | 'held' | 'working'

interface Examined {
  engine: Pick<Trainer, 'score' | 'version'> & Pick<Engine, 'lora'> & Pick<Sampler, 'scoringEmptiesSlots'>
  config: Pick<RunConfig, 'grpo'>
}

/** Log-probs are of this temperature: that of training, also where episodes are played greedily. */
export function scoringTemperature(temperature: number): number {
  return temperature || 1
}

/** Scores each sequence under both policies. Throws PlaygroundError('config') where every weight is trained: then there is no base to compare with. */
export async function examine(engine: Examined['engine'], sequences: readonly TrainSequence[], temperature: number): Promise<Examination[]> {
  assertHasBase(engine)
  const options = { temperature: scoringTemperature(temperature) }
  const { version } = engine
  const current = await engine.score(sequences, options)
  const base = await engine.score(sequences, { ...options, adapter: 'off' })
  return sequences.map((_, i) => ({
    logprobs: [...(current[i]?.logprobs ?? [])],
    entropies: [...(current[i]?.entropies ?? [])],
    baseLogprobs: [...(base[i]?.logprobs ?? [])],
    baseEntropies: [...(base[i]?.entropies ?? [])],
    version,
  }))
}

/** Throws PlaygroundError('config') where no base model lies beneath an adapter. */
export function assertHasBase({ lora }: Pick<Engine, 'lora'>): void {
  if (!lora) throw new PlaygroundError('config', 'All parameters are trained, so the base model is gone and cannot be asked.', 'Train a LoRA to compare with the base.')
}

/** Answers the page's request by one 'examined'; never rejects. */
export async function answerExamination(
  run: Examined | null,
  doing: Doing,
  { requestId, sequences }: Extract<Command, { type: 'examine' }>,
  post: (message: Message) => void,
): Promise<void> {
  const answer = (result: Extract<Message, { type: 'examined' }>['result']): void => post({ type: 'examined', requestId, result })
  try {
    if (!run) return answer({ ok: false, error: 'There is no model to ask yet. Wait until it is loaded.' })
    const refused = refusal(doing, run.engine)
    if (refused) return answer({ ok: false, error: refused })
    answer({ ok: true, examinations: await examine(run.engine, sequences, run.config.grpo.temperature) })
  } catch (error) {
    answer({ ok: false, error: describeError(error) })
  }
}

function refusal(doing: Doing, { scoringEmptiesSlots }: Examined['engine']): string | null {
  if (doing === 'working') return 'The model is busy with a step. Press Pause first.'
  if (doing === 'held' && scoringEmptiesSlots) {
    return 'The run is paused in the middle of a step, and scoring would take the memory that its unfinished episodes lie in. Choose GRPO step beside Step and press it, to finish the step first.'
  }
  return null
}
