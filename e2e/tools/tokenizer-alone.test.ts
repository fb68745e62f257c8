/** The tokenizer that the built worker has, bundled as there, against the whole of transformers.js. */

import { readFileSync } from 'node:fs'
import { PreTrainedTokenizer } from '@huggingface/transformers'
import { build } from 'vite'
import { expect, it } from 'vitest'
import { tokenizerAlone } from './tokenizer-alone'

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../public/models/tiny-qwen3/${file}`, import.meta.url), 'utf8')) as Record<string, unknown>

it('writes and reads as the whole library does, and is a small part of it', async () => {
  const entry = '\0entry'
  const built = await build({
    configFile: false,
    logLevel: 'error',
    plugins: [tokenizerAlone(), { name: 'entry', resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? "export { PreTrainedTokenizer } from '@huggingface/transformers'" : null) }],
    build: { write: false, target: 'esnext', rolldownOptions: { input: entry, preserveEntrySignatures: 'strict', output: { format: 'es' } } },
  })
  const chunk = Array.isArray(built) ? built[0]?.output[0] : 'output' in built ? built.output[0] : undefined
  expect(chunk?.code.length).toBeGreaterThan(50_000)
  expect(chunk?.code.length).toBeLessThan(150_000)
  const alone = (await import(`data:text/javascript,${encodeURIComponent(chunk?.code ?? '')}`)) as { PreTrainedTokenizer: typeof PreTrainedTokenizer }
  const [ours, theirs] = [alone.PreTrainedTokenizer, PreTrainedTokenizer].map((Tokenizer) => new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json')))
  const messages = [{ role: 'system', content: 'Play.' }, { role: 'user', content: 'é <|im_end|>\n12' }]
  const written = (tokenizer = ours) => tokenizer?.apply_chat_template(messages, { tokenize: false, add_generation_prompt: true, enable_thinking: false } as object) as unknown as string
  expect(written(ours)).toBe(written(theirs))
  expect(written(ours)).toContain('Play.')
  expect(ours?.encode(written(ours), { add_special_tokens: false })).toEqual(theirs?.encode(written(theirs), { add_special_tokens: false }))
  expect(ours?.eos_token).toBe(theirs?.eos_token)
})
