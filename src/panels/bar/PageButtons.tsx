/** Buttons that concern the page, not the run: what teaches, copy the link, change the theme. */

import { type ComponentType, useEffect, useState } from 'react'
import { useStores } from '../../store/hooks'
import { addressNow } from '../../store/link-now'
import { copyText } from '../../ui/clipboard'
import { DURATIONS } from '../../ui/durations'
import { S } from '../../ui/strings'
import { applyTheme, nextTheme, readTheme } from '../../ui/theme'
import { IconLink, IconMoon, IconSun, IconTeach, IconTheme } from './icons'

const THEME_ICONS = { system: IconTheme, light: IconSun, dark: IconMoon }

export function ThemeSwitch() {
  const [theme, setTheme] = useState(readTheme)
  const Icon = THEME_ICONS[theme]
  const change = () => {
    const next = nextTheme(theme, matchMedia('(prefers-color-scheme: dark)').matches)
    applyTheme(next)
    setTheme(next)
  }
  return (
    <button
      type="button"
      className="button quiet"
      data-testid="theme"
      aria-label={S.bar.theme[theme]}
      title={S.bar.theme[theme]}
      onClick={change}
    >
      <Icon />
    </button>
  )
}

/** The button alone until it is pressed: the menu behind it is no part of the first paint. */
export function TeachButton() {
  const [Menu, setMenu] = useState<ComponentType | null>(null)
  const [failed, setFailed] = useState(false)
  const open = () => {
    import('../lessons/TeachMenu').then(
      (part) => setMenu(() => part.TeachMenu),
      () => setFailed(true),
    )
  }
  if (Menu) return <Menu />
  return (
    <span className="copy-link">
      <button type="button" className="button quiet worded" data-testid="teach" aria-haspopup="menu" aria-expanded={false} title={S.teach.hint} onClick={open}>
        <IconTeach /> <span>{S.teach.menu}</span>
      </button>
      <span role="status" className={failed ? 'floating' : ''}>
        {failed && S.crash.notLoaded}
      </span>
    </span>
  )
}

export function CopyLink() {
  const stores = useStores()
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), DURATIONS.copied)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    // The settings as they are now: the address bar follows an edit a moment later.
    copyText(addressNow(stores)).then(
      () => setSaid(S.bar.copied),
      () => setSaid(S.bar.copyFailed),
    )
  }
  return (
    <span className="copy-link">
      <button
        type="button"
        className="button quiet"
        data-testid="copy-link"
        aria-label={S.bar.copyLink}
        title={S.bar.copyLink}
        onClick={copy}
      >
        <IconLink />
      </button>
      <span role="status" className={said ? 'floating' : ''}>
        {said}
      </span>
    </span>
  )
}
