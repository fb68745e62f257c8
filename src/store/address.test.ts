/** What the address field takes, says of it, and refuses. */

import { describe, expect, it } from 'vitest'
import { describeAddress, readAddress } from './address'

describe('an address', () => {
  it.each([
    ['openenv/echo_env', 'Space openenv/echo_env → wss://openenv-echo-env.hf.space/ws'],
    ['https://huggingface.co/spaces/openenv/echo_env', 'Space openenv/echo_env → wss://openenv-echo-env.hf.space/ws'],
    ['https://openenv-echo-env.hf.space/web', 'Space at its host → wss://openenv-echo-env.hf.space/ws'],
    ['localhost', 'This machine → ws://localhost/ws'],
    ['localhost:8000', 'This machine → ws://localhost:8000/ws'],
    ['example.org', 'Server → wss://example.org/ws'],
  ])('%s is taken as it is and means: %s', (text, meaning) => {
    expect(readAddress(` ${text} `)).toEqual({ ok: true, value: text })
    expect(describeAddress(` ${text} `)).toBe(meaning)
  })

  it.each([
    ['https://me-private.hf.space/?__sign=eyJabc.SECRET', 'https://me-private.hf.space/'],
    ['localhost:8000/ws?token=abc', 'localhost:8000/ws'],
    ['http://localhost:8000/docs#/default?x', 'http://localhost:8000/docs'],
    ['https://huggingface.co/spaces/a/b?__sign=abc\ndef', 'https://huggingface.co/spaces/a/b'],
  ])('%s is kept without what may be a secret, and means the same', (text, kept) => {
    expect(readAddress(text)).toEqual({ ok: true, value: kept })
    expect(describeAddress(kept)).toBe(describeAddress(text))
  })

  it.each([
    ['lane', 'no domain'],
    ['Qwen/Qwen3-0.6B:latest', 'Docker image'],
    ['https://huggingface.co/datasets/a/b', 'dataset'],
    ['ftp://example.org', 'not a way'],
  ])('%s is refused with a reason and a way on', (text, words) => {
    const read = readAddress(text)
    expect(read.ok ? '' : read.why).toContain(words)
    expect(read.ok ? '' : read.why).toMatch(/\. .*\.$/)
    expect(describeAddress(text)).toBeNull()
  })

  it('is refused where the page may not reach it', () => {
    expect(readAddress('ws://10.0.0.2:80', 'https:')).toEqual({ ok: false, why: expect.stringContaining('served over https') as string })
    expect(describeAddress('ws://10.0.0.2:80', 'https:')).toBeNull()
    expect(readAddress('ws://10.0.0.2:80', 'http:').ok).toBe(true)
    expect(readAddress('localhost:8000', 'https:').ok).toBe(true)
  })
})
