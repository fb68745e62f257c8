/** Code to start from: environments of a few lines, and the page's own loop as a rollout function. */

import type { PageFunction } from '../../core/environment-spec'

/** An emergency on the road, with the tools and words that the shipped model knows: a run of it shows a signal from its first step. */
export const EMERGENCY: PageFunction = {
  called: 'Emergency',
  code: `class Emergency {
  static system_prompt = 'You drive a car. Hit nobody.'

  // Math.random is drawn from the episode's seed: all episodes of a group meet the same thing.
  reset({ seed, split }) {
    const pick = (list) => list[Math.floor(Math.random() * list.length)]
    this.what = pick(['pedestrian', 'dog', 'deer', 'cyclist'])
    this.speed = pick([40, 50, 60, 70])
    this.distance = pick([this.speed - 25, this.speed - 20, this.speed + 25])
    this.free = pick(['left', 'right'])
    this.turns = 0
    this.reward = 0
    return this._look()
  }

  // A name with _ in front is hidden from the model.
  _look() {
    return \`\${this.what}: distance \${this.distance}, speed \${this.speed}, free \${this.free}\`
  }

  _end(safe) {
    this.reward = safe ? 1 : 0
    this.done = true
    return safe ? this.what + ': passed' : this.what + ': hit'
  }

  /** Look again. */
  observe() {
    this.turns += 1
    if (this.turns === 3) return this._end(false)
    return this._look()
  }

  /** Stop. Use when distance is more than speed. */
  emergency_stop() {
    return this._end(this.distance > this.speed)
  }

  /**
   * Change lane. Use when distance is less than speed.
   * @param {'left'|'right'} direction - The lane to change to.
   */
  lane_change(direction) {
    return this._end(this.distance < this.speed && direction === this.free)
  }

  // Asked once, when the episode has ended.
  get_reward() {
    return this.reward
  }
}
`,
}

/** A number game: several turns, a reward for being quick. Of the shipped models, the one that can write digits plays it. */
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

/** What the page does by itself: plays the environment turn by turn, or answers once where there is none. */
export const OWN_LOOP: PageFunction = {
  called: 'rollout_func',
  code: `// prompts: message lists, each num_generations times. trainer.generate draws with the run's own seed.
async function rollout_func(prompts, trainer) {
  const episodes = await Promise.all(prompts.map(async (messages, row) => {
    // Of several environments each prompt has its own, with its own tools.
    const session = trainer.rows[row].tools.length > 0 ? await trainer.environment.open(row) : null
    const said = session ? (await session.reset()).text : ''
    const last = messages[messages.length - 1]
    const prompt = await trainer.apply_chat_template([...messages.slice(0, -1), { ...last, content: last.content + said }], { row })
    return { row, session, prompt, ids: [], logprobs: [], mask: [], over: false }
  }))
  // mask: 1 for what the model wrote, 0 for what came from elsewhere and is never trained.
  const add = (episode, ids, logprobs, mask) => {
    episode.ids.push(...ids)
    episode.logprobs.push(...logprobs)
    episode.mask.push(...ids.map(() => mask))
  }
  for (let round = 0; episodes.some(({ over }) => !over); round++) {
    const writing = episodes.filter(({ over }) => !over)
    const out = await trainer.generate(writing.map(({ prompt, ids }) => [...prompt, ...ids]), { rows: writing.map(({ row }) => row) })
    for (const [i, episode] of writing.entries()) {
      add(episode, out.completion_ids[i], out.logprobs[i], 1)
      const { tool_calls: [call] } = await trainer.parse_tool_calls(out.text[i])
      episode.over = !call || !episode.session || round >= trainer.args.max_tool_calling_iterations
      if (episode.over) continue
      const { text, done } = await episode.session.step(call.name, call.arguments)
      const result = await trainer.tool_suffix([{ name: call.name, content: text }])
      episode.over = done || episode.ids.length + result.length >= trainer.args.max_completion_length
      if (!episode.over) add(episode, result, result.map(() => 0), 0)
    }
  }
  return {
    prompt_ids: episodes.map(({ prompt }) => prompt),
    completion_ids: episodes.map(({ ids }) => ids),
    logprobs: episodes.map(({ logprobs }) => logprobs),
    env_mask: episodes.map(({ mask }) => mask),
  }
}
`,
}

export const CLASS_EXAMPLES: readonly PageFunction[] = [EMERGENCY, NUMBER_GAME, REPEAT_WORD]
