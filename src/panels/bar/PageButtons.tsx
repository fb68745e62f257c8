/** Buttons that concern the page, not the run: copy the link, change the theme. */

import { useEffect, useState } from 'react'
import { useStores } from '../../store/hooks'
import { writeLink } from '../../store/link'
import { copyText } from '../../ui/clipboard'
import { DURATIONS } from '../../ui/durations'
import { S } from '../../ui/strings'
import { applyTheme, nextTheme, readTheme } from '../../ui/theme'
import { IconLink, IconMoon, IconSun, IconTheme } from './icons'

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

export function CopyLink() {
  const { setup, selection, display } = useStores()
  const [said, setSaid] = useState('')
  // The settings as they are now: the address bar follows an edit a moment later.
  const address = () => new URL(writeLink(setup.getState().config, selection.getState().episode, selection.getState().token, display.getState()), location.href).href
  useEffect(() => {
    if (said === '') return
    const timer = setTimeout(() => setSaid(''), DURATIONS.copied)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    copyText(address()).then(
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
