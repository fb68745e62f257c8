/** Brings the recorded run onto a page with the settings that it was made with, and takes it away when the person begins something. */

import { gunzipJson } from '../core/gzip'
import type { Message } from '../worker/protocol'
import type { EnginePort } from './controller'
import type { Stores } from './hooks'
import type { LinkPlace } from './link'
import { goToPlace } from './place'
import { defaultConfig } from './presets'
import { readRecordedRun } from './recorded-run'

/** Below the page's folder. Not named .gz: some hosts would take the compression off on its way, and the service worker its hash amiss. */
export const RECORDED_RUN_PATH = 'recorded-run/lane.bin'

/** Where the recording comes from and how it is to be shown. */
export interface ReplayStart {
  /** The file's bytes; rejects where there is none. */
  fetch: () => Promise<ArrayBuffer>
  /** The person wants nothing to move by itself. */
  still: boolean
  /** Where the link points. */
  place?: LinkPlace
}

/**
 * Resolves when the recording is shown, or when it is not to be: the link names other settings, the file cannot be had or
 * read, or the person was faster. Never rejects: the page works without it.
 */
export async function startReplay(stores: Stores, port: Pick<EnginePort, 'onMessage'>, { fetch, still, place = {} }: ReplayStart): Promise<void> {
  const { replay, setup, selection } = stores
  const { config } = setup.getState()
  // What it shows is what these settings do, on whichever backend.
  const { backend } = config
  if (JSON.stringify(config) !== JSON.stringify({ ...defaultConfig(), backend })) return goToPlace(stores, place)
  replay.expect()
  let loading = true
  port.onMessage((message) => {
    if (message.type === 'state') loading = message.state.state === 'loading'
    if (isBegun(message, loading)) replay.end()
  })
  // What is shown would no longer be what these settings do.
  setup.subscribe((now) => now.config !== config && replay.end())
  // A point of a curve: every step of a recording is there, so it goes to that one and stays.
  selection.subscribe(({ step }) => {
    if (step === null || replay.store.getState().state !== 'on') return
    replay.pause()
    replay.peek(step)
    selection.setState({ step: null })
  })
  try {
    const recording = readRecordedRun(await unpacked(await fetch()))
    // The page may draw between the two.
    await new Promise((resolve) => setTimeout(resolve))
    replay.open(recording, still)
    if (replay.store.getState().state === 'on') goToPlace(stores, place)
  } catch (cause) {
    replay.end()
    goToPlace(stores, place)
    console.info('The recorded run is not shown:', cause)
  }
}

/** A run begins, is gone on with or read from a file; an episode is played by hand; Reset was pressed. */
function isBegun(message: Message, loading: boolean): boolean {
  switch (message.type) {
    case 'state':
      return message.state.state === 'running' || message.state.state === 'pausing' || message.state.state === 'paused'
    case 'event':
      return message.event.type === 'step-started'
    case 'play-result':
      return message.result.kind === 'begun'
    case 'restored':
      return true
    // The first loading clears what there was before it: nothing.
    case 'cleared':
      return !loading
    default:
      return false
  }
}

/** Gzipped JSON, or what a host made of it. */
async function unpacked(bytes: ArrayBuffer): Promise<unknown> {
  const [first, second] = new Uint8Array(bytes)
  if (first !== 0x1f || second !== 0x8b) return JSON.parse(new TextDecoder().decode(bytes))
  return gunzipJson(bytes)
}
