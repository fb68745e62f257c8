/** Reads the numbers that people type into fields, wherever they and their keyboards are from. */

const DECIMAL = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i
/** One thousand in some countries, one in others. */
const AMBIGUOUS = /^[+-]?[1-9]\d{0,2}(,\d{3})+$/

/** A Japanese or Chinese keyboard's wide signs, the minus signs that texts are set with, and blanks between thousands, as this page draws them. */
function plain(text: string): string {
  return text
    .replace(/[\uFF01-\uFF5E]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replace(/[\u2212\u2013]/g, '-')
    .replace(/(?<=\d)[ \u00A0\u2009\u202F](?=\d{3}(?!\d))/g, '')
    .trim()
}

/** With a decimal point or comma; NaN for what is no finite number, or could be two ("1,000"). */
export function readNumber(text: string): number {
  const typed = plain(text)
  if (!DECIMAL.test(typed) || AMBIGUOUS.test(typed)) return Number.NaN
  const value = Number(typed.replace(',', '.'))
  return Number.isFinite(value) ? value : Number.NaN
}

/** A whole number; NaN for what is none. A point or comma may divide thousands elsewhere, so there is none. */
export function readWhole(text: string): number {
  const value = /[.,]/.test(plain(text)) ? Number.NaN : readNumber(text)
  return Number.isInteger(value) ? value : Number.NaN
}
