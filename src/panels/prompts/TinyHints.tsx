/** What keeps a shipped model from answering these rows, each with the button that mends it. */

import { ARITHMETIC_SYSTEM } from '../../env/prompts/arithmetic'
import { TINY_MODEL, TINY_NUMBERS_MODEL } from '../../env/presets'
import { useSetup, useStores } from '../../store/hooks'
import { PROMPTS_STRINGS as W } from '../../ui/prompts-strings'
import type { PromptsLook } from '../../worker/protocol'

/** `within`: the rows are a part of several environments, which have prompts of their own. */
export function TinyHints({ look: { examples, facts }, within }: { look: PromptsLook; within?: true | undefined }) {
  const { controller } = useStores()
  const model = useSetup((s) => s.config.model)
  const system = useSetup((s) => s.config.system_prompt)
  // The row's own system message stands in place of the run's.
  const bare = examples.some(({ prompt }) => prompt.every(({ role }) => role !== 'system'))
  const digits = facts.columns.includes('solution') && examples.some(({ columns }) => /\d/.test(columns['solution'] ?? ''))
  if (!digits) return null
  return (
    <>
      {model === TINY_MODEL && (
        <p className="why" data-testid="no-digits">
          {W.noDigits}{' '}
          <button type="button" className="button small" data-testid="take-numbers" onClick={() => controller.model.choose({ model: TINY_NUMBERS_MODEL, model_revision: 'main' })}>
            {W.takeNumbers}
          </button>
        </p>
      )}
      {model === TINY_NUMBERS_MODEL && system === '' && bare && !within && (
        <p className="note" data-testid="no-box">
          {W.noBox}{' '}
          <button type="button" className="button small" data-testid="take-box" onClick={() => controller.edit((config) => ({ ...config, system_prompt: ARITHMETIC_SYSTEM }))}>
            {W.takeBox(ARITHMETIC_SYSTEM)}
          </button>
        </p>
      )}
    </>
  )
}
