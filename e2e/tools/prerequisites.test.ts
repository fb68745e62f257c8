/** Versions are compared as numbers, and a Chromium named by the user must exist. */

import { expect, it } from 'vitest'
import { findChromium } from '../browser/chromium'
import { nodeIsNewEnough, pythonIsNewEnough } from './prerequisites'

it.each([
  ['3 10', true],
  ['3 9', false],
  ['3 13', true],
  ['4 0', true],
  ['2 7', false],
  [null, false],
])('Python %s is new enough: %s', (version, expected) => {
  expect(pythonIsNewEnough(version)).toBe(expected)
})

it.each([
  ['v20.0.0', true],
  ['v18.20.1', false],
  ['v100.1.0', true],
])('Node %s is new enough: %s', (version, expected) => {
  expect(nodeIsNewEnough(version)).toBe(expected)
})

it('looks for Chromium where it is told, then on the PATH', () => {
  expect(findChromium({ CHROMIUM: process.execPath, PATH: '' })).toBe(process.execPath)
  expect(findChromium({ CHROMIUM: '/no/such/chromium', PATH: process.env.PATH })).toBeNull()
  expect(findChromium({ PATH: '/no/such/folder' })).toBeNull()
})
