/** Loads what a run needs and tells the page how far that is; remembers what of it still holds when it is over. */

import type { RunConfig } from '../core/config'
import { assertNoConflict } from '../core/conflicts'
import type { LoadProgress } from '../core/events'
import type { PlayDesk } from './play'
import type { Message } from './protocol'
import { isReset, type KeptStart, type RunSetup, type SetupKeeper } from './setup'

export class RunLoader {
  /** What the load that is going on had to say that holds when it is over. */
  notices: string[] = []
  /** How far the last load had come. */
  progress: LoadProgress = { what: '', done: 0, total: null }

  constructor(
    private readonly keeper: Pick<SetupKeeper, 'prepare' | 'discardEngine'>,
    private readonly post: (message: Message) => void,
    /** Whoever plays by hand: gives way when the run needs the environment's sessions. */
    private readonly play: Pick<PlayDesk, 'giveWay'> | null,
  ) {}

  /** A setup whose adapter is that of step 0: of `at`, where a run is loaded again, else what the config names, whose settings must go together. */
  async prepare(config: RunConfig, at: KeptStart | null): Promise<RunSetup> {
    this.notices = []
    if (at === null) assertNoConflict(config)
    const setup = await this.load(config, at)
    if (isReset(setup, config)) return setup
    await setup.environment.close()
    await this.keeper.discardEngine()
    const again = await this.load(config, at)
    again.engine.resetAdapter(config.grpo.seed)
    return again
  }

  private load(config: RunConfig, at: KeptStart | null): Promise<RunSetup> {
    return this.keeper.prepare(config, {
      ...(at ? { at } : {}),
      onProgress: (progress) => {
        this.progress = progress
        this.post({ type: 'state', state: { state: 'loading', ...progress } })
      },
      onCrowded: () => void this.play?.giveWay('The server has no other free session, and the run needs this one: the episode was ended.'),
      onAway: (text) => this.post({ type: 'event', event: { type: 'environment-away', text, seconds: null } }),
      onNotice: (text, passing) => {
        this.post({ type: 'event', event: { type: 'notice', level: 'warning', text } })
        if (!passing) this.notices.push(text)
      },
    })
  }
}
