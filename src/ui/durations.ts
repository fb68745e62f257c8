/** Every time span of the interface, in milliseconds. */

export const DURATIONS = {
  /** A shorter wait for the environment is not worth a word: the sentence would flicker. */
  noticeableWait: 50,
  /** How often "waiting for the environment" counts on. */
  waitingTick: 250,
  /** Least time between two announcements to a screen reader, unless the phase changes. */
  announce: 10_000,
  /** How long a sentence must stand before it is measured whether its end is cut: to measure one that changes by the token slows the run. */
  sentenceSettles: 200,
  /** How long the page says what went on while its tab was hidden. */
  absence: 12_000,
  /** How long "Link copied" stays. */
  copied: 2000,
  /** Rest after the last edit before the address bar follows. */
  linkSettles: 300,
  /** How long a panel is marked that a link of the article led to. */
  pointedAt: 1800,
  /** How long a downloaded file's address stays: a slow disk may still read from it. */
  revoke: 60_000,
  /** Least time between two redraws of the chart (4 a second). */
  chart: 250,
  /** Longest that the engine and what is fetched later wait for the recording to move. */
  firstDraw: 2500,
  /** How long after its first draw the page fetches what may be wanted later. */
  idle: 2000,
  /** Between one chart and the next. */
  nextChart: 40,
  /** Longest wait for the model before the site's files are kept for use without a network. */
  keepSite: 20_000,
  /** After the model is there: who pressed Train waits for the first step, which the keeping would slow. */
  keepLater: 4000,
  /** One GRPO step in slow motion, part by part: at most 20 seconds in all. */
  slowStep: { prompt: 2200, episodes: 3200, rewards: 3000, advantages: 3200, tokens: 3000, formula: 2800, curve: 2400 },
  /** The recorded run at speed 1: a token of every episode, an environment's answer, the rewards, the update, the rest after a step. */
  replay: { token: 60, answer: 240, scored: 900, update: 800, rest: 1100 },
} as const
