/** Every form of address that a person may paste, and the ones that are refused. */

import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../../core/errors'
import { isLoopback, parseServerUrl, spaceHost, spaceSubdomain } from './url'

function refusalOf(pasted: string): PlaygroundError {
  try {
    parseServerUrl(pasted)
  } catch (error) {
    if (error instanceof PlaygroundError) return error
  }
  throw new Error(`${pasted} was not refused`)
}

describe('parseServerUrl', () => {
  it.each([
    ['openenv/echo_env', 'wss://openenv-echo-env.hf.space/ws'],
    ['microsoft/TRELLIS.2', 'wss://microsoft-trellis-2.hf.space/ws'],
    ['https://huggingface.co/spaces/openenv/echo_env', 'wss://openenv-echo-env.hf.space/ws'],
    ['https://huggingface.co/spaces/openenv/echo_env/tree/main?logs=build', 'wss://openenv-echo-env.hf.space/ws'],
    ['hf.co/spaces/openenv/wordle', 'wss://openenv-wordle.hf.space/ws'],
    ['openenv/echo_env/', 'wss://openenv-echo-env.hf.space/ws'],
    ['spaces/openenv/wordle', 'wss://openenv-wordle.hf.space/ws'],
    ['git+https://huggingface.co/spaces/openenv/echo_env', 'wss://openenv-echo-env.hf.space/ws'],
    ['https://huggingface.co/spaces/openenv/echo_env.git', 'wss://openenv-echo-env.hf.space/ws'],
    ['https://huggingface.co/api/spaces/openenv/echo_env', 'wss://openenv-echo-env.hf.space/ws'],
    ...['', '/', '/web', '/web/', '/docs', '/redoc', '/openapi.json', '/health', '/schema', '/metadata', '/ws', '/mcp', '/reset', '/step', '/state'].map(
      (route) => [`https://me-x.hf.space${route}`, 'wss://me-x.hf.space/ws'],
    ),
    ['me-x.hf.space:8000', 'wss://me-x.hf.space/ws'],
    ['ws://me-x.hf.space', 'wss://me-x.hf.space/ws'],
    ['https://env.example.org', 'wss://env.example.org/ws'],
    ['http://example.org:8000', 'ws://example.org:8000/ws'],
    ['https://openenv-echo-env.hf.space', 'wss://openenv-echo-env.hf.space/ws'],
    ['https://openenv-echo-env.hf.space/web/?x=1#y', 'wss://openenv-echo-env.hf.space/ws'],
    ['openenv-echo-env.hf.space/docs', 'wss://openenv-echo-env.hf.space/ws'],
    ['http://openenv-echo-env.hf.space/health', 'wss://openenv-echo-env.hf.space/ws'],
    ['http://localhost:8000', 'ws://localhost:8000/ws'],
    ['localhost:8000/', 'ws://localhost:8000/ws'],
    ['127.0.0.1:8000/web', 'ws://127.0.0.1:8000/ws'],
    ['[::1]:8000', 'ws://[::1]:8000/ws'],
    ['http://0.0.0.0:8000', 'ws://127.0.0.1:8000/ws'],
    ['http://[::]:8000', 'ws://[::1]:8000/ws'],
    ['http://localhost:8000/ws/ws', 'ws://localhost:8000/ws'],
    ['wss://example.org/envs/ws/ws/', 'wss://example.org/envs/ws'],
    ['https://localhost:8443', 'wss://localhost:8443/ws'],
    ['WS://localhost:8000/ws', 'ws://localhost:8000/ws'],
    ['ws://localhost:8000/ws/', 'ws://localhost:8000/ws'],
    ['wss://example.org/envs/catch/ws', 'wss://example.org/envs/catch/ws'],
    ['example.org:9000', 'wss://example.org:9000/ws'],
    ['http://example.org', 'wss://example.org/ws'],
    ['192.168.1.20:8000', 'ws://192.168.1.20:8000/ws'],
    ['  my-localhost-proxy.example.com ', 'wss://my-localhost-proxy.example.com/ws'],
  ])('%s → %s', (pasted, ws) => {
    expect(parseServerUrl(pasted).ws).toBe(ws)
  })

  it('keeps the HTTP base beside the socket', () => {
    expect(parseServerUrl('localhost:8000/ws')).toMatchObject({ http: 'http://localhost:8000', loopback: true, spaceId: null })
    expect(parseServerUrl('a/B_c')).toMatchObject({ http: 'https://a-b-c.hf.space', loopback: false, spaceId: 'a/B_c' })
  })

  it.each([
    ['', 'No server address'],
    ['registry.hf.space/openenv-echo:latest', 'Docker image'],
    ['openenv/echo:latest', 'Docker image'],
    ['echo-env:v1', 'Docker image'],
    ['ghcr.io/openenv/echo', 'Docker image'],
    ['ftp://example.org', 'ftp://'],
    ['registry.hf.space/openenv-echo-env:latest', 'Docker image'],
    ['https://huggingface.co/openenv', 'not a Space'],
    ['https://huggingface.co/docs/hub', 'not a Space'],
    ['https://huggingface.co/Qwen/Qwen3-0.6B', 'is a model'],
    ['hf.co/Qwen/Qwen3-0.6B/tree/main', 'is a model'],
    ['https://huggingface.co/datasets/openai/gsm8k', 'is a dataset'],
    ['datasets/openai/gsm8k', 'is a dataset'],
    ['datasets/gsm8k', 'is a dataset'],
    ['https://huggingface.co/spaces/openenv', 'names no Space'],
    ['spaces/openenv', 'names no Space'],
    ['https://huggingface.co/spaces/open%20env/x', 'no id of a Space'],
    ['http://', 'not an address'],
    ['hello there', 'not an address'],
    ['hello', 'no domain'],
    ['localhost:99999', 'not an address'],
  ])('refuses %j', (pasted, words) => {
    expect(() => parseServerUrl(pasted)).toThrow(words)
    expect(() => parseServerUrl(pasted)).toThrow(PlaygroundError)
  })

  it('names the Space that runs an image of the Spaces', () => {
    expect(() => parseServerUrl('registry.hf.space/me-x:latest')).toThrow(expect.objectContaining({ advice: expect.stringContaining(': me-x.hf.space.') }))
  })

  it.each([
    ['8000', '0.0.31.64', 'Did you mean localhost:8000?'],
    ['http://8000/ws', '0.0.31.64', 'Did you mean localhost:8000?'],
    ['0:8000', '0.0.0.0', 'Did you mean localhost:8000?'],
    ['2130706433', '127.0.0.1', 'all four numbers'],
    ['192.168.1:8000', '192.168.0.1', 'all four numbers'],
    ['192.168.010.5:8000', '192.168.8.5', 'without leading zeros'],
    ['ws://010.0.0.1:8000', '8.0.0.1', 'without leading zeros'],
    ['10.5:8000', '10.0.0.5', 'all four numbers'],
    ['3.14:8000', '3.0.0.14', 'all four numbers'],
    ['0x7f.1', '127.0.0.1', 'all four numbers'],
  ])('%s is not taken for %s', (pasted, understood, advice) => {
    const refusal = refusalOf(pasted)
    expect(refusal.message).toContain(`would take it for ${understood}.`)
    expect(refusal.advice).toContain(advice)
  })

  it.each([
    ['8000/ws', 'a port without its host', 'Did you mean localhost:8000?'],
    ['7860/env', 'a port without its host', 'Did you mean localhost:7860?'],
    ['localhost8000/ws', 'a port without its host', 'Did you mean localhost:8000?'],
    ['99999/ws', 'a port without its host', 'huggingface.co/spaces/99999/ws'],
    ['my-server/ws', 'the route /ws of a server "my-server"', 'localhost:8000/ws'],
    ['localhst/WEB/', 'the route /web of a server "localhst"', 'huggingface.co/spaces/localhst/WEB'],
    ['myhost/openapi.json', 'the route /openapi.json', 'wss://example.org/openapi.json'],
  ])('%s is not taken for a Space', (pasted, message, advice) => {
    const refusal = refusalOf(pasted)
    expect(refusal.message).toContain(message)
    expect(refusal.advice).toContain(advice)
  })

  it('a Space of such a name is taken by its page', () => {
    expect(parseServerUrl('huggingface.co/spaces/8000/ws')).toMatchObject({ spaceId: '8000/ws', ws: 'wss://8000-ws.hf.space/ws' })
    expect(parseServerUrl('spaces/me/web').spaceId).toBe('me/web')
    expect(parseServerUrl('8k/env').spaceId).toBe('8k/env')
    expect(parseServerUrl('localhost/ws').ws).toBe('ws://localhost/ws')
  })

  it.each(['http://http://localhost:8000', 'https://https://example.org', 'ws://http://127.0.0.1:8000', 'http://http//u:secret@example.org'])(
    '%s has a scheme too many',
    (pasted) => {
      const refusal = refusalOf(pasted)
      expect(refusal.message).toContain('starts with two schemes')
      expect(refusal.message).not.toContain('secret')
    },
  )

  it('does not repeat a password', () => {
    expect(() => parseServerUrl('https://me:hunter2@example.org')).toThrow(/^(?!.*hunter2)/)
  })

  it('refuses what an https page may not reach, and only that', () => {
    expect(() => parseServerUrl('ws://192.168.1.20:8000', 'https:')).toThrow('over https')
    expect(() => parseServerUrl('192.168.1.20:8000', 'https:')).toThrow('over https')
    expect(() => parseServerUrl('http://example.org:8000', 'https:')).toThrow('over https')
    expect(parseServerUrl('http://example.org', 'https:').ws).toBe('wss://example.org/ws')
    expect(parseServerUrl('http://127.0.0.1:8000', 'https:').ws).toBe('ws://127.0.0.1:8000/ws')
    expect(parseServerUrl('ws://192.168.1.20:8000', 'http:').ws).toBe('ws://192.168.1.20:8000/ws')
    expect(parseServerUrl('localhost:8000', 'https:').ws).toBe('ws://localhost:8000/ws')
    expect(parseServerUrl('openenv/echo_env', 'https:').ws).toBe('wss://openenv-echo-env.hf.space/ws')
  })
})

it('the old form of a Space is refused with the new one', () => {
  expect(refusalOf('https://hf.space/embed/a/b/+')).toMatchObject({ message: expect.stringContaining('no longer have') as string, advice: 'Paste the Space itself: a/b.' })
  expect(refusalOf('hf.space').advice).toContain('owner/name')
  expect(parseServerUrl('http://[::]:8000').loopback).toBe(true)
})

it('loopback is the machine itself and nothing that looks like it', () => {
  expect(['localhost', '127.0.0.1', '127.8.9.10', '[::1]', 'env.localhost'].every(isLoopback)).toBe(true)
  expect(['localhost.example.org', '128.0.0.1', '127.0.0.1.example.org', '0.0.0.0'].some(isLoopback)).toBe(false)
})

it('spaceHost lower-cases and dashes', () => {
  expect(spaceHost('Owner/My_Space.v2')).toBe('owner-my-space-v2.hf.space')
})

it('spaceSubdomain takes hosts of Spaces alone', () => {
  expect(spaceSubdomain('openenv-echo-env.hf.space')).toBe('openenv-echo-env')
  expect(['hf.space', 'a.b.hf.space', 'x.hf.space.example.org', 'x.hf.space:80'].map(spaceSubdomain)).toEqual([null, null, null, null])
})
