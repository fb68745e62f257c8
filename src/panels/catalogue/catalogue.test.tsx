// @vitest-environment happy-dom
/** What the page tells of environments: beneath the tools, in the list, as recorded episodes; and a server's pictures where scenes are drawn. */

import { readFileSync } from 'node:fs'
import { act, type ReactNode } from 'react'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { DiscoveredEnvironment } from '../../core/discovered'
import { CATALOGUE } from '../../env/openenv/catalogue'
import { toolsFound } from '../../core/discovered'
import { StoresProvider } from '../../store/hooks'
import { engineMessages } from '../../store/testing/script'
import { ABOUT, CATALOGUE_STRINGS } from '../../ui/catalogue-strings'
import type { Message, TrainEvent } from '../../worker/protocol'
import { SceneView } from '../task/SceneView'
import { TaskPanel } from '../task/TaskPanel'
import { TrajectoryPanel } from '../trajectory/TrajectoryPanel'
import { eventually, mount } from '../testing/mount'
import { Discovered } from './Discovered'
import { KnownEnvironments } from './KnownEnvironments'
import { fetchLater } from '../../ui/later'

// What is fetched when it is opened is here from the start.
beforeAll(fetchLater)

afterEach(() => vi.unstubAllGlobals())

async function open(element: ReactNode, messages: Message[] = [], hash = '') {
  const page = await mount((stores) => <StoresProvider stores={stores}>{element}</StoresProvider>, hash)
  await act(async () => page.stores.controller.start())
  await page.say(...messages)
  return page
}

const spec = { kind: 'openenv', url: 'ws://localhost:8000/ws' } as const
const LINK = '#v=1&env=ws%3A%2F%2Flocalhost%3A8000%2Fws'
const found: DiscoveredEnvironment = {
  ...toolsFound('localhost:8000', []),
  family: 'typed',
  entry: 'carla',
  title: 'CARLA',
  evidence: 'source',
  recognised: 'Its action fits CARLA.',
  observation: 'Speed, and who is near.',
  reward: { take: 'last', field: 'rubric_reward', successAt: 1 },
  stepSeconds: 120,
  quirks: [{ kind: 'single-step', text: 'One call ends the episode.' }],
  needs: ['a GPU', 'Julia on the server', 'a paid service: E2B'],
  notes: ['The server says: <b>hello</b>'],
}
const connected = (discovered?: DiscoveredEnvironment): Message[] =>
  engineMessages(spec).map((m) => (m.type === 'environment' && discovered ? { ...m, discovered } : m))

describe('what was discovered', () => {
  it('is told beneath the tools: how recognised, on what evidence, text, reward, quirks; needs stay in view', async () => {
    const page = await open(<Discovered />, connected(found), LINK)
    const details = page.host.querySelector('details')
    expect(details?.open).toBe(false)
    expect(details?.querySelector('summary')?.textContent).toBe('About this environment: CARLA')
    const facts = [...(details?.querySelectorAll('dl > div') ?? [])].map((row) => [...row.children].map((each) => each.textContent))
    expect(facts).toEqual([
      ['Recognised', 'Its action fits CARLA.'],
      ['Evidence', 'Read in its source: this page’s client has not played it.'],
      ['Observations', 'Speed, and who is near.'],
      ['Reward', 'The last reward of an episode counts, read from the observation’s field rubric_reward. 1 or more is solved.'],
      ['Patience', 'A step may take up to 120 seconds before it is given up.'],
      ['Peculiar', 'One call ends the episode.'],
      ['Notes', 'The server says: <b>hello</b>'],
    ])
    const needs = page.find('discovered-needs')
    expect(needs?.textContent).toBe('Its server needs a GPU, Julia and a paid service: E2B.')
    expect(needs?.closest('details')).toBeNull()
  })

  it('stands in the task column; without needs nothing warns; a built-in game has none of it', async () => {
    const page = await open(<TaskPanel />, connected({ ...found, needs: [] }), LINK)
    expect(page.find('discovered')?.textContent).toContain('CARLA')
    expect(page.find('discovered-needs')).toBeNull()
    await page.say(...connected())
    expect(page.find('discovered')).toBeNull()
  })

  it('is not shown while the controls name another environment', async () => {
    const page = await open(<Discovered />, connected(found), '#v=1&env=lane')
    expect(page.find('discovered')).toBeNull()
  })

  it('a reward rule is a sentence', () => {
    expect(CATALOGUE_STRINGS.rewardIs({ take: 'sum', floor: 0, successAt: 0.5 })).toBe(
      'The rewards of an episode’s steps are added up; less than 0 counts as 0. 0.5 or more is solved.',
    )
  })
})

describe('known environments', () => {
  const list = async () => {
    const page = await open(<KnownEnvironments />)
    await page.press('open-known')
    return page
  }
  const entries = (host: HTMLElement) => [...host.querySelectorAll('.known-entry')]

  it('are all listed when asked for, each by what we know and from where, with one line of its own', async () => {
    const page = await open(<KnownEnvironments />)
    expect(entries(page.host)).toEqual([])
    const sent = page.port.sent.length
    await page.press('open-known')
    expect(page.find<HTMLDialogElement>('known')?.open).toBe(true)
    expect(entries(page.host)).toHaveLength(CATALOGUE.length)
    for (const { id, title, evidence, recording, unrecorded, needs } of CATALOGUE) {
      const entry = page.find(`known-entry-${id}`)
      expect(entry?.querySelector('h4')?.textContent).toBe(title)
      expect(entry?.closest('section')).toBe(page.find(`known-${evidence}`))
      expect(entry?.textContent).toContain(recording === null ? `No recorded episode.${unrecorded === null ? '' : ` ${unrecorded}`}` : 'Look at a recorded episode')
      for (const need of needs) expect(entry?.querySelector('.needs')?.textContent).toContain(need.replace(/ on the server$/, ''))
    }
    expect(Object.keys(ABOUT).sort()).toEqual(CATALOGUE.map(({ id }) => id).sort())
    expect(page.find('known-entry-grid_world')?.textContent).toContain('move(direction)')
    expect(page.find('known-entry-finqa')?.textContent).toContain('sql_query(…)')
    expect(page.find('known-entry-calendar')?.textContent).toContain('Cannot be played here. Its server speaks HTTP only')
    expect(page.find('known-entry-echo')?.querySelector('details')?.textContent).toContain('gives no reward for a call: there is nothing to learn from it.')
    await page.press('close-known')
    expect(page.find('known')).toBeNull()
    expect(page.port.sent).toHaveLength(sent)
  })

  it('can be searched by name, tool and need', async () => {
    const page = await list()
    const ids = () => entries(page.host).map((entry) => entry.getAttribute('data-testid')?.replace('known-entry-', ''))
    await page.type('find-known', 'gpu')
    expect(ids()).toEqual(['kernrl', 'carla'])
    expect(page.find('known-played')).toBeNull()
    await page.type('find-known', 'web  search')
    expect(ids()).toEqual(['websearch'])
    await page.type('find-known', 'zebra')
    expect(page.host.textContent).toContain('None of them speaks of “zebra”')
  })

  it('are reached from the environment picker', async () => {
    const page = await open(<TaskPanel />, engineMessages())
    await page.press('open-known')
    expect(page.find('known')).not.toBeNull()
  })

  it('shows the smallest server of one’s own, the file itself, until something is searched', async () => {
    const page = await list()
    expect(page.find('own-server')?.textContent).toContain('class ')
    expect(page.find('own-server')?.textContent).toContain('def reset(')
    expect(page.find('own-server')?.textContent).toContain('python guess.py')
  })

  it('a recorded episode is read from the site and shown turn by turn: observation, call, reward, picture, who and by what', async () => {
    const asked: string[] = []
    vi.stubGlobal('fetch', async (path: string) => {
      asked.push(path)
      return new Response(readFileSync(`public/${path}`, 'utf8'))
    })
    const page = await list()
    await page.press('look-catch')
    await page.until('recorded')
    expect(asked).toEqual(['environments/catch.json'])
    const turns = [...page.host.querySelectorAll('[data-testid="recorded-turn"]')].map((turn) => turn.textContent)
    expect(turns).toHaveLength(8)
    expect(turns[0]).toMatch(/^Resetheight 7, ball c, paddle f/)
    expect(turns[1]).toMatch(/^Turn 1move\(to: "left"\)reward 0 · 4 msheight 6, ball c, paddle e/)
    expect(turns[7]).toContain('reward 1.00 · done')
    expect(page.host.querySelectorAll('.recorded [data-testid="scene"]')).toHaveLength(8)
    expect(page.find('recorded-reward')?.textContent).toBe('Episode: reward 1.00')
    expect(page.find('recorded')?.textContent).toMatch(/Recorded 2026-11-29\. The openenv 0\.10\.0 library with our own catch\. A script/)
    expect(page.host.querySelectorAll('.recorded-frames li')).toHaveLength(19)
    await page.press('look-catch')
    expect(page.find('recorded')).toBeNull()
  })

  it('a recording that is missing or damaged is told, not drawn', async () => {
    let answer = new Response('gone', { status: 404 })
    vi.stubGlobal('fetch', async () => answer)
    const page = await list()
    await page.press('look-echo')
    await eventually(() => expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('answered with 404'))
    answer = new Response('{}')
    await page.press('look-catch')
    await eventually(() => expect(page.find('known-entry-catch')?.querySelector('[role="alert"]')?.textContent).toContain('is not what this page knows'))
  })
})

describe('a server’s pictures and boards', () => {
  const picture = { name: 'screen', width: 64, height: 48, mime: 'image/png', data: 'iVBORw0KGgo=' }
  const board = { name: 'board', cells: [['X', '.'], ['.', 'O']] }
  const scene = { kind: 'openenv', observation: {}, images: [picture], boards: [board] }
  const event = (e: TrainEvent): Message => ({ type: 'event', event: e })
  const token = (text: string, author: 'model' | 'environment' | 'template') => ({ id: 1, text, author, logprob: null, top: null })

  it('are drawn where scenes are drawn, and text alone draws nothing', async () => {
    const page = await open(<SceneView scene={scene} />)
    expect(page.host.querySelector('img')?.getAttribute('alt')).toBe('screen, 64 × 48 pixels')
    expect(page.host.querySelector('table')?.getAttribute('aria-label')).toBe('board')
    page.unmount()
    const plain = await open(<SceneView scene={{ kind: 'openenv', observation: { text: 'hi' } }} />)
    expect(plain.host.innerHTML).toBe('')
  })

  it('stand in the trajectory at the turn that they belong to', async () => {
    const at = { step: 1, index: 0 }
    const page = await open(<TrajectoryPanel />, [
      ...engineMessages(),
      event({ type: 'step-started', step: 1, episodes: 1, groups: 1 }),
      event({ type: 'episode-started', ...at, group: 0, seed: 1, prompt: [token('Go', 'template')], scene: { kind: 'openenv', observation: {}, boards: [board] } }),
      event({ type: 'tokens', ...at, tokens: [token('left', 'model'), token('seen', 'environment')] }),
      event({ type: 'environment-answered', ...at, turn: 0, reward: null, done: false, ms: 3, scene: { kind: 'openenv', observation: { text: 'x' } } }),
      event({ type: 'tokens', ...at, tokens: [token('right', 'model'), token('seen', 'environment')] }),
      event({ type: 'environment-answered', ...at, turn: 1, reward: 1, done: true, ms: 3, scene }),
    ])
    const segments = [...page.host.querySelectorAll('.segment')]
    expect(segments.map((each) => each.querySelectorAll('[data-testid="turn-pictures"] :is(img, table)').length)).toEqual([1, 0, 2])
  })
})
