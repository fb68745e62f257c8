/** The verdict in words; where smaller settings would fit, the button that takes them. */

import type { Verdict } from '../../core/plan'
import { useSetup, useStores } from '../../store/hooks'
import { bytes, number } from '../../ui/format'
import { S } from '../../ui/strings'

export function VerdictLine({ verdict }: { verdict: Verdict }) {
  const words = S.model.verdict
  switch (verdict.kind) {
    case 'fits':
      return (
        <p className="verdict" data-testid="verdict" data-verdict="fits">
          <span className="mark-fits">✓</span> {words.fits}
        </p>
      )
    case 'reduce':
      return <Reduce verdict={verdict} />
    case 'too-large':
      return (
        <p className="verdict" data-testid="verdict" data-verdict="too-large">
          {words.tooLarge(bytes(verdict.needs), bytes(verdict.has))} <span className="note">{words.tooLargeAdvice}</span>
        </p>
      )
    case 'too-slow':
      return (
        <p className="verdict" data-testid="verdict" data-verdict="too-slow">
          {words.tooSlow(seconds(verdict.secondsPerToken))} <span className="note">{words.tooSlowAdvice}</span>
        </p>
      )
  }
}

/** '12 s', '0.4 s': two digits say enough of an estimate. */
function seconds(value: number): string {
  return `${value >= 100 ? Math.round(value) : number(value, 2)} s`
}

function Reduce({ verdict }: { verdict: Extract<Verdict, { kind: 'reduce' }> }) {
  const { controller } = useStores()
  const grpo = useSetup((s) => s.config.grpo)
  const { kind: _, ...smaller } = verdict
  const changed = (['num_generations', 'prompts_per_step', 'max_completion_length'] as const).filter((key) => smaller[key] !== grpo[key])
  const apply = () => controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...smaller } }))
  return (
    <div className="verdict" data-testid="verdict" data-verdict="reduce">
      <p>
        {S.model.verdict.reduce}{' '}
        {changed.map((key, i) => (
          <span key={key}>
            {i > 0 && ', '}
            <code>{key}</code> {smaller[key]}
          </span>
        ))}
        .
      </p>
      <button type="button" className="button" data-testid="apply-reduction" onClick={apply}>
        {S.model.verdict.apply}
      </button>
    </div>
  )
}
