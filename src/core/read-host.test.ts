import { describe, expect, it } from 'vitest'
import { isHost } from './network-hosts'
import { readHost } from './read-host'

describe('a host', () => {
  it.each([
    ['https://api.example.org', 'https://api.example.org'],
    [' HTTPS://API.example.org/ ', 'https://api.example.org'],
    ['https://api.example.org:443', 'https://api.example.org'],
    ['https://api.example.org:8443', 'https://api.example.org:8443'],
    ['http://localhost:8000', 'http://localhost:8000'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
  ])('%s is %s', (typed, value) => {
    expect(readHost(typed)).toEqual({ ok: true, value })
    expect([isHost(value), isHost(typed)]).toEqual([true, typed === value])
  })

  it.each([
    ['', 'Write a host'],
    ['api.example.org', 'does not begin with https://'],
    ['localhost:8000', 'does not begin with http://, as in http://localhost:8000.'],
    ['localhost', 'as in http://localhost:8000.'],
    ['javascript:alert(1)', 'does not begin with https://'],
    ['data:text/html,x', 'has a space, comma, semicolon or quotation mark'],
    ["'self'", 'quotation mark'],
    ["https://a.example; script-src 'unsafe-inline' *", 'semicolon'],
    ['https://a.example;script-src', 'semicolon'],
    ['https://a.example\nhttps://b.example', 'space'],
    ['https://a.example"><script>', 'quotation mark'],
    ['https://a.example><script>', 'is no host'],
    ['https://a.example,https://b.example', 'comma'],
    ['*', 'every host is named by itself'],
    ['https://*.example.org', 'every host is named by itself'],
    ['https://a.example:*', 'every host is named by itself'],
    ['wss://a.example', 'WebSocket'],
    ['https:', 'does not begin with https://'],
    ['https://', 'is no host'],
    ['https://a.example:99999', 'is no host'],
    ['https://user:pass@a.example', 'user name or password'],
    ['https://@a.example', 'user name or password'],
    ['https://a.example/v1/chat', 'Write https://a.example.'],
    ['https://a.example?x', 'Write https://a.example.'],
    ['https://a.example#x', 'Write https://a.example.'],
    ['https://a.example\\x', 'Write https://a.example.'],
    ['https://[::1]', 'no IPv6 address'],
    ['https://a_b.example', 'letters, digits, - and dots'],
    ['https://a.example.', 'letters, digits, - and dots'],
    ['http://127.0.0.1', 'needs a port, such as http://127.0.0.1:8000'],
    ['http://a.example', 'http is for localhost and 127.0.0.1 alone'],
    ['http://localhost.a.example', 'http is for localhost and 127.0.0.1 alone'],
    [`https://${'a.'.repeat(200)}example`, 'is too long'],
  ])('%s: %s', (typed, sentence) => {
    const read = readHost(typed)
    expect(read.ok ? read.value : read.why).toContain(sentence)
    expect([read.ok, isHost(typed)]).toEqual([false, false])
  })
})
