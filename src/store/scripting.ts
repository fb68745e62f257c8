/** The page's scripting handle, `window.playground`: what a benchmark or a curious person drives from the console. */

import type { RunConfig } from '../core/config'
import type { Command, EvaluationResult } from '../worker/protocol'
import type { Stores } from './hooks'
import type { RunView } from './view'

export interface PlaygroundHandle {
  /** The run as the panels see it, up to the last message; `config` is what the worker was configured with. */
  getState(): RunView & { config: RunConfig | null }
  /** Sends a command to the worker, as the buttons do: {type: 'train'}, {type: 'configure', config}, … */
  send(command: Command): void
  /** Success rates, 0…1, over this many fixed-seed episodes of each split, sampled at temperature 1. */
  evaluate(episodes: number): Promise<EvaluationResult>
}

declare global {
  interface Window {
    playground: PlaygroundHandle
  }
}

export function createHandle({ run, setup, controller }: Stores): PlaygroundHandle {
  return {
    getState() {
      run.flush()
      return { ...run.getState(), config: setup.getState().applied }
    },
    send: controller.send,
    evaluate: controller.evaluate,
  }
}
