/** Makes the page's stores over a worker, from the page's address. */

import { asksForConsent } from '../core/environment-spec'
import { createAccount } from './account-store'
import { createChat } from './chat-store'
import { createCompare } from './compare-store'
import { createController, type EnginePort } from './controller'
import { createDisplayStore } from './display'
import { createExaminations } from './examination-store'
import { createGuard } from './guard-store'
import type { Stores } from './hooks'
import { withoutLateImports } from './late-import'
import { createLessonProgress } from './lesson-progress'
import { createLessons } from './lesson-store'
import { readLink } from './link'
import { createModelStore } from './model-store'
import { createPlay } from './play-store'
import { browserFrames, createReplay } from './replay'
import { createShown } from './shown'
import { type Clock, createRunStore } from './run-store'
import { createRuns } from './runs-store'
import { createSelectionStore } from './selection-store'
import { createSetupStore } from './setup-store'
import { followSpeed } from './speed'
import { createTakeAway } from './take-away-store'
import { createTour } from './tour-store'

/** A link that names a server or a model of the Hub waits for consent; nothing here starts the engine. */
export function createStores(engine: EnginePort, hash: string, clock: Clock): Stores {
  const port = withoutLateImports(engine)
  const link = readLink(hash)
  const run = createRunStore(clock)
  const setup = createSetupStore()
  const selection = createSelectionStore(link.episode, link.token)
  const display = createDisplayStore(link.display)
  const models = createModelStore()
  setup.setState({ config: link.config, problems: link.problems, awaitsConsent: asksForConsent(link.config) })
  const chat = createChat(port)
  const play = createPlay(port, setup, clock)
  const examinations = createExaminations(port, run)
  const compare = createCompare(port)
  const guard = createGuard(port)
  const controller = createController(port, run, setup, selection, models)
  // What is pressed while a kept run loads waits for that.
  const runs = createRuns({ ...port, send: controller.send })
  const takeAway = createTakeAway(port, controller.evaluate)
  const account = createAccount(controller.model.setToken)
  const replay = createReplay(browserFrames, () => display.getState().speed)
  const shown = createShown(run, replay)
  followSpeed(display, port)
  const lessons = createLessons({ run, replay, setup, selection, display, runs, controller })
  lessons.arrive(hash, link.display.lesson ?? null)
  return { run, shown, replay, setup, selection, display, lessons, progress: createLessonProgress(), tour: createTour(), chat, play, models, examinations, compare, guard, runs, takeAway, account, controller, worker: port }
}
