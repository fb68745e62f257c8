/**
 * Plays the episodes of one step, all at once: one batched decode for every episode that is writing, while others wait for
 * their environment. Results depend on (config, seed, environment) alone, not on timing: every draw is keyed by
 * (seed, step, episode, position), and episodes are ordered by index.
 */

import type { EnvironmentSession } from '../core/environment'
import { UNSCORABLE_EXITS, type Episode, type ExitReason, type Turn } from '../core/episode'
import { describeError, PlaygroundError } from '../core/errors'
import { uniform } from '../core/random'
import { waitAtGate, waitThroughGate } from '../core/sleep'
import type { ChatMessage } from '../core/tools'
import { appendGiven, appendSampled, appendedTokens, assertConsistent, earnedNothing, recordTurn, startEpisode } from './episode'
import { markFreeSlots } from './free-slots'
import { remarkOnErrors, remarkOnStart } from './remarks'
import { commonStart, type Scenario, scenariosOf, type Venue } from './scenarios'
import { isSettled, playTurn, settle, type Begun, type Failure, type Settled, type TurnOutcome } from './sessions'
import { SlowResets } from './slow-reset'
import { SlotPool } from './slots'
import { parseTurn } from './tool-calls'
import { restOf, type RolloutRequest } from './types'
import type { AuthoredTokens } from './tokens'
import { Wake } from './wake'

/** Anything that makes a request's episodes. */
export type Rollout = (request: RolloutRequest) => Promise<Episode[]>

/**
 * Plays `groupSeeds.length × num_generations` episodes and returns them by index. Rejects when the sampler fails, and with
 * PlaygroundError('config') when the prompt does not fit the context. A failing environment fails its own episode only.
 */
export async function rollout(request: RolloutRequest): Promise<Episode[]> {
  return new Round(request).play()
}

/** One episode on its way. */
interface Run {
  readonly index: number
  readonly group: number
  phase: 'new' | 'resetting' | 'reset' | 'ready' | 'sampling' | 'waiting' | 'settling' | 'finished'
  begun: Begun | null
  /** Exists from the moment the prompt is known. */
  episode: Episode | null
  session: EnvironmentSession | null
  slot: number | null
  turnStart: number
  outcome: TurnOutcome | null
  readonly scenario: Scenario
  /** Its last call is answered: how it ends once its session has settled, null until then. */
  ending: ({ exit: ExitReason } & Settled) | null
  /** Rounds of tool calls made. */
  rounds: number
  /** Of every call, in order. */
  rewards: (number | null)[]
}

type Playing = Run & { episode: Episode; session: EnvironmentSession; slot: number }

class Round {
  private readonly runs: Run[]
  private readonly pool: SlotPool
  private readonly venues: readonly Venue[]
  private readonly wake = new Wake()
  private readonly slow: SlowResets
  private over = false

  constructor(private readonly request: RolloutRequest) {
    const { sampler, groupSeeds, num_generations, firstGroup = 0 } = request
    const { scenarios, venues } = scenariosOf(request, () => this.wake.up())
    this.venues = venues
    this.slow = new SlowResets(request.onEvent)
    this.runs = Array.from({ length: groupSeeds.length * num_generations }, (_, i) => ({
      index: firstGroup * num_generations + i,
      group: firstGroup + Math.floor(i / num_generations),
      scenario: scenarios[Math.floor(i / num_generations)] as Scenario,
      phase: 'new',
      begun: null,
      episode: null,
      session: null,
      slot: null,
      turnStart: 0,
      outcome: null,
      ending: null,
      rounds: 0,
      rewards: [],
    }))
    for (const { base, columns } of scenarios) {
      if (base.ids.length < sampler.contextLength) continue
      const advice = columns ? 'Leave long prompts out of the dataset.' : 'Shorten the prompts, or use fewer tools.'
      throw new PlaygroundError('config', this.tooLong(base.ids.length), advice)
    }
    this.pool = new SlotPool(sampler, commonStart(request, scenarios))
  }

  async play(): Promise<Episode[]> {
    const { gate, signal } = this.request
    try {
      while (this.runs.some((run) => run.phase !== 'finished')) {
        await waitAtGate(gate, signal)
        if (signal?.aborted) break
        await this.tick()
      }
      for (const run of this.runs) if (run.phase !== 'finished') this.finish(run, 'stopped')
    } finally {
      this.over = true
      this.slow.end()
      for (const { queue } of this.venues) queue.tell(0)
      await restOf(this.request)(Promise.all(this.venues.map(({ gate }) => gate.endAll())))
      this.request.lanes?.endAll()
    }
    return this.runs.map((run) => run.episode as Episode)
  }

  /** One round: begin episodes, go on with those whose environment answered, then one token for all that are writing. */
  private async tick(): Promise<void> {
    const { gate, signal, lanes, sampler } = this.request
    this.beginSessions()
    this.tellQueue()
    for (const run of this.runs) if (run.phase === 'reset') this.openEpisode(run)
    await this.admit()
    for (const run of this.runs) {
      if (run.phase === 'waiting' && run.outcome) await this.continueAfter(run as Playing, run.outcome)
    }
    for (const run of this.runs) {
      if (run.phase !== 'settling' || run.ending === null) continue
      if (run.ending.failure === null) this.conclude(run, run.ending.exit, null)
      else this.fail(run, run.ending.failure)
    }
    if (lanes) markFreeSlots(lanes, sampler.slots, this.runs)
    const writing = this.runs.filter((run): run is Playing => run.phase === 'sampling')
    if (writing.length > 0) await this.writeToken(writing)
    else if (this.runs.some((run) => run.phase !== 'finished')) await restOf(this.request)(waitThroughGate(this.wake.wait(), gate, signal))
  }

  private beginSessions(): void {
    const { request } = this
    for (const run of this.runs) {
      const { columns, venue: { gate, queue, environment } } = run.scenario
      if (run.phase !== 'new' || !gate.hasRoom) continue
      run.phase = 'resetting'
      queue.begin(run.index)
      const episode_id = `${request.split}-seed${request.config.seed}-step${request.step}-episode${run.index}`
      void this.slow.watch(environment.name, gate.begin({ seed: this.seedOf(run), episode_id, split: request.split, ...(columns && { columns }) })).then((begun) => {
        if (this.over) {
          if (begun.kind === 'begun') gate.end(begun.session)
          return
        }
        run.begun = begun
        run.phase = begun.kind === 'full' ? 'new' : 'reset'
        if (begun.kind === 'full') queue.returned(run.index)
        this.wake.up()
      })
    }
  }

  /** Says how many episodes the server keeps waiting; those that only wait for a slot of ours are no queue. */
  private tellQueue(): void {
    for (const venue of this.venues) {
      const runs = this.runs.filter(({ scenario }) => scenario.venue === venue)
      const most = Math.min(2 * this.request.sampler.slots, runs.length)
      venue.queue.tell(venue.environment.maxSessions < most ? runs.filter((run) => run.phase === 'new').length : 0)
    }
  }

  /** The environment has answered to reset: the prompt is known, or the episode is lost. */
  private openEpisode(run: Run): void {
    const { sampler, onEvent } = this.request
    const { begun, scenario: { base, venue: { environment } } } = run
    if (begun?.kind !== 'begun') {
      this.start(run, base, '', undefined)
      if (begun?.kind === 'failed') this.fail(run, begun)
      else this.fail(run, { error: 'The environment did not answer.', lasting: false })
      return
    }
    run.session = begun.session
    const { text, scene } = begun.observation
    remarkOnStart(environment, text, onEvent)
    const prompt = this.promptWith(run, text)
    if (prompt.ids.length >= sampler.contextLength) {
      this.start(run, base, '', scene)
      const error = `${this.tooLong(prompt.ids.length)} Most of it is what the environment said after reset.`
      this.fail(run, { error, lasting: true })
      return
    }
    this.start(run, prompt, text, scene)
    run.phase = 'ready'
  }

  /** The prompt with what reset said; a group's members mostly read the same. */
  private promptWith({ scenario: { prompts, messages, venue } }: Run, text: string): AuthoredTokens {
    const prompt = prompts.get(text) ?? this.request.chat.prompt(messages, venue.environment.tools, text)
    prompts.set(text, prompt)
    return prompt
  }

  private start(run: Run, prompt: AuthoredTokens, environmentText: string, scene: unknown): Episode {
    const { step, chat, onEvent } = this.request
    const seed = this.seedOf(run)
    const { index, group, scenario } = run
    const { columns, venue: { environment } } = scenario
    const messages = scenario.messages.map((message) => ({ ...message }))
    const last = messages.at(-1)
    if (last) last.content += environmentText
    const episode = startEpisode({ step, index, group, seed }, prompt, messages, scene)
    if (environment !== this.request.environment) episode.environment = environment.name
    if (environment.rewardless) episode.rewardless = true
    if (columns) episode.columns = { ...columns }
    run.episode = episode
    run.turnStart = prompt.ids.length
    const shown = appendedTokens(episode, chat, 0)
    const { environment: played, rewardless, columns: row } = episode
    const known = { ...(played !== undefined && { environment: played }), ...(rewardless && { rewardless }), ...(row && { columns: row }) }
    onEvent({ type: 'episode-started', step, index, group, seed, prompt: shown, ...known, ...(scene === undefined ? {} : { scene }) })
    return episode
  }

  /** Gives free slots to the first episodes that are ready. */
  private async admit(): Promise<void> {
    const ready = this.runs.filter((run) => run.phase === 'ready').slice(0, this.pool.free)
    if (ready.length === 0) return
    const admissions = ready.map((run) => ({
      index: run.index,
      ids: (run.episode as Episode).ids,
      coming: this.runs.filter(
        (other) => other.group === run.group && !ready.includes(other) && ['new', 'resetting', 'reset', 'ready'].includes(other.phase),
      ).length,
    }))
    const { lanes } = this.request
    const from = lanes?.now() ?? 0
    lanes?.endAll('sampling')
    const slots = await this.pool.admit(admissions)
    ready.forEach((run, i) => {
      run.slot = slots[i] ?? null
      run.phase = 'sampling'
      lanes?.add(slots[i] as number, 'prefill', run.index, 0, from)
    })
  }

  /** Samples one token for each episode and appends those that go on, in one batch. */
  private async writeToken(writing: readonly Playing[]): Promise<void> {
    const { sampler, config, step, chat, onEvent, lanes } = this.request
    const { temperature, top_k, top_p, min_p } = config
    for (const { slot, index, episode } of writing) lanes?.begin(slot, 'sampling', index, episode.turns.length)
    const requests = writing.map(({ slot, index, episode }) => ({
      slot,
      uniform: uniform(config.seed, step, index, episode.ids.length),
    }))
    const sampled = await sampler.sample(requests, { temperature, top_k, top_p, min_p })
    const next: { slot: number; id: number }[] = []
    writing.forEach((run, i) => {
      const token = sampled[i]
      if (token === undefined) throw new PlaygroundError('engine', `The sampler gave no token for slot ${run.slot}.`)
      const { episode } = run
      appendSampled(episode, token)
      onEvent({ type: 'tokens', step, index: run.index, tokens: appendedTokens(episode, chat, episode.ids.length - 1) })
      if (chat.endOfTurnIds.includes(token.id)) this.endTurn(run)
      else if (episode.ids.length >= this.limit(episode)) this.endCutTurn(run)
      else next.push({ slot: run.slot, id: token.id })
    })
    if (next.length > 0) await sampler.decode(next)
  }

  /** The model has ended its turn: an answer, or calls for the environment. */
  private endTurn(run: Playing): void {
    const { chat, config, step, onEvent, lanes } = this.request
    const { episode } = run
    const { tools } = run.scenario.venue.environment
    episode.terminated = true
    // Without tools, as in TRL, there is nothing to call: whatever was written is the answer.
    const parsed = tools.length === 0 ? { content: '', calls: [] } : parseTurn(chat.text(episode.ids.slice(run.turnStart, -1)))
    const calls = parsed.calls.flatMap((item) => (item.kind === 'call' ? [item.call] : []))
    const malformed = parsed.calls.flatMap((item) => (item.kind === 'malformed' ? [item.error] : []))
    const written = calls.length > 0 ? { content: parsed.content, calls } : null
    recordTurn(episode, chat, run.turnStart, malformed, written)
    if (parsed.calls.length === 0) return this.finish(run, 'answered')
    if (run.rounds >= config.max_tool_calling_iterations) return this.finish(run, 'turn_limit')
    run.phase = 'waiting'
    run.outcome = null
    lanes?.begin(run.slot, 'waiting', run.index, episode.turns.length - 1)
    const at = { step, index: run.index, turn: episode.turns.length - 1 }
    const listener = {
      waiting: (): void => {
        if (!this.over) onEvent({ type: 'environment-waiting', ...at })
      },
      answered: ({ reward, rubric, done, scene }: { reward: number | null; rubric?: number; done: boolean; scene?: unknown }, ms: number): void => {
        if (!this.over) {
          onEvent({ type: 'environment-answered', ...at, reward, ...(rubric !== undefined && { rubric }), done, ms, ...(scene === undefined ? {} : { scene }) })
        }
      },
    }
    const answered = (outcome: TurnOutcome): void => {
      run.outcome = outcome
      if (!this.over) lanes?.end(run.slot)
      this.wake.up()
    }
    playTurn(run.session, parsed.calls, tools, listener).then(answered, (error: unknown) =>
      answered({ calls: [], results: [], done: false, failure: { error: describeError(error), lasting: false } }),
    )
  }

  /** The budget ended in the middle of a turn: it makes no call. */
  private endCutTurn(run: Playing): void {
    recordTurn(run.episode, this.request.chat, run.turnStart, [], null)
    this.finish(run, 'token_limit')
  }

  /** The environment has answered to a turn: the episode ends, or the results are appended and the model goes on. */
  private async continueAfter(run: Playing, outcome: TurnOutcome): Promise<void> {
    const { sampler, chat, config, step, onEvent, lanes } = this.request
    const { episode } = run
    const turn = episode.turns.at(-1) as Turn
    run.outcome = null
    run.rounds++
    turn.calls.push(...outcome.calls)
    if (outcome.scene !== undefined) turn.scene = outcome.scene
    run.rewards.push(...outcome.calls.map((call) => call.reward))
    episode.messages.push(...outcome.results.map(({ name, content }): ChatMessage => ({ role: 'tool', name, content })))
    if (outcome.failure !== null) return this.fail(run, outcome.failure)
    if (outcome.done) return this.finish(run, 'env_done')
    if (run.rounds >= config.max_tool_calling_iterations) return this.finish(run, 'turn_limit')
    const suffix = chat.toolSuffix(outcome.results)
    // Room for at least one token of the next turn, else the results would be read by nobody.
    if (episode.ids.length + suffix.ids.length >= this.limit(episode)) return this.finish(run, 'token_limit')
    const endOfTurn = episode.ids[turn.end - 1] as number
    appendGiven(episode, suffix)
    turn.resultEnd = episode.ids.length
    run.turnStart = episode.ids.length
    episode.terminated = false
    run.phase = 'sampling'
    onEvent({ type: 'tokens', step, index: run.index, tokens: appendedTokens(episode, chat, turn.end) })
    // The end-of-turn token was sampled but is not in the cache yet.
    lanes?.endAll('sampling')
    lanes?.begin(run.slot, 'prefill', run.index, episode.turns.length)
    await sampler.prefill(run.slot, [endOfTurn, ...suffix.ids])
    lanes?.end(run.slot)
  }

  private fail(run: Run, { error, lasting, unreadable }: Failure): void {
    if (run.episode && lasting) run.episode.lasting = true
    this.finish(run, unreadable ? 'env_unreadable' : 'env_error', error)
  }

  /** Ends the episode; one that is to be scored only once its session has nothing against its answers. */
  private finish(run: Run, exit: ExitReason, error: string | null = null): void {
    const { session } = run
    if (session === null || isSettled(session) || UNSCORABLE_EXITS.includes(exit)) return this.conclude(run, exit, error)
    run.phase = 'settling'
    this.releaseSlot(run)
    void settle(session).then((settled) => {
      run.ending = { exit, ...settled }
      this.wake.up()
    })
  }

  private releaseSlot(run: Run): void {
    if (run.slot === null) return
    this.pool.release(run.slot)
    this.request.lanes?.end(run.slot)
    run.slot = null
  }

  private conclude(run: Run, exit: ExitReason, error: string | null): void {
    const { step, chat, onEvent } = this.request
    const { environment, gate, queue } = run.scenario.venue
    const episode = run.episode ?? this.start(run, run.scenario.base, '', undefined)
    if (exit === 'stopped' && run.phase === 'sampling' && episode.ids.length > run.turnStart) {
      recordTurn(episode, chat, run.turnStart, [], null)
    }
    run.phase = 'finished'
    episode.exit = exit
    episode.error = error
    const final = run.ending?.reward
    if (final !== undefined && !UNSCORABLE_EXITS.includes(exit)) episode.judged = true
    const given = UNSCORABLE_EXITS.includes(exit) ? null : final === undefined ? environment.episodeReward(run.rewards) : final
    episode.reward = UNSCORABLE_EXITS.includes(exit) ? null : (given ?? (environment.rewardless || episode.judged ? null : earnedNothing(episode)))
    if (given === null && episode.reward === 0) remarkOnErrors(environment, episode, onEvent)
    if (episode.reward !== null) episode.success = environment.isSuccess(episode.reward)
    assertConsistent(episode)
    this.releaseSlot(run)
    if (run.session) gate.end(run.session)
    if (exit !== 'stopped') queue.end(run.index, this.runs.filter((other) => other.phase === 'new' && other.scenario.venue === run.scenario.venue).length)
    run.session = null
    onEvent({ type: 'episode-finished', step, episode })
  }

  /** Most tokens of an episode, prompt included. */
  private limit(episode: Episode): number {
    const { config, sampler } = this.request
    return Math.min(episode.promptLength + config.max_completion_length, sampler.contextLength)
  }

  private seedOf(run: Run): number {
    return this.request.groupSeeds[run.group - (this.request.firstGroup ?? 0)] ?? 0
  }

  private tooLong(tokens: number): string {
    return `The prompt has ${tokens} tokens; the context holds ${this.request.sampler.contextLength}.`
  }
}
