/** Spaces over a local Hub: found, woken, waited for, signed, refused; the clock is a counter, the sockets are real. */

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { startScriptedServer, type ScriptedServer } from '../../../e2e/hub/scripted-server'
import { startSpaces, type SpaceInput, type SpacesHub, type SpacesOptions } from '../../../e2e/hub/spaces'
import { PlaygroundError } from '../../core/errors'
import { OpenEnvEnvironment, type OpenEnvOptions } from './client'
import type { WebSocketConstructor } from './socket'

const TOKEN = 'hf_reader'
let app: ScriptedServer
let hub: SpacesHub
beforeAll(async () => {
  app = await startScriptedServer()
})
afterEach(async () => {
  app.paths.length = refused.length = 0
  await hub.stop()
})
afterAll(() => app.stop())

interface Stand {
  environment: OpenEnvEnvironment
  said: string[]
  /** Seconds that the client slept. */
  slept: () => number
}

async function stand(input: SpaceInput, options: Partial<OpenEnvOptions> = {}, more: Partial<SpacesOptions> = {}, address = 'me/My_env'): Promise<Stand> {
  hub = await startSpaces({ spaces: { 'me/My_env': { port: app.port, ...input } }, tokens: [TOKEN], ...more })
  return client(address, options)
}

/** Requests whose answer has not come yet. */
const underWay = new Set<Promise<unknown>>()

/** Nothing leaves this machine. */
const local: typeof fetch = (input, init) => {
  if (!String(input).startsWith('http://127.0.0.1:')) return Promise.reject(new TypeError('Failed to fetch'))
  const answer = fetch(input, init)
  const over: Promise<unknown> = answer.catch(() => undefined).finally(() => underWay.delete(over))
  underWay.add(over)
  return answer
}

function client(address: string, options: Partial<OpenEnvOptions> = {}): Stand {
  const said: string[] = []
  let ms = 0
  const environment = new OpenEnvEnvironment(address, {
    WebSocket: WebSocket as unknown as WebSocketConstructor,
    hub: hub.endpoint,
    fetch: local,
    onDetail: (detail) => said.push(detail),
    // No second passes before a wake-up call has arrived.
    sleep: async (wait) => {
      ms += wait
      await Promise.all(underWay)
    },
    random: () => 0.5,
    ...options,
  })
  return { environment, said, slept: () => ms / 1000 }
}

async function failure({ environment }: Stand): Promise<PlaygroundError> {
  const error: unknown = await environment.connect().then(
    () => null,
    (e: unknown) => e,
  )
  expect(error).toBeInstanceOf(PlaygroundError)
  return error as PlaygroundError
}

/** What was asked of the Hub or a Space, without the questions of discovery. */
const paths = (at: string) =>
  hub.requests.filter((request) => request.at === at && !/^\/(metadata|schema)/.test(request.path)).map(({ path, status }) => `${status} ${path}`)
const connected = async ({ environment }: Stand) => {
  await environment.connect()
  return environment.tools.map((tool) => tool.function.name)
}

describe('a Space that runs', () => {
  it.each(['me/My_env', 'https://huggingface.co/spaces/me/My_env/tree/main', 'spaces/me/My_env'])('is found by %s', async (address) => {
    const it = await stand({}, {}, {}, address)
    expect(await connected(it)).toEqual(['echo_message'])
    expect(paths('hub')).toEqual(['200 /api/spaces/me/My_env/host', '200 /api/spaces/me/My_env'])
    expect(paths('me/My_env')).toEqual(['101 /ws'])
    expect([it.said, it.slept()]).toEqual([['Asking the Hub for Space me/My_env'], 0])
    expect(it.environment.name).toBe('me/My_env')
  })

  it.each(['RUNNING_BUILDING', 'RUNNING_APP_STARTING'])('is used at once in %s', async (stage) => {
    expect(await connected(await stand({ stage }))).toEqual(['echo_message'])
  })

  it('takes no token of a person along when it is public, and the Hub alone gets it', async () => {
    await connected(await stand({}, { token: () => TOKEN }))
    expect(new Set(hub.requests.map(({ at, token }) => `${at} ${token}`))).toEqual(new Set([`hub ${TOKEN}`, 'me/My_env null']))
    expect(app.paths).toEqual(['/ws'])
  })
})

describe('a Space that does not run yet', () => {
  it('is woken by one request, waited for aloud, and tried until it takes connections', async () => {
    const it = await stand({ stage: 'SLEEPING', afterWake: ['SLEEPING', 'APP_STARTING', 'APP_STARTING', 'RUNNING'], refusals: 1 })
    expect(await connected(it)).toEqual(['echo_message'])
    expect(paths('me/My_env')).toEqual(['503 /', '503 /ws', '101 /ws'])
    expect(it.said).toContain('Space me/My_env is asleep and being woken · 0 s of at most 90 s · next look in 2 s')
    expect(it.said.some((detail) => /is starting · \d+ s of at most 5 min · next look in \d+ s/.test(detail))).toBe(true)
    expect(it.said.some((detail) => /has started and takes no connection yet · tried again in 1 s/.test(detail))).toBe(true)
    // 2 + 3 + 5 + 7 s of looking, 10 at the end, 2 s for the refused connection.
    expect(it.slept()).toBeLessThan(45)
  })

  it('is waited for while it is built', async () => {
    const it = await stand({ stage: 'BUILDING', afterLooks: ['BUILDING', 'APP_STARTING', 'RUNNING'] })
    expect(await connected(it)).toEqual(['echo_message'])
    expect(it.said).toContain('Space me/My_env is being built · 1 s of at most 15 min · next look in 1 s')
    expect(paths('me/My_env')).toEqual(['101 /ws'])
  })

  it.each([
    ['SLEEPING', 'is asleep and being woken for 90 s now', 'Open its page', 90],
    ['STOPPED', 'is asleep and being woken for 90 s now', 'Open its page', 90],
    ['APP_STARTING', 'is starting for 5 min now', 'log on the Hub', 300],
    ['BUILDING', 'is being built for 15 min now', 'build log', 900],
  ])('is given up in %s: %s', async (stage, words, advice, seconds) => {
    const it = await stand({ stage, afterWake: [stage] })
    const error = await failure(it)
    expect(error.message).toContain(words)
    expect(error.advice).toContain(advice)
    expect(it.slept()).toBe(seconds)
    // Every 10 s at the most, and a lost wake-up call is repeated.
    expect(paths('hub').length).toBeLessThan(seconds / 10 + 8)
    expect(paths('me/My_env').length).toBe(seconds === 90 ? 3 : 0)
  })

  it.each([
    ['PAUSED', 'is paused (PAUSED): no more credit.', 'Restart'],
    ['BUILD_ERROR', 'could not be built', 'duplicate'],
    ['CONFIG_ERROR', 'error in its configuration', 'duplicate'],
    ['NO_APP_FILE', 'no app', 'duplicate'],
    ['RUNTIME_ERROR', 'crashed (RUNTIME_ERROR): no more credit.', 'log'],
    ['DELETING', 'being deleted', 'another'],
    ['DREAMING', 'does not know (DREAMING)', 'page'],
  ])('is refused in %s', async (stage, words, advice) => {
    const it = await stand({ stage, errorMessage: 'no more\n credit.' })
    const error = await failure(it)
    expect(error.message).toContain(words)
    expect(error.advice).toContain(advice)
    expect([it.slept(), paths('me/My_env')]).toEqual([0, []])
  })

  it('may crash while it starts', async () => {
    const error = await failure(await stand({ stage: 'SLEEPING', afterWake: ['APP_STARTING', 'RUNTIME_ERROR'], errorMessage: 'Exit code 1' }))
    expect(error.message).toBe('The Space me/My_env crashed (RUNTIME_ERROR): Exit code 1.')
  })

  it('is left when the environment is closed', async () => {
    let go: (() => void) | null = null
    const it = await stand({ stage: 'SLEEPING' }, { sleep: () => new Promise((resolve) => (go = resolve)) })
    const connecting = failure(it)
    await expect.poll(() => go).not.toBeNull()
    await Promise.all(underWay)
    const asked = hub.requests.length
    await it.environment.close()
    ;(go as (() => void) | null)?.()
    expect((await connecting).kind).toBe('stopped')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([underWay.size, hub.requests.length]).toEqual([0, asked])
  })

  it('is woken again when it fell asleep between two episodes', async () => {
    const away: (string | null)[] = []
    const it = await stand({}, { onAway: (text) => away.push(text) })
    await it.environment.connect()
    hub.setStage('me/My_env', 'SLEEPING', ['APP_STARTING', 'RUNNING'])
    const said = it.said.length
    const sessions = await Promise.all([it.environment.open(), it.environment.open()])
    expect(await sessions[0].reset({ seed: 1, episode_id: 'a', split: 'train' })).toMatchObject({ done: false })
    expect(paths('hub').filter((path) => path.endsWith('/host'))).toHaveLength(2)
    // The run goes on: nothing says that something is being loaded.
    expect(it.said).toHaveLength(said)
    expect(away[0]).toBe('Asking the Hub for Space me/My_env')
    expect(away).toContain('Space me/My_env is asleep and being woken · 0 s of at most 90 s · next look in 2 s')
    expect([away.at(-1), away.filter((text) => text === null).length]).toEqual([null, 1])
    await it.environment.close()
  })
})

describe('a private Space', () => {
  const secret: SpaceInput = { privateTo: [TOKEN] }

  it('is connected by signed addresses, which the token is not in', async () => {
    const it = await stand({ ...secret, stage: 'SLEEPING', afterWake: ['RUNNING'] }, { token: () => TOKEN })
    expect(await connected(it)).toEqual(['echo_message'])
    const session = await it.environment.open()
    expect(app.paths).toEqual(Array(2).fill('/ws?__sign=signed-for-me%2FMy_env'))
    expect(paths('me/My_env')[0]).toBe('503 /?__sign=signed-for-me%2FMy_env')
    expect(paths('hub').filter((path) => path.endsWith('/jwt'))).toHaveLength(1)
    const asked = hub.requests.filter(({ at }) => at !== 'hub')
    expect(asked.every(({ path, token }) => path.includes('__sign=') && token === null && !path.includes('hf_'))).toBe(true)
    await session.close()
  })

  it.each([
    ['no token', null, 'to strangers (401)', 'A private Space needs a token'],
    ['a token of another account', 'hf_other', 'to the account of your token (404)', 'this account'],
    ['a token that the Hub does not know', 'hf_revoked', 'does not accept your token (401)', 'Paste a new one'],
  ])('is refused with %s', async (_, token, words, advice) => {
    const error = await failure(await stand(secret, { token: () => token }, { tokens: [TOKEN, 'hf_other'] }))
    expect(error.message).toContain(words)
    expect(error.advice).toContain(advice)
    expect(paths('me/My_env')).toEqual([])
  })

  it('says so when the token may see but not sign', async () => {
    const it = await stand(secret, { token: () => TOKEN })
    hub.fault({ on: '/jwt', status: 403 })
    expect((await failure(it)).message).toContain('may not read the Space me/My_env (403)')
  })
})

describe('the Hub', () => {
  it.each([
    ['me/nothing', 'shows no Space me/nothing to strangers (401): the name is wrong or the Space is private.'],
    ['Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B is a model, not a Space.'],
    ['openai/gsm8k', 'openai/gsm8k is a dataset, not a Space.'],
  ])('knows no Space %s', async (address, words) => {
    const error = await failure(await stand({}, {}, { models: ['Qwen/Qwen3-0.6B'], datasets: ['openai/gsm8k'] }, address))
    expect(error.message).toContain(words)
  })

  it('is asked again after 429, as late as it wishes or later each time', async () => {
    const it = await stand({})
    hub.fault({ on: '/host', status: 429, retryAfter: 7 })
    hub.fault({ on: '/host', status: 429 })
    expect(await connected(it)).toEqual(['echo_message'])
    expect(it.said.slice(1, 3)).toEqual(['The Hub asks for patience (429) · asked again in 7 s', 'The Hub asks for patience (429) · asked again in 6 s'])
    expect(it.slept()).toBe(17)
  })

  it('may fail for a while during the waiting', async () => {
    let fails = true
    const sleep = async () => {
      if (fails) hub.fault({ on: '/api/spaces/me/My_env', status: 503 })
      fails = false
      await Promise.resolve()
    }
    const it = await stand({ stage: 'BUILDING', afterLooks: ['RUNNING'] }, { sleep })
    expect(await connected(it)).toEqual(['echo_message'])
    expect(paths('hub').map((path) => path.slice(0, 3))).toEqual(['200', '200', '503', '200'])
  })

  it('that does not answer is done without: the host follows from the name', async () => {
    const urls: string[] = []
    const it = await stand({}, { WebSocket: class extends WebSocket {
      constructor(url: string) {
        urls.push(url)
        super(`ws://${hub.host('me/My_env')}/ws`)
      }
    } as unknown as WebSocketConstructor })
    hub.fault({ on: '/api/', status: 503, times: 99 })
    expect(await connected(it)).toEqual(['echo_message'])
    expect(urls).toEqual(['wss://me-my-env.hf.space/ws'])
  })

  it('that forgets the host but knows the Space leaves the host to the rule', async () => {
    const it = await stand({}, { WebSocket: refusing })
    hub.fault({ on: '/host', status: 404 })
    await failure(it)
    expect(refused).toEqual(['wss://me-my-env.hf.space/ws'])
  })

  it('is asked who stands behind a pasted host, which is woken', async () => {
    const urls: string[] = []
    const it = await stand({ stage: 'SLEEPING', afterWake: ['RUNNING'] }, {
      WebSocket: class extends WebSocket {
        constructor(url: string) {
          urls.push(url)
          super(`ws://${hub.host('me/My_env')}/ws`)
        }
      } as unknown as WebSocketConstructor,
      fetch: (input, init) => local(String(input).replace('https://me-my-env.hf.space', `http://${hub.host('me/My_env')}`), init),
    }, {}, 'https://me-my-env.hf.space/web')
    expect(await connected(it)).toEqual(['echo_message'])
    expect(urls).toEqual(['wss://me-my-env.hf.space/ws'])
    expect(paths('me/My_env')).toEqual(['503 /', '101 /ws'])
  })

  it('does not show a pasted host: it is tried, and then said to be misspelt or private', async () => {
    const it = await stand({}, { WebSocket: refusing }, {}, 'me-nothing.hf.space')
    expect((await failure(it)).message).toContain('the Hub shows no Space with this host (401): it is misspelt or private')
  })
})

const refused: string[] = []
class Refusing {
  onclose: ((event: never) => void) | null = null
  constructor(url: string) {
    refused.push(url)
    queueMicrotask(() => this.onclose?.({ code: 1006 } as never))
  }
}
const refusing = Refusing as unknown as WebSocketConstructor

describe('a Space of another kind', () => {
  it('is refused when it is a static page', async () => {
    expect((await failure(await stand({ sdk: 'static' }))).message).toContain('is a static page')
  })

  it.each([
    ['gradio', 'it is a gradio app, not an OpenEnv server'],
    ['docker', 'it is no OpenEnv server, or one older than 0.2'],
  ])('is named when it opens no socket: %s', async (sdk, words) => {
    expect((await failure(await stand({ sdk }, { WebSocket: refusing }))).message).toBe(`The Space me/My_env runs, but opens no socket at /ws: ${words}.`)
  })

  it('is told to be old when it is healthy all the same', async () => {
    const healthy: typeof fetch = (input, init) => (String(input).endsWith('/health') ? Promise.resolve(Response.json({ status: 'healthy' })) : local(input, init))
    const { message } = await failure(await stand({}, { WebSocket: refusing, fetch: healthy }))
    expect(message).toContain('is older than 0.2 and speaks HTTP only')
  })
})
