/** Whether two answers say the same, as math_verify asks it: values by computer algebra, sets in any order, x = 5 like 5. */

import { ComputeEngine, type BoxedExpression } from '@cortex-js/compute-engine'
import type { Answer } from './answer'
import { plainLatex, readLatex, type Reading } from './latex'

const engine = new ComputeEngine()
/** Decimals that count where a number is written with a decimal point. */
const ROUNDING = 1e6
/** Relative error that is left of an exact number. */
const CLOSE = 1e-12
/** Where two formulas must agree; irrational, so that no two different ones do by chance. */
const PLACES = [0.7310585786, 1.6180339887, -2.7419087265, 3.3166247904, -0.4142135624]

/** Whether the answer says what the solution says. `solution` may be x = 5 where the answer is 5, and the other way round. */
export function equalAnswers(solution: Answer, answer: Answer): boolean {
  const [gold, given] = [solution, answer].map(({ parts }) => parts.map(plainLatex)) as [string[], string[]]
  if (answer.parts.some(isMalformed)) return false
  if (gold.join('\n') === given.join('\n')) return gold.join('').trim() !== ''
  return equal(readAll(gold), readAll(given))
}

/** A model must write \\frac{1}{2} and \\sqrt{2}; a solution may be written without the braces. */
const isMalformed = (latex: string): boolean => /\\[dtc]?frac\s*(?!\{)\S|\\sqrt\s*(?![[{])\S/.test(latex)

/** Whether a value of it can be computed with, or at least compared as a word. */
export function isReadable({ parts }: Answer): boolean {
  return parts.some((part) => plainLatex(part) !== '')
}

function readAll(parts: readonly string[]): Reading {
  const readings = parts.map(readLatex)
  const only = readings[0] as Reading
  return readings.length === 1 ? only : { kind: 'set', items: readings.flatMap((reading) => (reading.kind === 'set' ? reading.items : [reading])) }
}

const isAssignment = (reading: Reading): boolean => reading.kind === 'relation' && reading.operators[0] === '=' && reading.sides[0]?.kind === 'value' && /^\\?[a-zA-Z]+(?:_\{?\w+\}?)?(?:\(\w\))?$/.test(reading.sides[0].latex.trim())
const isEquation = (reading: Reading): boolean => reading.kind === 'relation' && reading.operators.every((operator) => operator === '=')
const lastSide = (reading: Reading): Reading => (reading.kind === 'relation' ? (reading.sides.at(-1) as Reading) : reading)

function equal(solution: Reading, answer: Reading): boolean {
  let [gold, given] = [solution, answer]
  if (isEquation(given) && !isEquation(gold)) given = lastSide(given)
  else if (isAssignment(gold) && !isEquation(given)) gold = lastSide(gold)
  if (gold.kind === 'relation' && given.kind === 'relation') return equalRelations(gold, given)
  if (gold.kind === 'relation' || given.kind === 'relation') return false
  if (gold.kind === 'value' && given.kind === 'value') return equalValues(gold.latex, given.latex)
  if (gold.kind === 'tuple' && given.kind === 'tuple') {
    const [ends, otherEnds] = [`${gold.open}${gold.close}`, `${given.open}${given.close}`]
    return (ends === otherEnds || gold.items.length > 2) && inOrder(gold.items, given.items)
  }
  // (1, 2) may be an open interval or a pair; where the other lists two values it is the pair.
  if (gold.kind === 'tuple' || given.kind === 'tuple') {
    const [tuple, other] = gold.kind === 'tuple' ? [gold, given] : [given as Extract<Reading, { kind: 'tuple' }>, gold]
    return other.kind === 'set' && tuple.open === '(' && tuple.close === ')' && inOrder(tuple.items, other.items)
  }
  return inAnyOrder(gold.kind === 'set' ? gold.items : [gold], given.kind === 'set' ? given.items : [given])
}

const inOrder = (a: readonly Reading[], b: readonly Reading[]) => a.length === b.length && a.every((item, i) => equal(item, b[i] as Reading))

function inAnyOrder(gold: readonly Reading[], given: readonly Reading[]): boolean {
  const different = (items: readonly Reading[]) => items.filter((item, i) => !items.slice(0, i).some((before) => equal(before, item)))
  const [a, b] = [different(gold), different(given)]
  return a.length === b.length && a.every((item) => b.some((other) => equal(item, other)))
}

type Relation = Extract<Reading, { kind: 'relation' }>

function equalRelations(gold: Relation, given: Relation): boolean {
  const turned: Relation = { kind: 'relation', operators: given.operators.toReversed().map(turn), sides: given.sides.toReversed() }
  const alike = (other: Relation) => gold.operators.join() === other.operators.join() && inOrder(gold.sides, other.sides)
  if (alike(given) || alike(turned)) return true
  if (isAssignment(gold) && isAssignment(given)) return equal(gold.sides[0] as Reading, given.sides[0] as Reading) && equal(lastSide(gold), lastSide(given))
  if (gold.operators.length > 1 || given.operators.length > 1) return false
  // x < 5 and 2x − 10 < 0: the differences of the sides are multiples of one another.
  const [a, b] = [difference(gold), difference(given)]
  if (!a || !b) return false
  const ratio = proportion(a, b)
  if (ratio === null || ratio === 0) return false
  const same = gold.operators[0] === given.operators[0]
  return /^!?=$/.test(gold.operators[0] ?? '') ? same : ratio > 0 ? same : gold.operators[0] === turn(given.operators[0] ?? '')
}

const turn = (operator: string): string => operator.replace(/[<>]/, (sign) => (sign === '<' ? '>' : '<'))

function difference({ sides }: Relation): BoxedExpression | null {
  const [left, right] = sides.map((side) => (side.kind === 'value' ? parse(side.latex) : null))
  return left && right ? left.sub(right) : null
}

/** a ÷ b where it is the same everywhere; null where it is not. */
function proportion(a: BoxedExpression, b: BoxedExpression): number | null {
  const ratios = PLACES.map((_, i) => {
    const [x, y] = [numberAt(a, i), numberAt(b, i)]
    return x && y && Math.abs(x[1]) < CLOSE && Math.abs(y[1]) < CLOSE && y[0] !== 0 ? x[0] / y[0] : Number.NaN
  })
  const first = ratios[0] as number
  return ratios.every((ratio) => Math.abs(ratio - first) <= 1e-9 * Math.abs(first)) ? first : null
}

/** The LaTeX as an expression; null where it cannot be read. Letters are variables, a word is the product of its letters. */
function parse(latex: string): BoxedExpression | null {
  if (latex.trim() === '') return null
  try {
    const expression = engine.parse(latex)
    return expression.isValid && !expression.has('Tuple') ? expression : null
  } catch {
    return null
  }
}

const word = (latex: string) => latex.replace(/\\(?:text|mbox|mathrm|textbf|mathbf)\s*\{([^{}]*)\}/g, '$1').replace(/\s+/g, '').toLowerCase()
const PERCENT = /\\%\s*$/
const DECIMAL = /^-?\d*\.\d+(?:\\%)?$/

function equalValues(gold: string, given: string): boolean {
  if (gold.trim() === given.trim()) return gold.trim() !== ''
  const letters = /^[a-z\\{}\s]+$/i
  if (letters.test(gold) && letters.test(given) && !/\\(?!text|mbox|mathrm|textbf|mathbf)/.test(gold + given) && word(gold) === word(given) && word(gold).length > 1) return true
  // 50% is 50 as much as it is 0.5.
  const [goldPercent, givenPercent] = [PERCENT.test(gold), PERCENT.test(given)]
  if (goldPercent !== givenPercent) {
    const [percent, other] = goldPercent ? [gold, given] : [given, gold]
    if (/^-?\d+$/.test(other) && equalValues(percent.replace(PERCENT, ''), other)) return true
  }
  const [a, b] = [parse(gold), parse(given)]
  if (!a || !b) return false
  const decimal = [gold, given].some((latex) => DECIMAL.test(latex.replace(/\s/g, '')))
  if (a.unknowns.length === 0 && b.unknowns.length === 0 && decimal) {
    const [x, y] = [numberAt(a, 0), numberAt(b, 0)]
    return x !== null && y !== null && Math.round(x[0] * ROUNDING) === Math.round(y[0] * ROUNDING) && Math.abs(x[1] - y[1]) < CLOSE
  }
  try {
    if (a.isSame(b) || (a.unknowns.length + b.unknowns.length === 0 && a.isEqual(b) === true)) return true
  } catch {
    // Then by numbers.
  }
  // Numbers of more digits than a float holds.
  if (a.isInteger && b.isInteger && a.isNumberLiteral && b.isNumberLiteral) return false
  return sameEverywhere(a, b)
}

/** Whether two formulas have the same value wherever both have one; at one place at least they must have. */
function sameEverywhere(a: BoxedExpression, b: BoxedExpression): boolean {
  const pairs = PLACES.map((_, i) => [numberAt(a, i), numberAt(b, i)] as const)
  if (!pairs.some(([x, y]) => x && y)) return false
  return pairs.every(([x, y]) => {
    if (!x || !y) return x === y
    const size = Math.max(1e-300, Math.hypot(...x), Math.hypot(...y))
    return Math.hypot(x[0] - y[0], x[1] - y[1]) <= CLOSE * Math.max(1, size)
  })
}

/** The value [real, imaginary] where each variable has a value of its own, by its name; null where there is none. */
function numberAt(expression: BoxedExpression, place: number): [number, number] | null {
  try {
    const values = Object.fromEntries(expression.unknowns.map((name) => [name, (PLACES[place] as number) * (1 + ([...name].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 7) % 97) / 97)]))
    const { re, im } = expression.subs(values).N()
    return Number.isFinite(re) && Number.isFinite(im) ? [re, im] : null
  } catch {
    return null
  }
}
