/** Loads a model folder's tokenizer in Node, without transformers.js' download cache. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PreTrainedTokenizer } from '@huggingface/transformers'

/** Reads tokenizer.json and tokenizer_config.json of a folder. */
export async function loadTokenizer(folder: string): Promise<PreTrainedTokenizer> {
  const read = async (name: string): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, unknown>
  return new PreTrainedTokenizer(await read('tokenizer.json'), await read('tokenizer_config.json'))
}
