/** Small episodes and comparisons for tests: words are tokens, those that begin with > are the environment's. */

import type { ComparedEpisode, PolicyComparison } from '../../../core/examination'

const PROMPT = ['<|im_start|>', 'drive']

/** Every token of the model has these log-probs under its own policy and the other. */
export function side(words: string, own = Math.log(0.5), other = Math.log(0.25), change: Partial<ComparedEpisode> = {}): ComparedEpisode {
  const texts = [...PROMPT, ...words.split(' ')]
  const authors = texts.map((text, i) => (i < PROMPT.length ? 'template' : text.startsWith('>') ? 'environment' : 'model'))
  const mask = authors.map((author): 0 | 1 => (author === 'model' ? 1 : 0))
  return {
    // A number for each word.
    ids: texts.map((text) => [...text].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 10_007, 0)),
    texts,
    authors,
    mask,
    logprobs: mask.map((bit) => bit * own),
    otherLogprobs: mask.map((bit) => bit * other),
    alternatives: mask.map((bit, i) => (bit === 1 ? [{ id: i, prob: 0.5, text: texts[i] ?? '' }] : null)),
    promptLength: PROMPT.length,
    turns: [{ start: PROMPT.length, end: texts.length, resultEnd: texts.length, reward: 1 }],
    reward: 1,
    success: true,
    exit: 'env_done',
    ...change,
  }
}

export function comparison(base: ComparedEpisode, lora: ComparedEpisode, change: Partial<PolicyComparison> = {}): PolicyComparison {
  return { seed: 3, split: 'heldout', temperature: 0, step: 1, base, lora, ...change }
}
