/**
 * Play by hand as the page shows it: the episode that a person plays, its frames, what was tested. It keeps a run's store of its own,
 * so that the panels which draw the model's trajectories draw a person's, too. No React, no DOM.
 */

import { createStore, type StoreApi } from 'zustand/vanilla'
import type { RunConfig } from '../core/config'
import type { MemberFacts } from '../core/environment'
import type { EnvironmentSpec, MixMember } from '../core/environment-spec'
import { isSame } from '../core/same'
import type { Tool, ToolCall } from '../core/tools'
import type { Message, PlayAction, PlayFrame, PlayObservation, PlayResult, PlaySetup, SeedComparison } from '../worker/protocol'
import type { EnginePort } from './controller'
import { type Clock, createRunStore, type RunStore } from './run-store'
import { createSelectionStore, type SelectionStore } from './selection-store'
import type { SetupStore, SetupView } from './setup-store'
import { isBroken } from './view'

/** Frames that stay listed. */
const KEPT_FRAMES = 200

/** One tool that was tried with one call after one reset. */
export interface ToolTest {
  call: ToolCall
  /** null while it is under way. */
  outcome: { ok: true; observation: PlayObservation } | { ok: false; error: string } | null
}

export interface PlayView {
  /** What the environment is asked for now. */
  busy: PlayAction['do'] | null
  playing: boolean
  /** What the last reset brought. */
  begun: { seed: number; prompt: string; tools: readonly Tool[]; hasState: boolean } | null
  /** What the environment said last. */
  latest: PlayObservation | null
  state: Readonly<Record<string, unknown>> | null
  comparison: ({ seed: number } & SeedComparison) | null
  frames: readonly (PlayFrame & { id: number })[]
  /** By the tool's own name. */
  tests: Readonly<Record<string, ToolTest>>
  /** A sentence on what went wrong last, or why the episode was ended. */
  error: string | null
  /** Which of several environments is played, and whose tools are looked at. */
  member: number
}

export interface Play {
  readonly store: StoreApi<PlayView>
  /** Episodes as the trajectory panel reads them, and what is looked at in them. */
  readonly run: RunStore
  readonly selection: SelectionStore
  /** Of several environments, this one is played from now on; an episode of another ends. */
  choose(member: number): void
  /** Begins an episode with this seed. */
  reset(seed: number): void
  call(call: ToolCall): void
  askState(): void
  end(): void
  /** Tests whether this seed is honoured. */
  compare(seed: number): void
  /** One reset and one call; `tool` is its own name, whatever the call says. */
  test(tool: string, call: ToolCall, seed: number): void
}

const NOTHING: PlayView = {
  busy: null,
  playing: false,
  begun: null,
  latest: null,
  state: null,
  comparison: null,
  frames: [],
  tests: {},
  error: null,
  member: 0,
}

/** The settings that an episode by hand has: those of the controls, unless these name an environment that is not connected yet. */
export function playedConfig({ config, applied }: SetupView): RunConfig {
  const other = applied !== null && !isSame(applied.environment, config.environment)
  return other ? applied : config
}

/** Whether an episode by hand shows another prompt or other tools than the run has: settings that were changed and not taken over yet. */
export function playsChanges(setup: SetupView): boolean {
  const { applied } = setup
  const parts = ({ tool_edits, system_prompt, user_prompt, enable_thinking }: RunConfig) =>
    JSON.stringify([tool_edits, system_prompt, user_prompt, enable_thinking])
  return applied !== null && parts(playedConfig(setup)) !== parts(applied)
}

export function createPlay(port: EnginePort, setup: SetupStore, clock: Clock): Play {
  const store = createStore<PlayView>(() => NOTHING)
  const run = createRunStore(clock)
  const selection = createSelectionStore()
  let requests = 0
  let frames = 0
  let pending: number | null = null
  let testing: { tool: string; call: ToolCall } | null = null
  let environment: string | null = null
  /** Of several environments, as they were connected. */
  let members: readonly MemberFacts[] = []

  function send(action: PlayAction) {
    pending = ++requests
    store.setState({ busy: action.do, error: null })
    port.send({ type: 'play', requestId: pending, action })
  }

  function settings(): PlaySetup {
    const { environment, network_hosts, tool_edits, system_prompt, user_prompt, enable_thinking } = playedConfig(setup.getState())
    const whole = { environment, tool_edits, system_prompt, user_prompt, enable_thinking, ...(network_hosts && { network_hosts }) }
    return environment.kind === 'mix' ? ofMember({ ...whole, environment }, members, store.getState().member) : whole
  }

  function begin(seed: number) {
    store.setState({ begun: null, latest: null, state: null, playing: false })
    send({ do: 'reset', setup: settings(), seed })
  }

  /** Ends a test with what came of it. */
  function tested(outcome: NonNullable<ToolTest['outcome']>) {
    if (!testing) return
    const { tool, call } = testing
    testing = null
    store.setState(({ tests }) => ({ tests: { ...tests, [tool]: { call, outcome } } }))
  }

  function answer(result: PlayResult) {
    pending = null
    store.setState({ busy: null })
    switch (result.kind) {
      case 'begun': {
        const { observation, seed, prompt, tools, hasState } = result
        store.setState({ begun: { seed, prompt, tools, hasState }, latest: observation, playing: !observation.done })
        if (testing) send({ do: 'call', call: testing.call })
        return
      }
      case 'answered':
        store.setState({ latest: result.observation, playing: !result.observation.done })
        return tested({ ok: true, observation: result.observation })
      case 'state':
        return store.setState({ state: result.state })
      case 'compared': {
        const { kind: _, ...comparison } = result
        return store.setState({ comparison, playing: false })
      }
      case 'ended':
        return store.setState({ playing: false })
      case 'failed':
        store.setState(({ playing }) => ({ error: result.error, playing: playing && !result.over }))
        return tested({ ok: false, error: result.error })
    }
  }

  function forget() {
    if (pending !== null || store.getState().playing) port.send({ type: 'play', requestId: ++requests, action: { do: 'end' } })
    pending = null
    testing = null
    store.setState(NOTHING, true)
    run.receive({ type: 'cleared' })
  }

  port.onMessage((message: Message) => {
    switch (message.type) {
      case 'play-event':
        return run.receive({ type: 'event', event: message.event })
      case 'play-frames':
        return store.setState((view) => ({
          frames: [...view.frames, ...message.frames.map((frame) => ({ ...frame, id: frames++ }))].slice(-KEPT_FRAMES),
        }))
      case 'play-result':
        if (message.requestId === pending) answer(message.result)
        return
      case 'play-ended':
        return store.setState({ playing: false, error: message.reason })
      case 'environment': {
        const now = JSON.stringify(message.spec)
        if (environment !== null && environment !== now) forget()
        environment = now
        members = message.members ?? []
        return
      }
      case 'state':
        // A worker that died answers nothing more.
        if (pending !== null && isBroken(message.state)) answer({ kind: 'failed', error: message.state.error, over: true })
        return
      default:
        return
    }
  })

  const idle = () => store.getState().busy === null
  return {
    store,
    run,
    selection,
    choose(member) {
      if (member === store.getState().member) return
      forget()
      store.setState({ member })
    },
    reset(seed) {
      if (idle()) begin(seed)
    },
    call(call) {
      if (idle()) send({ do: 'call', call })
    },
    askState() {
      if (idle()) send({ do: 'state' })
    },
    end() {
      if (idle() && !store.getState().playing) return
      testing = null
      send({ do: 'end' })
    },
    compare(seed) {
      if (!idle()) return
      store.setState({ comparison: null, playing: false })
      send({ do: 'compare', setup: settings(), seed })
    },
    test(tool, call, seed) {
      if (!idle()) return
      testing = { tool, call }
      store.setState(({ tests }) => ({ tests: { ...tests, [tool]: { call, outcome: null } } }))
      begin(seed)
    },
  }
}

/** What one of several environments is played with: its own prompts, and those edits that are about its tools. */
function ofMember({ environment: mix, network_hosts, tool_edits, enable_thinking }: PlaySetup & { environment: Extract<EnvironmentSpec, { kind: 'mix' }> }, members: readonly MemberFacts[], at: number): PlaySetup {
  const { environment, system_prompt, user_prompt } = (mix.members[at] ?? mix.members[0]) as MixMember
  const facts = members[at] ?? members[0]
  const own = (facts?.ownTools ?? facts?.tools ?? []).map((tool) => tool.function.name)
  return {
    environment,
    tool_edits: tool_edits.filter((edit) => own.includes(edit.tool)),
    system_prompt: system_prompt || (facts?.prompts.system ?? ''),
    user_prompt: user_prompt || (facts?.prompts.user ?? ''),
    enable_thinking,
    ...(network_hosts && { network_hosts }),
  }
}
