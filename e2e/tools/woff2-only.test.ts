/** On KaTeX's own style sheet: every face keeps its WOFF2, and nothing older is left. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { withoutOldFonts } from './woff2-only'

it('leaves one source for every face', () => {
  const folder = join(createRequire(import.meta.url).resolve('katex'), '..')
  const css = readFileSync(join(folder, 'katex.min.css'), 'utf8')
  const left = withoutOldFonts(css)
  const faces = css.match(/@font-face/g) ?? []
  expect(faces.length).toBeGreaterThan(10)
  expect(left.match(/url\(/g)).toHaveLength(faces.length)
  expect(left.match(/\.woff2\)/g)).toHaveLength(faces.length)
  expect(left.match(/@font-face/g)).toHaveLength(faces.length)
})
