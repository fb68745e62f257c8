/** An episode → a row of exported trajectories: plain JSON, its keys in the order of the columns. */

import { verdictOf, type Turn } from '../../core/episode'
import type { KeptEpisode, RunRecord } from '../../core/run-record'
import { wellFormedJson } from '../../core/text'
import type { ChatMessage } from '../../core/tools'
import { trainedMask } from '../../core/trained-mask'
import { withoutEpisodeSecrets, withoutTokens } from '../secrets'
import { rewardColumn, rewardsOf } from './columns'

export type Row = Record<string, unknown>

/** The run as it travels with its trajectories: what is private, and what only means something while it goes on, stays here. */
export function travelling(run: RunRecord): RunRecord {
  const { name, tools, prompts, members } = run.environment
  return { ...run, notes: '', checkpoint: null, bytes: 0, environment: { name, tools, prompts, ...(members && { members: members.map(({ discovered: _, ...member }) => member) }) } }
}

/** One row, without what has the form of a token; `run` is written into it where it is the first of a file. */
export function rowOf(kept: KeptEpisode, run: RunRecord, isFirst: boolean): Row {
  const episode = withoutEpisodeSecrets(kept)
  const { ids, alternatives } = episode
  return {
    step: episode.step,
    prompt: episode.prompt,
    completion: episode.completion,
    ...Object.fromEntries(rewardsOf(run).map((name) => [rewardColumn(name), episode.rewards ? (episode.rewards[name] ?? null) : episode.reward])),
    advantage: episode.advantage,
    run_id: run.id,
    episode: episode.index,
    group: episode.group,
    seed: episode.seed,
    environment: episode.environment ?? null,
    reward: episode.reward,
    discarded: episode.discarded ?? false,
    success: episode.success ?? null,
    exit_reason: episode.exit,
    verdict: verdictOf(episode),
    error: episode.error,
    lasting: episode.lasting ?? null,
    terminated: episode.terminated,
    messages: episode.messages.map(messageOf),
    prompt_length: episode.promptLength,
    ids,
    mask: episode.mask,
    train_mask: trainedMask(episode),
    authors: episode.authors,
    sampler_logprobs: episode.logprobs,
    train_logprobs: episode.trainLogprobs,
    stale: episode.stale ?? false,
    entropies: episode.entropies,
    texts: episode.texts,
    // Empty lists instead of null: pyarrow's reader of JSON trips over null in a list of lists.
    alternative_ids: ids.map((_, i) => alternatives[i]?.map(({ id }) => id) ?? []),
    alternative_probs: ids.map((_, i) => alternatives[i]?.map(({ prob }) => prob) ?? []),
    alternative_texts: ids.map((_, i) => alternatives[i]?.map(({ text }) => text ?? null) ?? []),
    turns: episode.turns.map(turnOf),
    scene: json(episode.scene),
    run: isFirst ? withoutTokens(wellFormedJson(travelling(run))) : null,
  }
}

function messageOf({ role, content, name, tool_calls }: ChatMessage) {
  return { role, content, name: name ?? null, tool_calls: json(tool_calls) }
}

function turnOf({ start, end, resultEnd, calls, parseError, parseErrors, scene }: Turn) {
  const rewards = calls.flatMap(({ reward }) => (reward === null ? [] : [reward]))
  return {
    start,
    end,
    result_end: resultEnd,
    reward: rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0),
    calls: json(calls),
    parse_error: parseError,
    parse_errors: parseErrors ?? null,
    scene: json(scene),
  }
}

function json(value: unknown): string | null {
  return value === undefined ? null : wellFormedJson(value)
}
