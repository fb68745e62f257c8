/** User text inside cards. */

import { expect, it } from 'vitest'
import { frontMatter, markdownCode, markdownText, yamlString } from './card-text'

it('quotes YAML', () => {
  expect(yamlString('a: "b"\n- c\\ # 😀')).toBe('"a: \\"b\\"\\n- c\\\\ # 😀"')
  expect(yamlString('\u0007\u007F\u0085\u2028\uFEFF\uD83D')).toBe('"\\u0007\\u007f\\u0085\\u2028\\ufeff\uFFFD"')
})

it('writes front matter line by line', () => {
  expect(frontMatter({ a: 'x', none: undefined, list: ['1', { 'k k': true, n: 2 }], nothing: null })).toBe(
    '---\na: "x"\nlist: ["1", {"k k": true, "n": 2}]\nnothing: null\n---\n',
  )
})

it('keeps Markdown and HTML out of texts', () => {
  expect(markdownText(' # a\n|b| <img src=x onerror="y"> [c](d) `e` & *f* ')).toBe(
    '\\# a \\|b\\| &lt;img src=x onerror="y"&gt; \\[c\\]\\(d\\) \\`e\\` &amp; \\*f\\*',
  )
  expect([markdownCode('a\nb'), markdownCode('`a` ``b'), markdownCode('x|y'), markdownCode('')]).toEqual(['`a b`', '``` `a` ``b ```', '`x\\|y`', '` `'])
})
