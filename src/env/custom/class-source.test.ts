import { describe, expect, it } from 'vitest'
import { functionProblems, lastClass, readClass } from './class-source'
import { laneRules } from '../builtin/lane'
import { CLASS_EXAMPLES, EMERGENCY, NUMBER_GAME, OWN_LOOP } from './examples'
import { schemaOf } from './jsdoc'

const CODE = `
class Base {
  /** Look around. */
  look() {}
  _hidden() {}
  #secret() {}
  get score() { return 1 }
  static make() {}
}
class Wordle extends Base {
  static held_out = true
  static success_at = 0.5
  reset({ seed }) {}
  /**
   * Make a guess in the Wordle environment.
   * @param {string} guess - A word
   *   of five letters.
   * @param {1|2|3} [n] - How many
   * @param {?string} kind - the kind
   * @param {string[]=} words - Words
   * @returns {string} The feedback message from the environment.
   */
  guess(guess, n = 1, kind = null, words) {}
  get_reward() { return 1 }
}
`

describe('a class as an environment', () => {
  it('has a tool for each public method, by name, in get_json_schema’s key order', () => {
    const { facts, problems } = readClass(CODE, 'Wordle')
    expect(problems).toEqual([])
    expect(facts?.tools.map(({ tool }) => JSON.stringify(tool))).toEqual([
      '{"type":"function","function":{"name":"guess","description":"Make a guess in the Wordle environment.","parameters":{"type":"object","properties":{"guess":{"type":"string","description":"A word of five letters."},"n":{"type":"integer","enum":[1,2,3],"description":"How many"},"kind":{"type":"string","nullable":true,"description":"the kind"},"words":{"type":"array","items":{"type":"string"},"description":"Words"}},"required":["guess"]},"return":{"type":"string","description":"The feedback message from the environment."}}}',
      '{"type":"function","function":{"name":"look","description":"Look around.","parameters":{"type":"object","properties":{}}}}',
    ])
    expect(facts).toMatchObject({ hasReward: true, heldOut: true, successAt: 0.5, tools: [{ params: ['guess', 'n', 'kind', 'words'] }, { params: [] }] })
  })

  it.each([
    ['class A { reset() { let x = } }', 'Unexpected token', 1],
    ['class B { reset() {} }', 'There is no class called A', 1],
    ['class A {\n  /** Go. */\n  go() {}\n}', 'has no method reset', 1],
    ['class A {\n  reset() {}\n  go() {}\n}', 'go is a tool without a description', 3],
    ['class A {\n  reset() {}\n  /** Go. */\n  go(way) {}\n}', 'no type for way', 4],
    ['class A {\n  reset() {}\n  /** Go. @param {Way} way - Where. */\n  go(way) {}\n}', 'The type {Way}', 4],
    ['class A {\n  reset() {}\n  /** Go. @param {string} way */\n  go(way) {}\n}', 'does not say what way is', 4],
    ['class A {\n  reset() {}\n  /** Go. @param {string} there - Where. */\n  go() {}\n}', 'which is no parameter', 4],
    ['class A {\n  constructor(size) {}\n  reset() {}\n}', 'called without arguments', 2],
    ['class A {\n  reset() {}\n  /** Go. */\n  go({ way }) {}\n}', 'no plain name', 4],
  ])('%j: %s', (code, message, line) => {
    const [first] = readClass(code, 'A').problems
    expect(first?.message).toContain(message)
    expect(first?.line).toBe(line)
  })

  it('takes the examples as they are', () => {
    for (const { code, called } of CLASS_EXAMPLES) expect(readClass(code, called)).toMatchObject({ facts: { name: called }, problems: [] })
    expect(readClass(NUMBER_GAME.code, NUMBER_GAME.called).facts?.tools).toHaveLength(1)
    expect([functionProblems(OWN_LOOP.code, 'rollout_func'), functionProblems(OWN_LOOP.code, 'other')]).toMatchObject([[], [{ message: 'There is no function called other, but rollout_func: give both the same name.' }]])
    expect([functionProblems('const other = () => 1', 'other'), functionProblems('let x = 1', 'other')]).toMatchObject([[], [{ message: 'There is no function called other.' }]])
    expect([lastClass(CODE), lastClass('let x')]).toEqual(['Wordle', null])
  })
})

describe('a class without get_reward()', () => {
  const wrote = (body: string, more = '') => readClass(`class Door {\n  reset() { this.done = false }\n  /** Open. */\n  open() { ${body} }\n${more}}`, 'Door')

  it('is warned of at its line, and can be used', () => {
    expect(wrote('return 1')).toMatchObject({ problems: [], warnings: [{ line: 1, from: 6, warning: true, message: expect.stringContaining('Door has no get_reward(): nothing says what an episode earned') as string }] })
    expect(wrote('this.reward = 1; this.done = true /* the reward */')).toMatchObject({
      facts: { hasReward: false, givesReward: false },
      problems: [],
      warnings: [{ line: 1, message: expect.stringMatching(/sets this\.reward.* through environments; here .*get_reward\(\) \{ return this\.reward \}/) as string }],
    })
    expect(wrote('', '  reward = 0\n').warnings[0]?.message).toContain('sets this.reward')
  })

  it('is not where a tool answers with a reward, or get_reward() is there', () => {
    expect(wrote('return { text: "", reward: this.reward = 1 }')).toMatchObject({ facts: { givesReward: true }, warnings: [] })
    expect(wrote('const said = {}; said.reward = 1; return said').warnings).toEqual([])
    expect(wrote('const said = {}; said["reward"] = 1; return said').warnings).toEqual([])
    expect(wrote('this.reward = 1', '  get_reward() { return this.reward }\n').warnings).toEqual([])
    for (const { code, called } of CLASS_EXAMPLES) expect(readClass(code, called).warnings).toEqual([])
  })
})

it('a property that holds a function is warned of by its name, with what to write instead', () => {
  const { problems, warnings } = readClass(
    'class Base {\n  /** Jump. */\n  jump() {}\n}\nclass A extends Base {\n  step = 1\n  jump = () => 1\n  _hidden = () => 1\n  static make = () => 1\n  move = async (way, far = 1) => way\n  turn = function () {}\n  get_reward = () => 1\n  reset() { return { reward: 1 } }\n}',
    'A',
  )
  expect(problems).toEqual([])
  expect(warnings.map(({ line, message, warning }) => [line, message, warning])).toEqual([
    [10, 'move is a property that holds a function, and no tool: the model cannot call it. Write it as a method, async move(way, far = 1) { … }, or begin its name with _ where the model is not to see it.', true],
    [11, expect.stringContaining('Write it as a method, turn() { … }, or') as string, true],
    [12, 'get_reward is a property that holds a function, and is never asked. Write it as a method: get_reward() { … }.', true],
  ])
})

it('the first example has the tools and words of the game that the shipped model knows', () => {
  const { facts } = readClass(EMERGENCY.code, EMERGENCY.called)
  const named = (tools: typeof laneRules.tools) => tools.map(({ function: { name, description, parameters } }) => [name, description, parameters.properties?.['direction']?.enum])
  expect(named(facts?.tools.map(({ tool }) => tool) ?? [])).toEqual(named([...laneRules.tools].sort((a, b) => (a.function.name < b.function.name ? -1 : 1))))
  expect(facts?.prompts.system).toBe(laneRules.prompts.system)
})

describe('types', () => {
  it.each([
    ['string|number', { type: ['number', 'string'] }],
    ["'left' | 'right'", { type: 'string', enum: ['left', 'right'] }],
    ["'a'|null", { type: 'string', nullable: true, enum: ['a'] }],
    ['Array<integer>', { type: 'array', items: { type: 'integer' } }],
    ["('a'|'b')[]", { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }],
    ['{x: number}', { type: 'object' }],
    ['*', {}],
    ['Date', null],
  ])('%s', (type, schema) => {
    expect(schemaOf(type)).toEqual(schema)
  })
})
