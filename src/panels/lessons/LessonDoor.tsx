/** The room of the open lesson below the bar; the lesson itself is fetched when there is one. */

import { useEffect, useLayoutEffect, useRef } from 'react'
import { useDisplay } from '../../store/hooks'
import { isLesson } from '../../store/lessons'
import { focusLater } from '../../ui/focus'
import { later } from '../../ui/later'

const LessonStrip = later(() => import('./LessonStrip').then((part) => part.LessonStrip))

export function LessonDoor() {
  const lesson = useDisplay((d) => d.lesson)
  const door = useRef<HTMLDivElement>(null)
  const open = lesson !== null && isLesson(lesson)
  const wasOpen = useRef(open)
  useEffect(() => {
    if (wasOpen.current && !open) focusLater('teach')
    wasOpen.current = open
  }, [open])
  // What sticks to the bar's lower edge must stick below this instead.
  useLayoutEffect(() => {
    const { current } = door
    if (!current || !open) return
    const root = document.documentElement.style
    const watch = new ResizeObserver(() => root.setProperty('--lesson-height', `${current.offsetHeight}px`))
    watch.observe(current)
    return () => {
      watch.disconnect()
      root.removeProperty('--lesson-height')
    }
  }, [open])
  return (
    <div className={open ? 'lesson-door open' : 'lesson-door'} ref={door}>
      {open && <LessonStrip id={lesson} />}
    </div>
  )
}
