import { describe, expect, it } from 'vitest'
import type { RunRecord } from '../../core/run-record'
import { parseServerUrl } from '../../env/openenv/url'
import { serverAddress } from './server-address'

const record = (url: string, host?: string) =>
  ({ config: { environment: { kind: 'openenv', url } }, environment: { discovered: host === undefined ? null : { host } } }) as unknown as Pick<RunRecord, 'config' | 'environment'>

describe('the address that Python is given', () => {
  it.each([
    'openenv/echo_env',
    'https://huggingface.co/spaces/openenv/echo_env',
    'https://openenv-echo-env.hf.space/web',
    'http://openenv-echo-env.hf.space:8000/ws',
    'localhost:8000',
    '127.0.0.1:8000/ws',
    'http://localhost:8000/',
    'ws://192.168.1.20:8000/ws',
    '192.168.1.20:8000',
    'wss://example.org/games/ws',
    'example.org',
    'http://example.org:8000',
    'https://example.org/docs?token=secret#x',
  ])('is the one that the page reached: %s', (url) => {
    const { http, host } = parseServerUrl(url)
    expect(serverAddress(record(url, host))).toBe(http)
  })

  it('is what was pasted where the page has found nothing, without a query', () => {
    expect(serverAddress(record('ws://h:1/ws?__sign=secret'))).toBe('http://h:1')
    expect(serverAddress(record(' me/space '))).toBe('me/space')
  })
})
