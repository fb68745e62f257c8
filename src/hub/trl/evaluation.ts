/** The page's evaluations during training as parts of train.py: TRL's eval_strategy over an eval_dataset of the same scenarios. */

import type { RunConfig } from '../../core/config'
import { comment } from './python'
import type { EvaluatedParts } from './task-parts'

/** Lines of Python by their place in train.py, each with its end; all '' where the run does not evaluate itself. */
export interface EvaluationParts {
  constants: string
  dataset: string
  settings: string
  argument: string
  /** After training. */
  last: string
}

const NONE: EvaluationParts = { constants: '', dataset: '', settings: '', argument: '', last: '' }

/** @param updates optimizer steps of a GRPO step, as an expression of the script */
export function evaluationParts({ grpo }: Pick<RunConfig, 'grpo'>, updates: string, { heldOut, seeds, rows }: EvaluatedParts): EvaluationParts {
  const { eval_strategy, eval_steps, eval_on_start, eval_episodes, eval_greedy, temperature, top_k, top_p, min_p } = grpo
  if (eval_strategy === 'no') return NONE
  const plain = temperature === 1 && top_k === 0 && top_p === 1 && min_p === null
  const drawn = eval_greedy ? 'STUB: the page took the likeliest token each time; TRL draws in evaluations as in training.' : plain ? '' : 'TRL draws in evaluations as in training, the page at temperature 1 without top-k, top-p and min-p.'
  return {
    constants: `# Scenarios of an evaluation, the same as on the page${heldOut ? ': those that training never draws' : heldOut === null ? ': where all have such, those that training never draws' : ''}.\nEVAL_EPISODES = ${eval_episodes}\n${seeds}\n`,
    dataset: `    eval_dataset = Dataset.from_list(${rows})\n`,
    settings: [
      ...(drawn === '' ? [] : [comment(drawn, 8)]),
      '        eval_strategy="steps",',
      `        eval_steps=${eval_steps} * ${updates},`,
      `        eval_on_start=${eval_on_start ? 'True' : 'False'},`,
      '        # Each scenario once; in batches of one size, as TRL averages over batches.',
      '        num_generations_eval=1,',
      '        per_device_eval_batch_size=max((size for size in range(1, args.micro_batch + 1) if len(eval_dataset) % (size * processes) == 0), default=1),',
      '',
    ].join('\n'),
    argument: '        eval_dataset=eval_dataset,\n',
    last: `    if trainer.state.global_step % config.eval_steps:\n        # The page evaluates after the last step, too.\n        trainer.evaluate()\n`,
  }
}
