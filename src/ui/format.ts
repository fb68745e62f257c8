/** Numbers as text: signed, three significant digits, units always, a real minus sign. */

const MINUS = '\u2212'
/** What stands where there is no number. */
export const NONE = '–'

/** Three significant digits, '12.3', '0.00412', '1.25e−5'; NONE for null and NaN. */
export function number(value: number | null | undefined, digits = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE
  if (!Number.isFinite(value)) return value > 0 ? '∞' : `${MINUS}∞`
  const size = Math.abs(value)
  if (size === 0) return '0'
  // Rounding may carry into the next decade (0.9996 → 1.00), so the decade is taken after rounding.
  const decade = Math.floor(Math.log10(Number(size.toPrecision(digits))))
  let text: string
  if (decade < -4 || decade > 6) text = signExponent(size.toExponential(digits - 1))
  else text = size.toFixed(Math.max(0, digits - 1 - decade))
  return value < 0 ? MINUS + text : text
}

/** The same with a sign for positive numbers too: '+0.940'. */
export function signed(value: number | null | undefined, digits = 3): string {
  const text = number(value, digits)
  return value !== null && value !== undefined && value > 0 ? `+${text}` : text
}

/** A setting's value as people write it: '0.001', '1e−5', no padding zeros. */
export function plain(value: number): string {
  const text = Math.abs(value) > 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value)
  return trimExponent(text).replace('-', MINUS)
}

function signExponent(text: string): string {
  return text.replace('e+', 'e').replace('e-', `e${MINUS}`)
}

function trimExponent(text: string): string {
  const [mantissa = text, exponent] = text.split('e')
  if (exponent === undefined) return text
  const digits = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa
  return signExponent(`${digits}e${exponent}`)
}

/** A share as percent: 0.125 → '12.5 %'. */
export function percent(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? NONE : `${number(value * 100)} %`
}

/** 1234567 → '1 234 567', with narrow no-break spaces. */
export function count(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')
}

/** 'one episode', '3 episodes'. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`
}

/** Bytes in decimal units: '812 B', '1.20 MB'. */
export function bytes(value: number): string {
  return inBytes(value, 3)
}

/** Bytes a second: '9.8 MB/s'; two digits say enough of what changes all the time. */
export function speed(bytesPerSecond: number): string {
  return `${inBytes(bytesPerSecond, 2)}/s`
}

function inBytes(value: number, digits: number): string {
  if (value < 1000) return `${Math.round(value)} B`
  const units = ['kB', 'MB', 'GB']
  let scaled = value / 1000
  let unit = 0
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000
    unit++
  }
  return `${number(scaled, digits)} ${units[unit] ?? 'GB'}`
}

/** Milliseconds as '120 ms', '3.42 s', '2 min 5 s'. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${number(ms / 1000)} s`
  const seconds = Math.round(ms / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** A rough rest of time: '80 s left', '12 min left', '3 h 20 min left'. */
export const timeLeft = (seconds: number): string => `${roughTime(seconds)} left`

/** A rough time to come, at least a second: '80 s', '12 min', '3 h 20 min'. */
export function roughTime(seconds: number): string {
  const rest = Math.max(1, Math.round(seconds))
  if (rest < 100) return `${rest} s`
  const minutes = Math.round(rest / 60)
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Milliseconds since 1970 as '28 Nov 2026, 09:42', in the reader's time zone. */
export function moment(ms: number): string {
  return MOMENT.format(ms)
}

const MOMENT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' })

/** A parameter count as people say it: '494 M', '1.72 B'. */
export function parameterCount(value: number): string {
  const [scale, unit] = value >= 999.5e6 ? [1e9, 'B'] : value >= 999.5e3 ? [1e6, 'M'] : [1e3, 'k']
  return `${number(value / scale)} ${unit}`
}
