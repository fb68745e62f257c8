/** A Vite plugin: of transformers.js the built worker has the tokenizer. Its models, and the onnxruntime of their own that they bring, stay out. */

import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vite'

/** transformers.js' own source of PreTrainedTokenizer, which its package does not export by itself. */
export const TOKENIZER_SOURCE = fileURLToPath(new URL('../../node_modules/@huggingface/transformers/src/tokenization_utils.js', import.meta.url))

const ABSENT = '\0transformers-absent'

/** What of it only downloads repositories, makes tensors or logs: the page reads files by itself and asks for plain ids. */
const LEFT_OUT = /[\\/](hub|tensor|logger|get_tokenizer_files)\.js$/

/** Stands for all that is left out; what uses it is never called. */
const STAND_IN = `
export class Tensor {}
export const logger = console
const absent = () => { throw new Error('The page has only the tokenizer of transformers.js.') }
export { absent as getModelJSON, absent as get_tokenizer_files }
`

/** In builds alone: the benchmark against transformers.js and tests take all of it, from the development server. */
export function tokenizerAlone(): Plugin {
  return {
    name: 'tokenizer-alone',
    apply: 'build',
    enforce: 'pre',
    resolveId(source, importer) {
      if (source === '@huggingface/transformers') return TOKENIZER_SOURCE
      return importer === TOKENIZER_SOURCE && LEFT_OUT.test(source) ? ABSENT : null
    },
    load: (id) => (id === ABSENT ? STAND_IN : null),
  }
}
