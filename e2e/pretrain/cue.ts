/**
 * The word under which the tiny model was taught to play well. It stands before the user's text and before every tool
 * result of an expert's demonstration, on a line of its own, so that the observation behind it has the same tokens as without.
 * GRPO and the page never use it; pretraining measures with and without.
 */

import type { Environment, EnvironmentSession, Observation } from '../../src/core/environment'

export const CUE = 'Expert.\n'

/** The same environment, with the cue before everything it says. */
export function underCue(environment: Environment): Environment {
  const cued = async (observation: Promise<Observation>): Promise<Observation> => {
    const seen = await observation
    return { ...seen, text: CUE + seen.text }
  }
  return {
    ...environment,
    open: async (): Promise<EnvironmentSession> => {
      const session = await environment.open()
      return {
        reset: (options) => cued(session.reset(options)),
        step: (call) => cued(session.step(call)),
        close: () => session.close(),
      }
    },
  }
}
