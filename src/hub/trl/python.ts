/** Python source from plain data: literals that no text can break out of, docstrings, and names. */

/** Control, format and separator characters, lone surrogates and private ones: escaped, so that source shows what it holds. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\', '"': '\\"' }
/** Literals longer than this, characters, are written one item a line. */
const LINE = 100

function escaped(letter: string): string {
  const code = letter.codePointAt(0) ?? 0
  if (!HIDDEN.test(letter)) return letter
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`
}

/** A text as a Python string literal on one line, in double quotes. */
export function pyString(text: string): string {
  return `"${Array.from(text, (letter) => SHORT[letter] ?? escaped(letter)).join('')}"`
}

function pyNumber(value: number): string {
  if (Number.isNaN(value)) return 'float("nan")'
  if (!Number.isFinite(value)) return value > 0 ? 'float("inf")' : 'float("-inf")'
  return String(value)
}

/**
 * JSON-like data as a Python literal: true is True, null is None, undefined fields are left out. `indent` is the number of blanks before
 * the line that it stands in; long lists and objects take several lines.
 */
export function py(value: unknown, indent = 0): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'number') return pyNumber(value)
  if (typeof value === 'string') return pyString(value)
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => py(item, indent + 4))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => `${pyString(key)}: ${py(item, indent + 4)}`)
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  const flat = `${open}${items.join(', ')}${close}`
  if (items.length === 0 || (indent + flat.length <= LINE && !flat.includes('\n'))) return flat
  const inner = ' '.repeat(indent + 4)
  return `${open}\n${items.map((item) => `${inner}${item},\n`).join('')}${' '.repeat(indent)}${close}`
}

/** A docstring of these lines, each at `indent` blanks; nothing in them can end it. */
export function docstring(text: string, indent: number): string {
  const before = ' '.repeat(indent)
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const safe = lines.map((line) => Array.from(line, (letter) => (letter === '\\' || letter === '"' ? `\\${letter}` : escaped(letter))).join(''))
  const body = safe.map((line, i) => (i === 0 || line.trim() === '' ? line.trimEnd() : before + line)).join('\n')
  return lines.length > 1 ? `"""${body}\n${before}"""` : `"""${body}"""`
}

/** A comment of these lines, each at `indent` blanks. */
export function comment(text: string, indent = 0): string {
  const before = `${' '.repeat(indent)}#`
  const lines = text.split(/\r\n|[\n\r]/)
  return lines.map((line) => `${before} ${Array.from(line, escaped).join('')}`.trimEnd()).join('\n')
}

const KEYWORDS = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda ' +
    'nonlocal not or pass raise return try while with yield'
  ).split(' '),
)

/** Whether a name can stand in Python source as it is. ASCII only: Python would take some other letters for one another. */
export function isIdentifier(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.has(name)
}

/** Method names for tools, all different, public, and none of `taken`: move-to becomes move_to, reset becomes tool_reset. */
export function methodNames(tools: readonly string[], taken: readonly string[]): string[] {
  const used = new Set(taken)
  return tools.map((tool) => {
    const plain = tool.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^_+/, '')
    const name = isIdentifier(plain) && !used.has(plain) ? plain : `tool_${plain}`
    let free = name
    for (let n = 2; used.has(free); n++) free = `${name}_${n}`
    used.add(free)
    return free
  })
}
