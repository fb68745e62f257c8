import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { HIDE_KEYS, isHidden, sortHidden, withHidden } from './hide'
import { ALL_SETTINGS } from './settings'

describe('what can be hidden', () => {
  it('has one name each, every setting and every panel of the page among them', () => {
    expect(new Set(HIDE_KEYS).size).toBe(HIDE_KEYS.length)
    expect(HIDE_KEYS).toEqual(expect.arrayContaining(ALL_SETTINGS.map(({ key }) => key)))
    const files = readdirSync('src/panels', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tsx') && !path.includes('.test.'))
    const ids = files.flatMap((path) => [...readFileSync(join('src/panels', path), 'utf8').matchAll(/<Panel\s+id="([^"]+)"/g)].map((match) => match[1]))
    expect(ids.length).toBeGreaterThan(7)
    expect(HIDE_KEYS).toEqual(expect.arrayContaining(ids))
  })

  it('every <Hideable> and useHidden on the page names a part', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tsx') && !path.includes('.test.'))
    const used = files.flatMap((path) => [...readFileSync(join('src', path), 'utf8').matchAll(/(?:<Hideable part=|useHidden\()["']([^"']+)["']/g)].map((match) => match[1]))
    expect(used.filter((key) => !HIDE_KEYS.includes(key ?? ''))).toEqual([])
  })

  it('a part goes with what holds it', () => {
    expect(isHidden(['task'], 'learning_rate')).toBe(true)
    expect(isHidden(['loss'], 'epsilon')).toBe(true)
    expect(isHidden(['loss'], 'seed')).toBe(false)
    expect(isHidden(['learning_rate'], 'task')).toBe(false)
  })

  it('hiding what holds others says it once', () => {
    expect(withHidden(['epsilon', 'chat'], 'loss', true)).toEqual(['loss', 'chat'])
    expect(withHidden([], 'epsilon', true)).toEqual(['epsilon'])
  })

  it('showing a part of what is hidden leaves the rest of it hidden', () => {
    const hidden = withHidden(['task'], 'learning_rate', false)
    expect(isHidden(hidden, 'learning_rate')).toBe(false)
    for (const key of ['environment', 'model', 'seed', 'epsilon', 'backend']) expect(isHidden(hidden, key), key).toBe(true)
    expect(withHidden(['chat'], 'chat', false)).toEqual([])
  })

  it('tells names that it does not know', () => {
    expect(sortHidden(['chat', 'nothing', 'seed'])).toEqual({ known: ['seed', 'chat'], unknown: ['nothing'] })
  })
})
