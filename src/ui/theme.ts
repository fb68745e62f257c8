/** Light, dark or as the system says: an attribute on <html>, remembered in local storage where that is allowed. */

export type Theme = 'system' | 'light' | 'dark'

/** The same key stands in index.html's first script, which sets the theme before the first paint. */
const KEY = 'grpo-playground-theme'

export function readTheme(): Theme {
  const value = document.documentElement.dataset['theme']
  return value === 'light' || value === 'dark' ? value : 'system'
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
  try {
    if (theme === 'system') localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, theme)
  } catch {
    // Storage may be forbidden; the theme then lasts until the page is left.
  }
}

/** What a click on the switch turns to: from the system's theme to its opposite, so that the first click is seen, on to the other, and back. */
export function nextTheme(theme: Theme, systemIsDark: boolean): Theme {
  const round: readonly Theme[] = systemIsDark ? ['system', 'light', 'dark'] : ['system', 'dark', 'light']
  return round[(round.indexOf(theme) + 1) % round.length] ?? 'system'
}
