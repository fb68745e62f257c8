import { describe, expect, it } from 'vitest'
import { throwBackendFault, throwFailedReset, throwForeignFields } from './faults'
import { parseServerFrame } from './protocol'

const frame = (value: unknown) => parseServerFrame(JSON.stringify(value))
const answer = (error: unknown) => {
  const read = frame({ type: 'observation', data: { observation: { tool_name: 'say', result: null, error }, reward: null, done: false } })
  if (read.kind !== 'observation') throw new Error(read.kind)
  return read
}
const refusal = (...errors: object[]) => {
  const read = frame({ type: 'error', data: { message: 'Invalid action', code: 'VALIDATION_ERROR', errors } })
  if (read.kind !== 'error') throw new Error(read.kind)
  return read
}

describe('a tool that fails', () => {
  it.each([
    { error_type: 'timeout', message: "Tool 'say' timed out after 30.0 seconds" },
    { error_type: 'transport_error', message: '' },
    { error_type: 'execution_error', message: 'MCP client is not available; environment is closed' },
  ])('without the model’s doing is the environment’s failure: $error_type', (error) => {
    expect(() => throwBackendFault('host', answer(error))).toThrow(/host failed without the model's doing/)
  })

  it.each([
    { error_type: 'invalid_args', message: 'word is missing' },
    { error_type: 'tool_not_found', message: 'no such tool' },
    { error_type: 'execution_error', message: 'ValueError: not a word' },
    { error_type: 'execution_error', message: "Error calling tool 'find': no entry for 'the session is closed'" },
    { error_type: 'execution_error', message: "no entry for 'MCP client is not available; environment is closed'" },
    'plain text',
    null,
  ])('over what the model asked stays the model’s: %o', (error) => {
    expect(() => throwBackendFault('host', answer(error))).not.toThrow()
  })
})

describe('a refusal of a call that fits the tool', () => {
  it('is ours where fields are missing or foreign', () => {
    const missing = refusal({ loc: ['game'], msg: 'Field required', type: 'missing' })
    expect(() => throwForeignFields('host', missing)).toThrow('host wants other fields than its tool has: game: Field required.')
    expect(() => throwForeignFields('host', refusal({ loc: ['x'], msg: 'Extra inputs are not permitted', type: 'extra_forbidden' }))).toThrow('other fields')
  })

  it('is the model’s where a value was refused', () => {
    expect(() => throwForeignFields('host', refusal({ loc: ['word'], msg: 'bad word', type: 'value_error' }))).not.toThrow()
  })
})

describe('what official servers lack', () => {
  const told = (observation: object, done = false, metadata: object = {}) => {
    const read = frame({ type: 'observation', data: { observation: { ...observation, metadata }, reward: 0, done, metadata } })
    if (read.kind !== 'observation') throw new Error(read.kind)
    return read
  }

  it('is not the model’s failure: Julia, a search service', () => {
    const julia = { stdout: '', stderr: 'Julia not found in PATH. Please install Julia.', exit_code: 127 }
    expect(() => throwBackendFault('host', told(julia), 'julia')).toThrow('host could not do what was asked: Julia not found in PATH.')
    expect(() => throwBackendFault('host', told({ content: '[ERROR] Search failed due to: no connection' }), 'websearch')).toThrow('Search failed')
    expect(() => throwBackendFault('host', told({ stdout: '', stderr: 'ERROR: UndefVarError: Julia not found in PATH', exit_code: 1 }), 'julia')).not.toThrow()
    // What a program of the model's writes to stderr elsewhere is its own, and so is a text that a tool repeats.
    for (const entry of ['coding', 'websearch', 'toString', null]) expect(() => throwBackendFault('host', told(julia), entry)).not.toThrow()
    for (const entry of ['coding', null]) expect(() => throwBackendFault('host', told({ content: '[ERROR] Search failed due to: x' }), entry)).not.toThrow()
  })

  it('is told in its words where it keeps an episode from starting', () => {
    const key = { status: 'error', error: 'E2B_API_KEY is not set. Configure it before reset.' }
    expect(() => throwFailedReset('host', told({}, true, key))).toThrow('host could not start an episode: E2B_API_KEY is not set. Configure it before reset.')
    expect(() => throwFailedReset('host', told({}, true, { status: 'error' }))).toThrow('it did not say why')
    expect(() => throwFailedReset('host', told({}, false, key))).not.toThrow()
    expect(() => throwFailedReset('host', told({}, true, { status: 'ready' }))).not.toThrow()
  })
})
