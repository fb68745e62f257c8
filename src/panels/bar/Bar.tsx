/** The bar: the four buttons, the sentence of state, the badge, and what concerns the whole page. */

import { Hideable } from '../../ui/Hideable'
import { S } from '../../ui/strings'
import { NoticesButton } from '../notices/Notices'
import { SiteNotices } from '../notices/SiteNotices'
import { RunsButton } from '../runs/RunsButton'
import { TakeAwayButton } from '../take-away/TakeAwayButton'
import { Badge } from './Badge'
import { Controls } from './Controls'
import { CopyLink, TeachButton, ThemeSwitch } from './PageButtons'
import { Shortcuts } from './Shortcuts'
import { StateLine } from './StateLine'

export function Bar() {
  return (
    <header className="bar">
      <h1 className="brand">{S.product}</h1>
      <Hideable part="controls">
        <Controls />
      </Hideable>
      <StateLine />
      <Hideable part="badge">
        <Badge />
      </Hideable>
      <div className="bar-notices">
        <NoticesButton />
        <SiteNotices />
      </div>
      <div className="bar-kept">
        <Hideable part="runs">
          <RunsButton />
        </Hideable>
        <Hideable part="take-away">
          <TakeAwayButton />
        </Hideable>
      </div>
      <div className="bar-end">
        <TeachButton />
        <Shortcuts />
        <Hideable part="link">
          <CopyLink />
        </Hideable>
        <Hideable part="theme">
          <ThemeSwitch />
        </Hideable>
      </div>
    </header>
  )
}
