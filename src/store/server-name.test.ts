import { expect, it } from 'vitest'
import { nameServer } from './server-name'

it('a server is called by its Space or its host', () => {
  expect(['openenv/echo_env', 'https://huggingface.co/spaces/me/mine', 'localhost:8000', 'wss://example.org/env/ws'].map(nameServer)).toEqual([
    'openenv/echo_env',
    'me/mine',
    'localhost:8000',
    'example.org',
  ])
  expect(nameServer('not an address')).toBe('not an address')
})
