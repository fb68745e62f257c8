/** What is said of a token before the Hub is asked. */

import { PlaygroundError } from '../core/errors'

/**
 * The token without spaces around it; null for nothing.
 * @throws PlaygroundError('config'), which does not show it, when it is no token of the Hub
 */
export function checkToken(text: string | null): string | null {
  const token = text?.trim() ?? ''
  if (token === '') return null
  const advice = 'Copy it from https://huggingface.co/settings/tokens; it starts with hf_.'
  if (!token.startsWith('hf_')) throw new PlaygroundError('config', 'This is no token of the Hugging Face Hub: it does not start with hf_.', advice)
  if (!/^hf_\w+$/.test(token)) throw new PlaygroundError('config', 'This token has characters in it that no token of the Hub has.', advice)
  return token
}
