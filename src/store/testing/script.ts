/** A scripted run of lane, message by message as a worker would send it; for tests and the fixture page, never for the product. */

import type { EnvironmentSpec } from '../../core/environment-spec'
import type { Author, Episode, Turn } from '../../core/episode'
import type { AppendedToken, ScoredEpisode, StepRecord, TrainEvent } from '../../core/events'
import { hash, uniform } from '../../core/random'
import type { Command, Message } from '../../worker/protocol'
import { defaultConfig } from '../presets'

export interface ScriptOptions {
  groups?: number
  size?: number
  /** Chance of success at a step. */
  skill?: (step: number) => number
  /** Index of an episode whose environment fails. */
  broken?: number
}

const SYSTEM = [
  '# Tools',
  'You may call one or more functions to assist with the user query.',
  '<tools>',
  '{"type": "function", "function": {"name": "observe", "description": "Look again.", "parameters": {"type": "object"}}}',
  '{"type": "function", "function": {"name": "emergency_stop", "description": "Stop.", "parameters": {"type": "object"}}}',
  '</tools>',
].join('\n')

/** Cuts text into token-like pieces; the id follows from the text. */
function pieces(text: string, author: Author, key = 0): AppendedToken[] {
  const cut = text.match(/<\|?\/?\w+\|?>|\n| ?[A-Za-z]{1,6}| ?\d| ?[^\sA-Za-z\d]{1,3}| /g) ?? []
  return cut.map((piece, i) => {
    const id = hash(...[...piece].map((c) => c.charCodeAt(0))) % 1024
    if (author !== 'model') return { id, text: piece, author, logprob: null, top: null }
    const prob = 0.35 + 0.64 * uniform(key, i, 1)
    const rest = (1 - prob) / 2
    const other = (k: number) => ({
      id: hash(key, i, k) % 1024,
      text: [' left', ' right', ' none', '"', 'ob'][k] ?? '?',
      prob: rest / 2 ** k,
    })
    return { id, text: piece, author, logprob: Math.log(prob), top: [{ id, prob, text: piece }, other(0), other(1), other(2), other(3)] }
  })
}

export function engineMessages(spec: EnvironmentSpec = { kind: 'builtin', name: 'lane' }): Message[] {
  const empty = { type: 'object', properties: {} }
  const tool = (name: string, description: string, properties = {}) => ({
    type: 'function' as const,
    function: { name, description, parameters: { ...empty, properties } },
  })
  return [
    { type: 'state', state: { state: 'loading', what: 'model.safetensors', done: 1_200_000, total: 1_972_000 } },
    {
      type: 'engine',
      report: {
        info: {
          backend: 'wasm',
          device: '2',
          threads: 2,
          model: 'tiny-qwen3',
          parameters: 492_640,
          trainable: 86_016,
          vocabSize: 1024,
          ortVersion: '1.30.0',
        },
        selfTest: null, loadSeconds: 0.8,
      },
    },
    {
      type: 'environment',
      spec,
      prompts: { system: 'You drive a car. Hit nobody.', user: '' },
      maxSessions: null,
      tools: [
        tool('observe', 'Look again.'),
        tool('emergency_stop', 'Stop. Use when distance is more than speed.'),
        tool('lane_change', 'Change lane. Use when distance is less than speed.', {
          direction: { type: 'string', enum: ['left', 'right'] },
        }),
      ],
    },
    { type: 'state', state: { state: 'ready' } },
  ]
}

const event = (e: TrainEvent): Message => ({ type: 'event', event: e })

/** One whole step; slice it to stop in the middle. */
export function stepMessages(step: number, options: ScriptOptions = {}): Message[] {
  const { groups = 8, size = 8, skill = (s) => Math.min(0.97, 0.35 + s * 0.03), broken } = options
  const out: Message[] = [event({ type: 'step-started', step, episodes: groups * size, groups })]
  const plans = Array.from({ length: groups * size }, (_, index) =>
    plan(step, index, Math.floor(index / size), skill(step), index === broken),
  )
  for (const p of plans) {
    const { index, group, seed } = p.episode
    out.push(event({ type: 'episode-started', step, index, group, seed, prompt: p.prompt, scene: p.scenes[0] }))
  }
  for (let turn = 0; turn < 3; turn++) {
    const active = plans.filter((p) => p.turns[turn])
    for (const p of active) {
      const { model } = p.turns[turn] as PlannedTurn
      for (let i = 0; i < model.length; i += 4)
        out.push(event({ type: 'tokens', step, index: p.episode.index, tokens: model.slice(i, i + 4) }))
    }
    for (const p of active) out.push(event({ type: 'environment-waiting', step, index: p.episode.index, turn }))
    for (const p of active) {
      const planned = p.turns[turn] as PlannedTurn
      const { index, reward } = p.episode
      const last = turn === p.turns.length - 1
      if (last && reward === null) {
        out.push(event({ type: 'episode-finished', step, episode: p.episode }))
        continue
      }
      out.push(
        event({
          type: 'environment-answered',
          step,
          index,
          turn,
          reward: last ? reward : null,
          done: last,
          ms: 12 + index,
          scene: p.scenes[turn + 1],
        }),
      )
      if (last) out.push(event({ type: 'episode-finished', step, episode: p.episode }))
      else out.push(event({ type: 'tokens', step, index, tokens: planned.answer }))
    }
  }
  const record = score(
    step,
    plans.map((p) => p.episode),
    groups,
  )
  out.push(event({ type: 'scored', step, advantages: record.episodes.map((e) => e.advantage), groups: record.groups }))
  for (let done = 1; done <= 4; done++) out.push(event({ type: 'training', step, done: (done * groups * size) / 4, total: groups * size }))
  out.push(event({ type: 'step-finished', record }))
  return out
}

interface PlannedTurn {
  model: AppendedToken[]
  answer: AppendedToken[]
}

interface Plan {
  prompt: AppendedToken[]
  turns: PlannedTurn[]
  scenes: unknown[]
  episode: Episode
}

function plan(step: number, index: number, group: number, skill: number, isBroken: boolean): Plan {
  const seed = hash(7, step, group) % 100_000
  const key = hash(step, index)
  const what = ['dog', 'deer', 'child', 'cow'][seed % 4] ?? 'dog'
  const distance = 12 + (seed % 30)
  const free = seed % 2 === 0 ? 'left' : 'right'
  const success = uniform(step, group, index, 3) < skill
  const looks = uniform(step, index, 4) < 0.3 ? 1 : 0
  const seen = `${what}: distance ${distance}, speed 60, free ${free}`
  const prompt = [
    ...pieces('<|im_start|>system\n', 'template'),
    ...pieces(`You drive a car. Hit nobody.\n\n${SYSTEM}`, 'template'),
    ...pieces('<|im_end|>\n<|im_start|>user\n', 'template'),
    ...pieces(seen, 'environment'),
    ...pieces('<|im_end|>\n<|im_start|>assistant\n', 'template'),
  ]
  const call = (json: string, k: number) => pieces(`<tool_call>\n${json}\n</tool_call><|im_end|>`, 'model', key + k)
  const turns: PlannedTurn[] = []
  const scene = (turn: number, lane: string, outcome: string | null) => ({
    kind: 'lane',
    what,
    distance,
    speed: 60,
    free,
    turn,
    turns: 3,
    lane,
    outcome,
  })
  const scenes: unknown[] = [scene(0, 'middle', null)]
  for (let k = 0; k < looks; k++) {
    turns.push({
      model: call('{"name": "observe", "arguments": {}}', k),
      answer: [
        ...pieces('\n<|im_start|>user\n<tool_response>\n', 'template'),
        ...pieces(seen, 'environment'),
        ...pieces('\n</tool_response><|im_end|>\n<|im_start|>assistant\n', 'template'),
      ],
    })
    scenes.push(scene(k + 1, 'middle', null))
  }
  const direction = success ? free : free === 'left' ? 'right' : 'left'
  const last =
    success || index % 2
      ? `{"name": "lane_change", "arguments": {"direction": "${direction}"}}`
      : '{"name": "emergency_stop", "arguments": {}}'
  turns.push({ model: call(last, 9), answer: [] })
  scenes.push(scene(looks + 1, success ? free : 'middle', success ? 'passed' : 'braked-too-late'))
  const tokens = [...prompt, ...turns.flatMap((t) => [...t.model, ...t.answer])]
  const reward = isBroken ? null : success ? 1 : 0
  const episode: Episode = {
    step,
    index,
    group,
    seed,
    ids: tokens.map((t) => t.id),
    mask: tokens.map((t) => (t.author === 'model' ? 1 : 0)),
    logprobs: tokens.map((t) => t.logprob ?? 0),
    authors: tokens.map((t) => t.author),
    alternatives: tokens.map((t) => t.top),
    promptLength: prompt.length,
    turns: turnsOf(prompt.length, turns, scenes, { reward, ms: 12 + index }),
    messages: [],
    scene: scenes[0],
    reward,
    ...(reward === null ? {} : { success }),
    exit: isBroken ? 'env_error' : 'env_done',
    error: isBroken ? 'The server closed the connection in the middle of a step (code 1006).' : null,
    terminated: true,
  }
  return { prompt, turns, scenes, episode }
}

/** The record of what the events tell turn by turn. */
function turnsOf(from: number, planned: readonly PlannedTurn[], scenes: readonly unknown[], { reward, ms }: { reward: number | null; ms: number }): Turn[] {
  let start = from
  return planned.map(({ model, answer }, i) => {
    const end = start + model.length
    const done = i === planned.length - 1
    const call = { call: { name: 'observe', arguments: {} }, result: '', reward: done ? reward : null, done, error: false, ms }
    // A server that failed answered nothing to the last call.
    const turn: Turn = { start, end, resultEnd: end + answer.length, calls: done && reward === null ? [] : [call], parseError: null, scene: scenes[i + 1] }
    start = turn.resultEnd
    return turn
  })
}

function score(step: number, episodes: Episode[], groupCount: number): StepRecord {
  const groups = Array.from({ length: groupCount }, (_, group) => {
    const rewards = episodes.filter((e) => e.group === group).flatMap((e) => e.reward ?? [])
    const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length
    const std = Math.sqrt(rewards.reduce((a, r) => a + (r - mean) ** 2, 0) / (rewards.length - 1))
    const unscorable = episodes.filter((e) => e.group === group && e.reward === null).length
    return { group, mean, std, unscorable, signal: std > 0 }
  })
  const scored = episodes.map((e): ScoredEpisode => {
    const g = groups[e.group]
    const advantage = !g?.signal || e.reward === null ? 0 : (e.reward - g.mean) / (g.std + 1e-4)
    return {
      ...e,
      advantage,
      trainLogprobs: e.logprobs.map((l, i) => (e.mask[i] ? l + 1e-5 * (uniform(step, e.index, i) - 0.5) : 0)),
      entropies: e.mask.map((m, i) => (m ? 0.9 * uniform(step, e.index, i, 2) : 0)),
    }
  })
  const rewards = episodes.flatMap((e) => e.reward ?? [])
  const mean = rewards.reduce((a, b) => a + b, 0) / rewards.length
  return {
    step,
    episodes: scored,
    groups,
    version: step,
    seconds: { sampling: 0.42, training: 0.21 },
    metrics: {
      loss: -0.0123 + 0.001 * uniform(step, 5),
      reward: mean,
      reward_std: 0.4,
      success: mean,
      grad_norm: 0.4 + uniform(step, 6),
      learning_rate: 0.001,
      entropy: 0.42 * Math.exp(-step / 12),
      'clip_ratio/low_mean': 0,
      'clip_ratio/high_mean': 0.0031,
      'clip_ratio/region_mean': 0.0031,
      'sampling/sampling_logp_difference/mean': 2.5e-6,
      num_tokens: step * 17_000,
      frac_reward_zero_std: groups.filter((g) => !g.signal).length / groups.length,
      'completions/mean_length': 28 - step / 4,
      'turns/mean': 1.3,
    },
  }
}

/** A worker that says what it is told to; `sent` records the page's commands. */
export function scriptedPort() {
  const listeners: ((message: Message) => void)[] = []
  const sent: Command[] = []
  return {
    sent,
    send: (command: Command) => {
      sent.push(command)
    },
    onMessage: (listener: (message: Message) => void) => {
      listeners.push(listener)
    },
    say: (...messages: Message[]) => {
      for (const message of messages) for (const listener of listeners) listener(message)
    },
  }
}

export const LANE = defaultConfig({ kind: 'builtin', name: 'lane' })
