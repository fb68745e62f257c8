/** All words that a person reads stand in src/ui/strings.ts, a *-strings.ts or the explainers: none in the parts of the page that draw. */

import { readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((name) => ending.test(name) && !/\.test\.|\/testing\//.test(name))
    .sort()

const WORD = /\p{L}{2,}/u
/** What a screen reader says or a pointer shows. */
const SPOKEN = new Set(['aria-label', 'aria-valuetext', 'aria-roledescription', 'aria-description', 'title', 'placeholder', 'alt', 'label', 'lead'])

/** What is written in an expression itself, not in what it calls: 'a', `a ${b}`, c && 'a', c ? 'a' : 'b'. */
function written(node: ts.Node): string[] {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return [node.text]
  if (ts.isTemplateExpression(node)) return [node.head.text, ...node.templateSpans.flatMap((span) => [...written(span.expression), span.literal.text])]
  if (ts.isParenthesizedExpression(node)) return written(node.expression)
  if (ts.isConditionalExpression(node)) return [...written(node.whenTrue), ...written(node.whenFalse)]
  // Of a comparison nothing is drawn.
  if (ts.isBinaryExpression(node) && /^(&&|\|\||\?\?|\+)$/.test(node.operatorToken.getText())) return [...written(node.left), ...written(node.right)]
  return []
}

/** Letters of a formula are no words. */
const isSymbol = (node: ts.Node) => ts.isJsxElement(node) && /^(i|sub)$/.test(node.openingElement.tagName.getText())

/** Words in the JSX of a file. */
function literals(path: string, text: string): string[] {
  const found: string[] = []
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX)
  const note = (node: ts.Node, words: readonly string[]) => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1
    for (const word of words) if (WORD.test(word)) found.push(`${path}:${line} ${JSON.stringify(word.trim())}`)
  }
  const walk = (node: ts.Node): void => {
    if (ts.isJsxText(node) && !isSymbol(node.parent)) note(node, [node.text])
    if (ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent) && node.expression) note(node, written(node.expression))
    if (ts.isJsxAttribute(node) && SPOKEN.has(node.name.getText())) {
      const value = node.initializer
      if (value && ts.isStringLiteral(value)) note(node, [value.text])
      else if (value && ts.isJsxExpression(value) && value.expression) note(node, written(value.expression))
    }
    ts.forEachChild(node, walk)
  }
  walk(file)
  return found
}

/** Every string literal of a file. */
function strings(path: string): string[] {
  const found: string[] = []
  const walk = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) found.push(node.text)
    ts.forEachChild(node, walk)
  }
  walk(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true))
  return found
}

const WORDS = [...filesIn('src/ui', /strings\.ts$/), ...filesIn('src/ui/explainers', /\.ts$/), 'src/ui/sentence.ts']

describe('the words of the page', () => {
  it('are found where they are literals of JSX', () => {
    const text = '<p title="Go on" className="wide page">{n} of {a === "left" ? `Step ${n}` : b("not this")}{c && " · group "}<b>?</b>Read</p>'
    expect(literals('x.tsx', text)).toEqual(['x.tsx:1 "Go on"', 'x.tsx:1 "of"', 'x.tsx:1 "Step"', 'x.tsx:1 "· group"', 'x.tsx:1 "Read"'])
  })

  it('stand in no part that draws', () => {
    const drawn = [...filesIn('src/panels', /\.tsx$/), ...filesIn('src/ui', /\.tsx$/)]
    expect(drawn.length).toBeGreaterThan(60)
    expect(drawn.flatMap((path) => literals(path, readFileSync(path, 'utf8')))).toEqual([])
  })

  it('have no exclamation marks, no double blanks, one kind of ellipsis and of apostrophe', () => {
    expect(WORDS.length).toBeGreaterThan(12)
    expect(WORDS.flatMap((path) => strings(path).filter((text) => /\p{L}!|\S {2}\S|\.\.\.|\p{L}'\p{L}/u.test(text)).map((text) => `${path}: ${text}`))).toEqual([])
  })

  it('call one thing by one name', () => {
    const OTHER_NAMES: readonly [RegExp, string][] = [
      [/\blogprobs?\b/i, 'log-prob'],
      [/\brollouts?\b(?! for UNIPO)/i, 'episode'],
      [/\bcolor/i, 'colour'],
      [/\bheldout\b/i, 'held-out'],
      [/\bhyperparameters?\b/i, 'setting'],
      [/\bcheck-?point file/i, 'checkpoint'],
      [/\bvirtual|\bbackprop/i, 'forward and backward'],
      [/\bHuggingface\b|\bHuggingFace\b/, 'Hugging Face'],
      [/\bweb assembly\b/i, 'WebAssembly (WASM)'],
    ]
    const wrong = WORDS.flatMap((path) => strings(path).filter((text) => WORD.test(text) && /\s/.test(text)).flatMap((text) => OTHER_NAMES.filter(([other]) => other.test(text)).map(([, name]) => `${path}: "${text}" should say ${name}`)))
    expect(wrong).toEqual([])
  })
})
