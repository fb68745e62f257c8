/** Code to start from: environments of a few lines, and the page's own loop as a rollout function. */

import type { PageFunction } from '../../core/environment-spec'

/** A number game: several turns, a reward for being quick. */
export const NUMBER_GAME: PageFunction = {
  called: 'NumberGame',
  code: `class NumberGame {
  // Math.random is drawn from the episode's seed: all episodes of a group get the same secret.
  reset({ seed, split }) {
    this.secret = 1 + Math.floor(Math.random() * 8)
    this.tries = 0
    this.reward = 0
    return 'Guess the number, from 1 to 8.'
  }

  /**
   * Guess the secret number.
   * @param {integer} number - A number from 1 to 8.
   * @returns {string} Whether the secret is higher or lower.
   */
  guess(number) {
    this.tries += 1
    if (number === this.secret) {
      this.reward = 1 - 0.1 * (this.tries - 1)
      this.done = true
      return 'Right.'
    }
    if (this.tries === 4) this.done = true
    return number < this.secret ? 'Higher.' : 'Lower.'
  }

  // Asked once, when the episode has ended.
  get_reward() {
    return this.reward
  }

  static success_at = 0.7
}
`,
}

/** One call: a tool that gives the reward with its answer, and says done. */
export const REPEAT_WORD: PageFunction = {
  called: 'RepeatWord',
  code: `class RepeatWord {
  // A column of the dataset would stand beside seed and split.
  reset({ seed }) {
    this.word = ['river', 'stone', 'cloud', 'ember'][seed % 4]
    return 'Say this word: ' + this.word
  }

  /**
   * Say a word.
   * @param {string} word - The word to say.
   */
  say(word) {
    console.log('said', word)
    const right = word.trim().toLowerCase() === this.word
    return { text: right ? 'Right.' : 'Wrong.', reward: right ? 1 : 0, done: true }
  }
}
`,
}

/** What the page does by itself where there is no environment: one turn for each prompt. */
export const OWN_LOOP: PageFunction = {
  called: 'rollout_func',
  code: `// prompts: message lists, each num_generations times. trainer.generate draws with the run's own seed.
async function rollout_func(prompts, trainer) {
  const { prompt_ids, completion_ids, logprobs } = await trainer.generate(prompts)
  return { prompt_ids, completion_ids, logprobs }
}
`,
}

export const CLASS_EXAMPLES: readonly PageFunction[] = [NUMBER_GAME, REPEAT_WORD]
