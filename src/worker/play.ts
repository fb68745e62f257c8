/**
 * Play by hand: a person drives one episode at a time, in a session beside the run's. It becomes an Episode like the model's, told
 * by the same events, with the person's calls written where the model's would stand.
 */

import { withoutSecrets } from '../core/discovered'
import type { Environment, EnvironmentSession, Observation } from '../core/environment'
import type { Episode, ExitReason, Turn } from '../core/episode'
import { describeError, PlaygroundError } from '../core/errors'
import type { AppendedToken, TrainEvent } from '../core/events'
import type { ChatMessage, Tool, ToolCall } from '../core/tools'
import type { OpenEnvOptions } from '../env/openenv/client'
import type { ChatFormat } from '../rollout/chat'
import { appendedTokens, appendGiven, recordTurn, startEpisode } from '../rollout/episode'
import { firstMessages } from '../rollout/first-messages'
import { playTurn, settle, type Settled } from '../rollout/sessions'
import { frameOf } from './play-frames'
import { compareResets } from './play-seeds'
import type { Command, Message, PlayAction, PlayFrame, PlayObservation, PlayResult, PlaySetup } from './protocol'

export interface PlayParts {
  makeEnvironment(setup: PlaySetup, options: OpenEnvOptions): Environment | Promise<Environment>
  /** The loaded model's format; null while none is loaded. */
  chat(): ChatFormat | null
}

type PlayCommand = Extract<Command, { type: 'play' }>

/** How long a person waits for a free session: as long as a server takes to free that of the last episode. */
const PATIENCE_MS = 1500

/** The episode that ended last, with what a row of it needs. */
export interface PlayedEpisode {
  episode: Episode
  tools: readonly Tool[]
  enable_thinking: boolean
}

interface Connected {
  key: string
  environment: Environment
}

interface Game {
  environment: Environment
  session: EnvironmentSession
  format: ChatFormat
  enable_thinking: boolean
  episode: Episode
  rewards: (number | null)[]
  over: boolean
}

export class PlayDesk {
  private connected: Connected | null = null
  private game: Game | null = null
  private games = 0
  private ended: PlayedEpisode | null = null
  private queue: Promise<unknown> = Promise.resolve()
  /** Commands that were taken and not answered yet. */
  private asked = 0
  /** Whoever waits for the environment is told this instead when it was closed on purpose. */
  private givenUp: string | null = null

  constructor(
    private readonly parts: PlayParts,
    private readonly post: (message: Message) => void,
  ) {}

  /** null until an episode has ended. */
  get played(): PlayedEpisode | null {
    return this.ended
  }

  /** Takes a command and answers it by one 'play-result'; never throws. */
  handle({ requestId, action }: PlayCommand): void {
    // What is under way may wait long for a server: it is not waited for.
    if (action.do === 'end' && (this.asked > 0 || !this.awaitsJudgement())) void this.abandon('The episode was ended by hand.')
    this.asked++
    this.queue = this.queue.then(async () => {
      this.givenUp = null
      let result: PlayResult
      try {
        result = await this.act(action)
      } catch (error) {
        const over = this.game === null || this.game.over
        result = { kind: 'failed', error: this.givenUp ?? describeError(error), over }
      }
      this.asked--
      this.post({ type: 'play-result', requestId, result })
    })
  }

  /** The run needs the environment's sessions: gives back what is held, and says so. Does nothing where there are sessions for all. */
  giveWay(reason: string): Promise<void> {
    const { connected } = this
    if (!connected || connected.environment.maxSessions === Infinity) return Promise.resolve()
    const playing = this.game !== null && !this.game.over
    const left = this.abandon(reason)
    if (playing) this.post({ type: 'play-ended', reason })
    return left
  }

  private async act(action: PlayAction): Promise<PlayResult> {
    switch (action.do) {
      case 'reset':
        return this.reset(action.setup, action.seed)
      case 'call':
        return this.call(action.call)
      case 'state':
        return { kind: 'state', state: await this.state() }
      case 'end':
        if (this.awaitsJudgement()) await this.judge(this.game as Game, 'stopped')
        await this.leave()
        return { kind: 'ended' }
      case 'compare': {
        await this.leave()
        const environment = await this.connect(action.setup)
        return { kind: 'compared', seed: action.seed, ...(await compareResets(environment, action.seed)) }
      }
    }
  }

  private async reset(setup: PlaySetup, seed: number): Promise<PlayResult> {
    await this.leave()
    const format = this.parts.chat()?.withThinking(setup.enable_thinking)
    if (!format) throw new PlaygroundError('config', 'There is no model yet whose prompt could be shown.', 'Wait until it is loaded.')
    const environment = await this.connect(setup)
    const step = ++this.games
    const session = await environment.open()
    let observation: Observation
    try {
      const from = performance.now()
      observation = await session.reset({ seed, episode_id: `play-seed${seed}-episode${step}`, split: 'train' })
      const messages = firstMessages(setup)
      const { text, scene } = observation
      const tokens = format.prompt(messages, environment.tools, text)
      const prompt = format.renderedPrompt(messages, environment.tools, text)
      const said = messages.map((m, i) => (i === messages.length - 1 ? { ...m, content: m.content + text } : m))
      const episode = startEpisode({ step, index: 0, group: 0, seed }, tokens, said, scene)
      this.game = { environment, session, format, enable_thinking: setup.enable_thinking, episode, rewards: [], over: false }
      this.tell({ type: 'step-started', step, episodes: 1, groups: 1 })
      const shown = unmasked(appendedTokens(episode, format, 0))
      this.tell({ type: 'episode-started', step, index: 0, group: 0, seed, prompt: shown, ...(scene === undefined ? {} : { scene }) })
      if (observation.done) await this.finishJudged(this.game)
      const hasState = session.readState !== undefined
      return { kind: 'begun', seed, observation: seen(observation, performance.now() - from), prompt, tools: [...environment.tools], hasState }
    } catch (error) {
      void session.close()
      throw error
    }
  }

  private async call(call: ToolCall): Promise<PlayResult> {
    const { game } = this
    if (!game || game.over) throw new PlaygroundError('config', 'No episode is being played.', 'Press Reset.')
    const { episode, format, environment } = game
    const { step } = episode
    const start = episode.ids.length
    appendGiven(episode, format.callTurn([call]))
    recordTurn(episode, format, start, [], { content: '', calls: [call] })
    this.tellTokens(game, start)
    const at = { step, index: 0, turn: episode.turns.length - 1 }
    let reached: { observation: Observation; ms: number } | null = null
    const outcome = await playTurn(game.session, [{ kind: 'call', call }], environment.tools, {
      waiting: () => this.tell({ type: 'environment-waiting', ...at }),
      answered: (observation, ms) => {
        const { reward, done, scene } = observation
        reached = { observation, ms }
        this.tell({ type: 'environment-answered', ...at, reward, done, ms, ...(scene === undefined ? {} : { scene }) })
      },
    })
    // Ended while the environment was asked: that has been told.
    if (this.isOver(game)) return { kind: 'failed', error: this.givenUp ?? 'The episode was ended.', over: true }
    const turn = episode.turns.at(-1) as Turn
    turn.calls.push(...outcome.calls)
    if (outcome.scene !== undefined) turn.scene = outcome.scene
    game.rewards.push(...outcome.calls.map(({ reward }) => reward))
    if (outcome.failure !== null) {
      const { error, unreadable } = outcome.failure
      this.finish(game, unreadable ? 'env_unreadable' : 'env_error', error)
      return { kind: 'failed', error, over: true }
    }
    episode.messages.push(...outcome.results.map(({ name, content }): ChatMessage => ({ role: 'tool', name, content })))
    // As in a rollout: what comes with the end of an episode is read by nobody.
    if (!outcome.done && outcome.results.length > 0) {
      const end = episode.ids.length
      appendGiven(episode, format.toolSuffix(outcome.results))
      turn.resultEnd = episode.ids.length
      this.tellTokens(game, end)
    }
    if (outcome.done) await this.finishJudged(game)
    return { kind: 'answered', call, observation: answerOf(reached, outcome.results[0]?.content ?? '') }
  }

  private async state(): Promise<Record<string, unknown>> {
    const { game } = this
    if (!game) throw new PlaygroundError('config', 'No episode is being played.', 'Press Reset.')
    if (!game.session.readState) throw new PlaygroundError('config', 'This environment tells no state.')
    const state = await game.session.readState()
    const { discovered } = game.environment
    return discovered && !game.over ? withoutSecrets(discovered, state) : state
  }

  private isOver(game: Game): boolean {
    return game.over
  }

  /** Whether an episode is played that has no end of its own yet, of an environment that judges whole episodes. */
  private awaitsJudgement(): boolean {
    return this.game !== null && !this.game.over && this.game.session.finalReward !== undefined
  }

  /** The environment said done. */
  private finishJudged(game: Game): Promise<void> {
    return this.judge(game, 'env_done')
  }

  /** Ends the episode; where the environment judges whole episodes, it is asked to. */
  private async judge(game: Game, exit: ExitReason): Promise<void> {
    // Frames that nobody asked for are no matter here: a person sees them.
    const { failure, reward }: Settled = game.session.finalReward ? await settle(game.session) : { failure: null }
    if (this.isOver(game)) return
    if (failure) return this.finish(game, failure.unreadable ? 'env_unreadable' : 'env_error', failure.error)
    if (reward !== undefined) game.episode.judged = true
    this.finish(game, exit, null, reward)
  }

  private finish(game: Game, exit: ExitReason, error: string | null = null, judged?: number | null): void {
    const { environment, episode, rewards, enable_thinking } = game
    game.over = true
    this.ended = { episode, tools: [...environment.tools], enable_thinking }
    episode.exit = exit
    episode.error = error
    episode.reward = judged !== undefined ? judged : exit === 'env_done' ? environment.episodeReward(rewards) : null
    if (episode.reward !== null) episode.success = environment.isSuccess(episode.reward)
    this.tell({ type: 'episode-finished', step: episode.step, episode })
  }

  /** An environment of one's own, so that the run's sessions are not counted with the person's. */
  private async connect(setup: PlaySetup): Promise<Environment> {
    const key = JSON.stringify([setup.environment, setup.tool_edits, setup.network_hosts])
    if (this.connected?.key === key) return this.connected.environment
    await this.connected?.environment.close()
    const onFrame = (direction: PlayFrame['direction'], text: string, time: number) => {
      const seen = { found: environment.discovered ?? null, over: this.game?.over ?? false }
      this.post({ type: 'play-frames', frames: [frameOf({ direction, text, time }, seen)] })
    }
    const environment: Environment = await this.parts.makeEnvironment(setup, { onFrame, deadlines: { capacityMs: PATIENCE_MS } })
    if (this.givenUp !== null) throw new PlaygroundError('stopped', this.givenUp)
    // Known before it is connected, so that connecting can be given up.
    this.connected = { key, environment }
    try {
      await environment.connect()
    } catch (error) {
      if (this.connected?.environment === environment) this.connected = null
      throw error
    }
    return environment
  }

  /** Ends the episode that is being played. */
  private async leave(): Promise<void> {
    const { game } = this
    this.game = null
    if (!game) return
    if (!game.over) this.finish(game, 'stopped')
    await game.session.close()
  }

  /** Ends everything at once, also what waits for the server. */
  private async abandon(reason: string): Promise<void> {
    const { connected } = this
    this.givenUp = reason
    this.connected = null
    const left = this.leave()
    await connected?.environment.close()
    await left
  }

  private tellTokens({ episode, format }: Game, start: number): void {
    this.tell({ type: 'tokens', step: episode.step, index: 0, tokens: unmasked(appendedTokens(episode, format, start)) })
  }

  private tell(event: TrainEvent): void {
    this.post({ type: 'play-event', event })
  }
}

/** Nothing that a person wrote trains. */
function unmasked(tokens: readonly AppendedToken[]): AppendedToken[] {
  return tokens.map((token) => ({ ...token, mask: 0 }))
}

function seen({ text, reward, done, toolError, scene, metadata }: Observation, ms: number | null): PlayObservation {
  return { text, reward, done, toolError, ms, metadata, ...(scene === undefined ? {} : { scene }) }
}

/** What came back; a call that was refused before it reached the environment has its sentence only. */
function answerOf(reached: { observation: Observation; ms: number } | null, text: string): PlayObservation {
  return reached ? seen(reached.observation, reached.ms) : { text, reward: null, done: false, toolError: true, ms: null, metadata: {} }
}
