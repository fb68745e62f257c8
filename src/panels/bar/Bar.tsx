/** The bar: the four buttons, the sentence of state, the badge, and what concerns the whole page. */

import { isFresh } from '../../store/controller'
import { useModels, useRun, useRuns, useSetup, useStores } from '../../store/hooks'
import { needsLoad } from '../../store/model-settings'
import { isDistrusted } from '../../store/model-store'
import { hasChanges, onlyEndDiffers } from '../../store/setup-store'
import { isActive } from '../../store/view'
import { S } from '../../ui/strings'
import { NoticesButton } from '../notices/Notices'
import { SiteNotices } from '../notices/SiteNotices'
import { RunsButton } from '../runs/RunsButton'
import { TakeAwayButton } from '../take-away/TakeAwayButton'
import { Badge } from './Badge'
import { IconPause, IconPlay, IconReset, IconStep } from './icons'
import { CopyLink, ThemeSwitch } from './PageButtons'
import { StateLine } from './StateLine'

export function Bar() {
  return (
    <header className="bar">
      <h1 className="brand">{S.product}</h1>
      <Controls />
      <StateLine />
      <Badge />
      <div className="bar-notices">
        <NoticesButton />
        <SiteNotices />
      </div>
      <div className="bar-kept">
        <RunsButton />
        <TakeAwayButton />
      </div>
      <div className="bar-end">
        <CopyLink />
        <ThemeSwitch />
      </div>
    </header>
  )
}

function Controls() {
  const { controller } = useStores()
  const run = useRun((view) => view.run)
  const changed = useSetup((setup) => hasChanges(setup) && !onlyEndDiffers(setup))
  const endsLater = useSetup((setup) => onlyEndDiffers(setup) && run.state === 'finished' && setup.config.grpo.max_steps > run.step)
  const awaitsConsent = useSetup((setup) => setup.awaitsConsent)
  const waits = useSetup(needsLoad)
  const fresh = useRun(isFresh)
  const engine = useRun((view) => view.engine)
  const distrusted = useModels((models) => isDistrusted(engine, models))
  const recording = useRun((view) => view.recording !== null)
  const measuring = useRuns((view) => view.measuring !== null)
  const blocked = recording ? S.runs.recording.blocked : measuring ? S.runs.measuring : distrusted ? S.model.test.blocked : fresh && waits ? S.model.loadFirst : null
  const active = isActive(run)
  const idle = run.state === 'ready' || run.state === 'paused' || endsLater || (run.state === 'failed' && run.recoverable)
  // A server, or a Space that wakes, is waited for: that can be stopped, and begun again by Reset.
  const connecting = run.state === 'loading' && run.what === 'environment'
  const stopped = run.state === 'load-paused' && run.what !== 'environment'
  const canReset = run.state !== 'loading' && !stopped && !awaitsConsent && !waits
  const canRun = idle && !awaitsConsent && blocked === null
  return (
    <div className="controls" role="group" aria-label="Run">
      <button
        type="button"
        className="button primary"
        data-testid="train"
        title={blocked ?? (run.state === 'finished' && !endsLater ? S.bar.finishedHint : S.bar.trainHint)}
        disabled={!canRun}
        onClick={controller.train}
      >
        <IconPlay />
        {run.state === 'paused' || endsLater ? S.bar.resume : S.bar.train}
      </button>
      <button
        type="button"
        className="button"
        data-testid="pause"
        title={connecting ? S.environment.stopWaiting : S.bar.pauseHint}
        disabled={!connecting && (!active || run.state === 'pausing')}
        onClick={controller.pause}
      >
        <IconPause />
        {S.bar.pause}
      </button>
      <button
        type="button"
        className="button"
        data-testid="step"
        title={blocked ?? S.bar.stepHint}
        disabled={!canRun}
        onClick={controller.step}
      >
        <IconStep />
        {S.bar.step}
      </button>
      <button
        type="button"
        className={changed && !waits && !fresh ? 'button urged' : 'button'}
        data-testid="reset"
        title={waits ? S.model.loadFirst : changed ? S.bar.resetChanged : fresh ? S.bar.resetFresh : S.bar.resetHint}
        disabled={!canReset}
        onClick={controller.reset}
      >
        <IconReset />
        {S.bar.reset}
      </button>
    </div>
  )
}
