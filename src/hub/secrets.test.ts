/** What counts as a token. */

import { expect, it } from 'vitest'
import { withoutTokens } from './secrets'

it.each([
  [`https://a.b/?token=hf_${'aB3'.repeat(12)}&x=1`, 'https://a.b/?token=hf_…&x=1'],
  [`hf_oauth_${'e.J-_'.repeat(9)}`, 'hf_…'],
  ['hf_search_models_and_datasets_of_the_hub', 'hf_search_models_and_datasets_of_the_hub'],
])('%s', (text, clean) => {
  expect(withoutTokens(text)).toBe(clean)
})
