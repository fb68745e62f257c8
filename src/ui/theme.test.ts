import { describe, expect, it } from 'vitest'
import { nextTheme, type Theme } from './theme'

const round = (systemIsDark: boolean) => {
  const seen: Theme[] = ['system']
  for (let i = 0; i < 3; i++) seen.push(nextTheme(seen.at(-1) as Theme, systemIsDark))
  return seen
}

describe('the theme switch', () => {
  it('turns first to what the system does not show, then to the other, then back', () => {
    expect(round(false)).toEqual(['system', 'dark', 'light', 'system'])
    expect(round(true)).toEqual(['system', 'light', 'dark', 'system'])
  })
})
