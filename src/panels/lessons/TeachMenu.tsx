/** The Teach menu: the tour, the lessons with what was answered of them, and what teachers do with links. Opens as it is first drawn. */

import { Menu } from '@base-ui/react/menu'
import { useState } from 'react'
import { useDisplay, useProgress, useStores, useTour } from '../../store/hooks'
import { LESSON_IDS } from '../../store/lessons'
import { BENCH_STRINGS } from '../../ui/bench-strings'
import { focusLater } from '../../ui/focus'
import { LESSON_TITLES } from '../../ui/lesson-strings'
import { PLAN_STRINGS } from '../../ui/plan-strings'
import { S } from '../../ui/strings'
import { showPanel } from '../article/show-panel'
import { IconTeach } from '../bar/icons'
import { useCopyLink } from '../bar/useCopyLink'
import { HideDialog } from './HideDialog'
import { lessonById } from './lessons.data'

const T = S.teach

export function TeachMenu() {
  const { tour, lessons, display, controller } = useStores()
  const [choosing, setChoosing] = useState(false)
  const { said, copy } = useCopyLink()
  const plan = () => {
    controller.choosePlan('staged')
    // It is drawn first.
    requestAnimationFrame(() => showPanel('plan'))
  }
  const begun = useTour(({ at }) => at > 0)
  return (
    <span className="copy-link">
      <Menu.Root defaultOpen modal={false}>
        <Menu.Trigger className="button quiet worded" data-testid="teach" title={T.hint}>
          <IconTeach /> <span>{T.menu}</span>
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="menu-place" align="end" sideOffset={6} collisionPadding={8}>
            <Menu.Popup className="menu" data-testid="teach-menu">
              <Menu.Item className="menu-item" data-testid="menu-tour" onClick={tour.start}>
                {begun ? T.tourAgain : T.tour}
              </Menu.Item>
              <Menu.Separator className="menu-rule" />
              <Menu.Group>
                <Menu.GroupLabel className="menu-label">{T.lessons}</Menu.GroupLabel>
                {LESSON_IDS.map((id) => (
                  <Menu.Item key={id} className="menu-item" data-testid={`menu-lesson-${id}`} onClick={() => lessons.open(id)}>
                    {LESSON_TITLES[id]} <Answered id={id} />
                  </Menu.Item>
                ))}
              </Menu.Group>
              <Menu.Separator className="menu-rule" />
              <Menu.Group>
                <Menu.GroupLabel className="menu-label">{PLAN_STRINGS.menuLabel}</Menu.GroupLabel>
                <Menu.Item className="menu-item" data-testid="menu-plan" title={PLAN_STRINGS.menuHint} onClick={plan}>
                  {PLAN_STRINGS.menu}
                </Menu.Item>
              </Menu.Group>
              <Menu.Separator className="menu-rule" />
              <Menu.Item className="menu-item" data-testid="menu-hide" onClick={() => setChoosing(true)}>
                {T.choose}…
              </Menu.Item>
              <Menu.Item className="menu-item" data-testid="menu-copy" title={T.copyHint} onClick={copy}>
                {T.copy}
              </Menu.Item>
              <Menu.Separator className="menu-rule" />
              <Menu.Item className="menu-item" data-testid="menu-bench" onClick={() => display.setState({ bench: true })}>
                {BENCH_STRINGS.menu}…
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <span role="status" className={said ? 'floating' : ''}>
        {said}
      </span>
      {choosing && <HideDialog
          onClose={() => {
            setChoosing(false)
            focusLater('teach')
          }}
        />}
    </span>
  )
}

function Answered({ id }: { id: (typeof LESSON_IDS)[number] }) {
  const open = useDisplay((d) => d.lesson === id)
  const answers = useProgress((progress) => progress[id])
  const { cards } = lessonById(id)
  const done = cards.filter((card) => answers?.[card.id]).length
  return (
    <span className="note">
      {open && '● '}
      {done > 0 && T.answered(done, cards.length)}
    </span>
  )
}
