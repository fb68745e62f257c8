// @vitest-environment happy-dom
import { act, type ReactNode } from 'react'
import { beforeAll, describe, expect, it } from 'vitest'
import type { AppendedToken, TrainEvent } from '../../core/events'
import type { JsonSchema } from '../../core/tools'
import { StoresProvider } from '../../store/hooks'
import { engineMessages } from '../../store/testing/script'
import type { Message, PlayObservation, PlayResult } from '../../worker/protocol'
import { mount } from '../testing/mount'
import { PlayPanel } from './PlayPanel'
import { ToolList } from './ToolList'
import { fetchLater } from '../../ui/later'

// What is fetched when it is opened is here from the start.
beforeAll(fetchLater)

async function open(element: ReactNode, messages: Message[] = engineMessages()) {
  const page = await mount((stores) => <StoresProvider stores={stores}>{element}</StoresProvider>)
  const { port, stores, say, find } = page
  await act(async () => stores.controller.start())
  await say(...messages)
  const asked = () => port.sent.flatMap((c) => (c.type === 'play' ? [c] : []))
  const answer = (result: PlayResult) => say({ type: 'play-result', requestId: asked().at(-1)?.requestId ?? -1, result })
  const edits = () => stores.setup.getState().config.tool_edits
  const lineOf = (id: string) => find(`edit-tool-${id}`)?.parentElement?.textContent ?? ''
  return { ...page, asked, answer, edits, lineOf }
}

const tools = engineMessages().flatMap((m) => (m.type === 'environment' ? m.tools : []))
const said = (text: string, more: Partial<PlayObservation> = {}): PlayObservation => ({
  text, reward: null, done: false, toolError: false, ms: 12, metadata: {}, ...more,
})
const scene = { kind: 'lane', what: 'dog', distance: 20, speed: 30, free: 'left', lane: 'middle', outcome: null }
const begun = (more: Partial<PlayObservation> = {}, hasState = true): PlayResult => ({
  kind: 'begun', seed: 42, observation: said('dog <b>ahead</b>', { scene, ...more }), prompt: '<|im_start|>system', tools, hasState,
})
type Compared = Extract<PlayResult, { kind: 'compared' }>
const compared = (verdict: Compared['verdict'], more: Partial<Compared> = {}): PlayResult => ({
  kind: 'compared', seed: 42, verdict, observations: ['a', 'a', 'b'], stateDiffers: [], counts: { resets: 8, others: 4, starts: 1 }, chance: 5 ** -7, ...more,
})
const token = (text: string, author: AppendedToken['author']): AppendedToken => ({ id: 1, text, author, logprob: null, top: null, mask: 0 })
const event = (e: TrainEvent): Message => ({ type: 'play-event', event: e })
const started: Message[] = [
  event({ type: 'step-started', step: 1, episodes: 1, groups: 1 }),
  event({ type: 'episode-started', step: 1, index: 0, group: 0, seed: 42, prompt: [token('Go', 'template')] }),
]

describe('play by hand', () => {
  const panel = async () => {
    const page = await open(<PlayPanel />)
    await page.press('play-open')
    return page
  }

  it('is one line until it is opened, and waits for an environment', async () => {
    const page = await open(<PlayPanel />, [])
    expect(page.find('play-seed')).toBeNull()
    await page.press('play-open')
    expect(page.host.textContent).toContain('There is nothing to play yet')
  })

  it('gives the played episode to the SFT stage in one press, and opens it', async () => {
    const page = await panel()
    expect(page.find('play-train')?.disabled).toBe(true)
    await page.press('play-reset')
    await page.answer(begun())
    expect(page.find('play-train')?.disabled).toBe(true)
    await page.press('play-end')
    await page.answer({ kind: 'ended' })
    await page.press('play-train')
    expect(page.port.sent.at(-1)).toMatchObject({ type: 'stage-play' })
    expect(page.stores.display.getState().open).toContain('stage')
    const { requestId } = page.port.sent.at(-1) as { requestId: number }
    await page.say({ type: 'stage-rows', requestId, result: { ok: true, name: 'my play', text: '{"messages": []}', rows: 1 } })
    expect(page.find('play-train-note')?.textContent).toBe('1 episode of yours among the stage’s rows.')
    // Once is enough for one episode.
    expect(page.find('play-train')?.disabled).toBe(true)
  })

  it('resets with the seed that was typed; a wrong one is refused in place', async () => {
    const page = await panel()
    const seed = page.find<HTMLInputElement>('play-seed')
    expect(seed?.value).toBe('42')
    await page.type(seed, '-1')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('seed must be a whole number')
    expect([page.find('play-reset')?.disabled, page.find('play-compare')?.disabled]).toEqual([true, true])
    await page.type(seed, '7')
    await page.press('play-reset')
    expect(page.asked()[0]?.action).toMatchObject({ do: 'reset', seed: 7, setup: { environment: { name: 'lane' } } })
    expect(page.find('play-status')?.textContent).toBe('Waiting for the environment to reset.')
    expect(page.find('play-end')?.disabled).toBe(false)
  })

  it('has a form for each tool, made from its schema; Step sends what it says', async () => {
    const page = await panel()
    const form = page.find<HTMLFormElement>('play-tool-lane_change')
    const button = form?.querySelector('button')
    expect([...(form?.querySelectorAll('option') ?? [])].map((o) => o.textContent)).toEqual(['left out', 'left', 'right'])
    expect(button?.disabled).toBe(true)
    await page.press('play-reset')
    await page.answer(begun())
    expect(button?.disabled).toBe(false)
    await page.type(form?.querySelector('select') ?? null, '"right"')
    await page.press(button)
    expect(page.asked().at(-1)?.action).toEqual({ do: 'call', call: { name: 'lane_change', arguments: { direction: 'right' } } })
    await page.answer({ kind: 'answered', call: { name: 'lane_change', arguments: {} }, observation: said('passed', { reward: 1, done: true }) })
    expect([page.find('play-reward')?.textContent, page.find('play-done')?.textContent]).toEqual(['1.00', 'yes'])
    expect(button?.disabled).toBe(true)
    expect(page.find('play-status')?.textContent).toContain('The episode is over')
    // What was hidden may be asked for now.
    expect(page.find('play-ask-state')?.disabled).toBe(false)
  })

  it('shows the observation as text, the scene, the prompt, the state and why a call was refused', async () => {
    const page = await panel()
    await page.press('play-reset')
    await page.answer(begun())
    expect(page.find('observation')?.textContent).toContain('dog <b>ahead</b>')
    expect(page.host.querySelector('b')).toBeNull()
    expect(page.find('play-reward')?.textContent).toBe('none given')
    expect(page.find('scene')).not.toBeNull()
    expect(page.find('play-prompt')?.textContent).toBe('<|im_start|>system')
    await page.press('play-ask-state')
    await page.answer({ kind: 'state', state: { turn: 1 } })
    expect(page.find('play-state')?.textContent).toContain('"turn": 1')
    await page.press(page.find('play-tool-observe')?.querySelector('button'))
    await page.answer({ kind: 'answered', call: { name: 'observe', arguments: {} }, observation: said('Error: no.', { toolError: true, ms: null }) })
    expect(page.find('observation')?.textContent).toContain('refused: it never reached the environment')
  })

  it('draws the pictures and boards of a server, and no picture that is none', async () => {
    const page = await panel()
    await page.press('play-reset')
    const image = { name: 'screen', width: 2, height: 3, mime: 'image/png', data: 'iVBORw0KGgo=' }
    await page.answer(begun({ scene: { kind: 'openenv', observation: {}, images: [image], boards: [{ name: 'grid', cells: [['a', 'b'], ['c', 'd']] }] } }))
    const img = page.find('server-image')?.querySelector('img')
    expect([img?.getAttribute('src'), img?.alt]).toEqual(['data:image/png;base64,iVBORw0KGgo=', 'screen, 2 × 3 pixels'])
    expect([...page.host.querySelectorAll('td')].map((cell) => cell.textContent).join('')).toBe('abcd')
    await page.press('play-reset')
    await page.answer(begun({ scene: { kind: 'openenv', images: [{ ...image, data: 'x"><script>' }] } }))
    expect(page.find('server-image')).toBeNull()
  })

  it('draws the episode as a trajectory whose writer is the person, and leaves the run alone', async () => {
    const page = await panel()
    expect(page.find('play-episode')).toBeNull()
    await page.say(...started, event({ type: 'tokens', step: 1, index: 0, tokens: [token('<tool_call>', 'model'), token('seen', 'environment')] }))
    const tokens = [...page.host.querySelectorAll<HTMLElement>('[data-testid="token"]')].map((e) => [e.textContent, e.dataset['author'], e.dataset['mask']])
    expect(tokens).toEqual([['<tool_call>', 'model', '0'], ['seen', 'environment', '0']])
    const text = page.find('play-episode')?.textContent ?? ''
    expect(text).toContain('Episode 1 by hand · seed 42 · … your turn')
    expect(text).toContain('you')
    expect(page.stores.run.getState().steps).toEqual([])
  })

  it('says that an episode was left, not over, where testing the seeds ended it', async () => {
    const page = await panel()
    await page.press('play-reset')
    await page.answer(begun())
    await page.press('play-compare')
    await page.answer(compared('honoured'))
    expect(page.find('play-done')?.textContent).toBe('no')
    expect(page.find('play-status')?.textContent).toContain('This episode was ended before it was done')
  })

  it('says what testing the seeds showed, of how many resets, and how sure that is', async () => {
    const page = await panel()
    await page.press('play-compare')
    expect(page.asked()[0]?.action).toMatchObject({ do: 'compare', seed: 42 })
    const said = async (...result: Parameters<typeof compared>) => {
      if (page.find('play-verdict')) await page.press('play-compare')
      expect(page.find('play-verdict')).toBeNull()
      await page.answer(compared(...result))
      return page.find('play-verdict')?.textContent
    }
    const start = 'Seed honoured: all 8 resets with seed 42 gave the same observation, 4 other seeds not. An environment that ignores seeds would look so in'
    expect(await said('honoured')).toContain(`${start} fewer than 1 of 1000 comparisons.`)
    expect(await said('honoured', { chance: 0.002 })).toContain(`${start} 1 of 500 comparisons.`)
    expect(await said('honoured', { chance: 0.21 })).toContain(`${start} 21 of 100 comparisons, so this is weak evidence.`)
    expect(await said('honoured', { chance: 0.5, counts: { resets: 2, others: 1, starts: 1 } })).toContain('all 2 resets with seed 42 gave the same observation, another seed not.')
    const ignored = await said('ignored', { stateDiffers: ['word'], counts: { resets: 8, others: 4, starts: 3 } })
    expect(ignored).toContain('Seeds ignored here: 8 resets with seed 42 gave 3 different observations')
    expect(ignored).toContain('The state differs in word')
    expect(await said('constant')).toContain('Always the same start: 8 resets with seed 42 and 4 with other seeds gave the same')
    expect(await said('mixed', { counts: { resets: 8, others: 4, starts: 2 } })).toContain('Seed honoured in part: 8 resets with seed 42 gave 2 different observations, mostly the same one')
  })

  it('shows failures as sentences, and no frames where there is no server', async () => {
    const page = await panel()
    await page.press('play-reset')
    await page.answer({ kind: 'failed', error: 'host stayed full for 1.5 s. Wait.', over: true })
    expect(page.find('play-status')?.textContent).toBe('host stayed full for 1.5 s. Wait.')
    expect(page.host.textContent).toContain('No frames: this game plays inside the page.')
    const server = await open(<PlayPanel />, engineMessages({ kind: 'openenv', url: 'ws://h/ws' }))
    await server.press('play-open')
    await server.say({ type: 'play-frames', frames: [{ direction: 'sent', text: '{"type":"reset"}', bytes: 16, time: 0 }, { direction: 'received', text: '{"x', bytes: 2_000_000, time: 1 }] })
    const rows = [...server.host.querySelectorAll<HTMLElement>('.frame')].map((row) => [row.dataset['direction'], row.textContent])
    expect(rows.map(([direction]) => direction)).toEqual(['received', 'sent'])
    expect(rows[0]?.[1]).toContain('2.00 MB')
    expect(rows[0]?.[1]).toContain('cut after 3 characters')
    expect(rows[1]?.[1]).toContain('16 B')
    await server.say({ type: 'play-frames', frames: [{ direction: 'received', text: '{"word":"[hidden]"}', bytes: 400, time: 2, hidden: true }] })
    const [hidden] = server.host.querySelectorAll('.frame')
    expect(hidden?.textContent).toContain('400 B · what may hold the answer is hidden')
    expect(hidden?.textContent).not.toContain('cut after')
  })
})

describe('the tools', () => {
  it('are renamed and described; the list shows what the model will see', async () => {
    const page = await open(<ToolList />)
    await page.press('edit-tool-observe')
    await page.type(page.find('tool-name'), 'look')
    await page.type(page.find('tool-description'), 'Look once more.')
    expect(page.edits()).toEqual([
      { kind: 'rename', tool: 'observe', name: 'look' },
      { kind: 'describe', tool: 'observe', description: 'Look once more.' },
    ])
    expect(page.lineOf('observe')).toContain('look() Look once more. changed')
    expect(page.find('tool-editor-observe')?.textContent).toContain('The environment calls it observe.')
    // Back to its own name: no edit is left of it.
    await page.type(page.find('tool-name'), 'observe')
    expect(page.edits()).toHaveLength(1)
    await page.press('tools-undo')
    expect(page.edits()).toEqual([])
  })

  it('a name that cannot be is refused in place and changes nothing', async () => {
    const page = await open(<ToolList />)
    await page.press('edit-tool-observe')
    for (const [name, why] of [['two words', 'cannot be named "two words"'], ['lane_change', 'another tool named lane_change']] as const) {
      await page.type(page.find('tool-name'), name)
      expect(page.find<HTMLInputElement>('tool-name')?.value).toBe(name)
      expect(page.host.querySelector('[role="alert"]')?.textContent).toContain(why)
      expect(page.edits()).toEqual([])
    }
  })

  it('are narrowed by unticking values, and left out', async () => {
    const page = await open(<ToolList />)
    await page.press('edit-tool-lane_change')
    await page.press('value-direction-left')
    expect(page.edits()).toEqual([{ kind: 'restrict', tool: 'lane_change', parameter: 'direction', enum: ['right'] }])
    await page.press('value-direction-right')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('No value of lane_change.direction would be left')
    await page.press('value-direction-left')
    expect(page.edits()).toEqual([])
    await page.press('tool-hide')
    expect(page.edits()).toEqual([{ kind: 'hide', tool: 'lane_change' }])
    expect(page.lineOf('lane_change')).toContain('left out')
  })

  /** With the tool that a number `n` of this schema is given to, and its editor open. */
  const openLimits = async (n: JsonSchema) => {
    const messages = engineMessages().map((m): Message =>
      m.type === 'environment' ? { ...m, tools: [{ type: 'function', function: { name: 'go', description: '', parameters: { type: 'object', properties: { n } } } }] } : m,
    )
    const page = await open(<ToolList />, messages)
    await page.press('edit-tool-go')
    return page
  }

  it('a limit between whole numbers can be written key by key', async () => {
    const page = await openLimits({ type: 'number' })
    for (const text of ['0', '0,', '0,5']) {
      await page.type(page.find('minimum-n'), text)
      expect(page.find<HTMLInputElement>('minimum-n')?.value).toBe(text)
    }
    expect(page.edits()).toEqual([{ kind: 'restrict', tool: 'go', parameter: 'n', minimum: 0.5 }])
    await page.type(page.find('minimum-n'), '0,5x')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('“0,5x” is no number')
    await page.type(page.find('minimum-n'), '0,25')
    await act(async () => page.find('minimum-n')?.dispatchEvent(new FocusEvent('focusout', { bubbles: true })))
    expect(page.find<HTMLInputElement>('minimum-n')?.value).toBe('0.25')
  })

  it('numbers are narrowed by limits', async () => {
    const page = await openLimits({ type: 'integer', minimum: 0 })
    await page.type(page.find('maximum-n'), '5')
    await page.type(page.find('minimum-n'), '1')
    expect(page.edits()).toEqual([{ kind: 'restrict', tool: 'go', parameter: 'n', maximum: 5, minimum: 1 }])
    await page.type(page.find('maximum-n'), '0')
    expect(page.host.querySelector('[role="alert"]')?.textContent).toContain('No value of go.n lies from 1 to 0')
    await page.type(page.find('maximum-n'), '')
    expect(page.edits()).toEqual([{ kind: 'restrict', tool: 'go', parameter: 'n', minimum: 1 }])
  })

  it('are tested with one reset and one call, as edited', async () => {
    const page = await open(<ToolList />)
    await page.press('edit-tool-observe')
    await page.type(page.find('tool-name'), 'look')
    await page.press(page.find('test-tool-observe')?.querySelector('button'))
    expect(page.asked()[0]?.action).toMatchObject({ do: 'reset', seed: 42, setup: { tool_edits: [{ kind: 'rename', name: 'look' }] } })
    await page.answer(begun())
    expect(page.asked()[1]?.action).toEqual({ do: 'call', call: { name: 'look', arguments: {} } })
    await page.answer({ kind: 'answered', call: { name: 'look', arguments: {} }, observation: said('a dog') })
    expect(page.find('tool-test-observe')?.textContent).toContain('a dog')
  })
})
