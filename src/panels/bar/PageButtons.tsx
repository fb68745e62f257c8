/** Buttons that concern the page, not the run: what teaches, copy the link, change the theme. */

import { type ComponentType, useState } from 'react'
import { S } from '../../ui/strings'
import { applyTheme, nextTheme, readTheme } from '../../ui/theme'
import { IconLink, IconMoon, IconSun, IconTeach, IconTheme } from './icons'
import { useCopyLink } from './useCopyLink'

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
  const { said, copy } = useCopyLink()
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
