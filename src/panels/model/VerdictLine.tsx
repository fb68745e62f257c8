/** The verdict in words; where smaller settings would fit, the button that takes them. */

import type { DeviceReport, Verdict } from '../../core/plan'
import { useSetup, useStores } from '../../store/hooks'
import { bytes, number } from '../../ui/format'
import { S } from '../../ui/strings'

interface VerdictLineProps {
  verdict: Verdict
  /** null where WASM computes. */
  gpu: DeviceReport['gpu']
  /** Bytes of the plan's largest buffer. */
  largestBuffer: number
}

export function VerdictLine({ verdict, gpu, largestBuffer }: VerdictLineProps) {
  const words = S.model.verdict
  switch (verdict.kind) {
    case 'fits':
      return (
        <p className="verdict" data-testid="verdict" data-verdict="fits">
          <Mark of="fits" /> {words.fits}
        </p>
      )
    case 'reduce':
      return <Reduce verdict={verdict} />
    case 'too-large':
      return (
        <p className="verdict" data-testid="verdict" data-verdict="too-large">
          <Mark of="too-large" /> {tooLarge(verdict, gpu, largestBuffer)} <span className="note">{words.tooLargeAdvice}</span>
        </p>
      )
    case 'too-slow':
      return (
        <p className="verdict" data-testid="verdict" data-verdict="too-slow">
          <Mark of="too-slow" /> {words.tooSlow(seconds(verdict.secondsPerToken))} <span className="note">{words.tooSlowAdvice}</span>
        </p>
      )
  }
}

/** A sign for each verdict: what the words say is seen at a glance, without its colour too. */
const MARKS: Record<Verdict['kind'], string> = { fits: '✓', reduce: '▽', 'too-large': '✗', 'too-slow': '⧗' }

function Mark({ of }: { of: Verdict['kind'] }) {
  return (
    <span className={`mark-${of}`} aria-hidden="true">
      {MARKS[of]}
    </span>
  )
}

/** `needs` is what the smallest settings take; a single buffer may be refused where all of them together would fit. */
function tooLarge({ needs, has }: Extract<Verdict, { kind: 'too-large' }>, gpu: DeviceReport['gpu'], largestBuffer: number): string {
  const words = S.model.verdict
  const largest = gpu ? Math.min(gpu.maxBufferSize, gpu.maxStorageBufferBindingSize) : Infinity
  if (needs <= has && largestBuffer > largest) return words.tooLargeBuffer(bytes(largestBuffer), bytes(largest))
  return words.tooLarge(bytes(needs), bytes(has), gpu ? words.hasGpu : words.hasPage)
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
        <Mark of="reduce" /> {S.model.verdict.reduce}{' '}
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
