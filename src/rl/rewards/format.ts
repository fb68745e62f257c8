/** Rewards for the form of an answer: whether the model thinks between <think> and </think> before it answers. */

import { firstContents, type RewardFunction } from './contract'

/** One <think> at the very beginning, and a </think> somewhere after it. What follows is free. */
const THOUGHT = /^<think>(?![^]*<think>)[^]*?<\/think>/

/** TRL's `think_format_reward`: 1 where the completion is a thought and then an answer, else 0. */
export const thinkFormatReward: RewardFunction = ({ completions }) => firstContents(completions).map((content) => (THOUGHT.test(content) ? 1 : 0))
