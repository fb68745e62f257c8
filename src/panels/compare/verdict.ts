/** A comparison in one or two sentences. Pure. */

import type { PolicyComparison } from '../../core/examination'
import { S } from '../../ui/strings'
import { visibleText } from '../trajectory/token-text'
import { mostChanged, partingOf } from './difference'

const P = S.compare.parting

/** What is the same, where the two part, and how likely that was to each. */
export function verdictOn(comparison: PolicyComparison): string {
  const parting = partingOf(comparison)
  switch (parting.kind) {
    case 'prompt':
      return P.prompt
    case 'nowhere': {
      const { lora, step } = comparison
      const most = mostChanged(lora, 'lora')
      if (most) return P.changed(parting.common, shown(lora.texts[most.at] ?? ''), most.base, most.lora)
      return step === 0 ? P.untrained(parting.common) : P.unchanged(parting.common)
    }
    case 'token': {
      const { common, base, lora } = parting
      const [said, why] = [P.token(common, shown(base.text), shown(lora.text)), P.because(shown(base.text), base.underBase, base.underLora)]
      return `${said} ${why}`
    }
    case 'end':
      return P.end(parting.common, parting.ended)
    case 'environment':
      return P.environment(parting.common)
  }
}

/** Inside a sentence a token of nothing but blanks must be seen; around others blanks are in the way. */
function shown(text: string): string {
  return text.trim() === '' ? visibleText(text) : text.trim()
}
