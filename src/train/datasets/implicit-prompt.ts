/** A preference row without a prompt column: what both answers begin with is the prompt, as TRL extracts it. */

import type { Said } from './formats'

/** Cuts the common beginning off; of texts, a blank at its end goes to the answers. */
export function splitPrompt(chosen: Said, rejected: Said): { prompt: Said; chosen: Said; rejected: Said } {
  const shorter = Math.min(chosen.length, rejected.length)
  let common = 0
  while (common < shorter && JSON.stringify(chosen[common]) === JSON.stringify(rejected[common])) common++
  if (common > 0 && chosen[common - 1] === ' ') common--
  return { prompt: chosen.slice(0, common), chosen: chosen.slice(common), rejected: rejected.slice(common) }
}
