// @vitest-environment happy-dom
import { DEFAULT_STAGE } from '../../core/stage'
import { act } from 'react'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { StoresProvider } from '../../store/hooks'
import { restoredMessage, runRecord, runsMessage } from '../../store/testing/kept'
import { engineMessages, stepMessages } from '../../store/testing/script'
import type { Message } from '../../worker/protocol'
import { CurvesPanel } from '../curves/CurvesPanel'
import { eventually, mount } from '../testing/mount'
import { RecordingBanner, ResumeBanner } from './Banners'
import { RunsButton } from './RunsButton'
import { fetchLater } from '../../ui/later'

// What is fetched when it is opened is here from the start.
beforeAll(fetchLater)

// recharts needs a real layout; the curves are looked at in a browser and read here as their table.
vi.mock('../curves/Chart', () => ({ default: () => null }))
afterEach(() => vi.unstubAllGlobals())

const A = runRecord({ id: 'run-a', name: 'first', notes: 'a note' })
const B = runRecord({ id: 'run-b', name: 'second', step: 12, checkpoint: 10, bytes: 96_000 })
const running: Message = { type: 'state', state: { state: 'running', until: 'limit' } }

async function open(list: Message | null = runsMessage([A, B], { current: 'run-b' })) {
  const page = await mount((stores) => (
    <StoresProvider stores={stores}>
      <ResumeBanner />
      <RecordingBanner />
      <RunsButton />
      <CurvesPanel />
    </StoresProvider>
  ))
  await page.say(...engineMessages(), ...(list ? [list] : []))
  await page.press('runs-open')
  const rows = () => [...page.host.querySelectorAll<HTMLElement>('[data-testid="run"]')]
  const inRow = (i: number, id: string) => rows()[i]?.querySelector<HTMLElement>(`[data-testid="${id}"]`) ?? null
  const key = (target: HTMLElement | null, key: string) => act(async () => target?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })))
  const sent = (type: string) => page.port.sent.filter((c) => c.type === type)
  const text = (id: string) => page.find(id)?.textContent ?? ''
  return { ...page, rows, inRow, key, sent, text }
}

/** Takes a change of a text over, as leaving the field does. */
const blur = (target: HTMLElement | null) => act(async () => target?.dispatchEvent(new FocusEvent('focusout', { bubbles: true })))

describe('the list of runs', () => {
  it('asks for the list when it opens, and shows each with its facts', async () => {
    const page = await open()
    expect(page.sent('list-runs')).toHaveLength(1)
    expect(page.rows()).toHaveLength(2)
    expect(page.rows()[0]?.textContent).toContain('step 37 of')
    expect(page.rows()[0]?.textContent).toContain('4.18 MB')
    const [first] = page.sent('read-history') as { requestId: number; id: string }[]
    expect(first?.id).toBe('run-a')
    await page.say({ type: 'run-history', requestId: first?.requestId ?? 0, id: 'run-a', history: restoredMessage(3, {}, { skill: () => 1 }).history })
    expect(page.inRow(0, 'run-reward')?.textContent).toBe('reward 1.00')
    await page.press('close-runs')
    expect(page.find('runs')).toBeNull()
  })

  it('goes on with a run at its newest checkpoint and closes', async () => {
    const page = await open()
    expect(page.inRow(1, 'resume')).toBeNull()
    expect(page.inRow(1, 'run-loaded')?.textContent).toBe('loaded now')
    expect(page.inRow(0, 'resume')?.textContent).toBe('Load step 37')
    await page.press(page.inRow(0, 'resume'))
    expect(page.sent('resume')).toEqual([{ type: 'resume', id: 'run-a' }])
    expect(page.find('runs')).toBeNull()
  })

  it('says why no run can be gone on with while a step is trained, nor the present one deleted', async () => {
    const page = await open()
    await page.say(running, ...stepMessages(1).slice(0, 3))
    const resume = page.inRow(0, 'resume') as HTMLButtonElement
    expect(resume.disabled).toBe(true)
    expect(page.host.ownerDocument.getElementById(resume.getAttribute('aria-describedby') ?? '')?.textContent).toContain('press Pause')
    expect((page.inRow(1, 'delete-run') as HTMLButtonElement).disabled).toBe(true)
    expect((page.inRow(0, 'delete-run') as HTMLButtonElement).disabled).toBe(false)
  })

  it('keeps a changed name on Enter, takes it back on Escape, and leaves no run without one', async () => {
    const page = await open()
    const name = page.inRow(0, 'run-name')
    await page.type(name, 'renamed')
    await page.key(name, 'Escape')
    expect((name as HTMLInputElement).value).toBe('first')
    await page.type(name, ' renamed ')
    await page.key(name, 'Enter')
    expect(page.sent('edit-run')).toEqual([{ type: 'edit-run', id: 'run-a', name: 'renamed' }])
    await page.say(runsMessage([{ ...A, name: 'renamed' }, B]))
    await page.type(name, '  ')
    await blur(name)
    expect(page.sent('edit-run')).toHaveLength(1)
    expect((name as HTMLInputElement).value).toBe('renamed')
    const notes = page.inRow(0, 'run-notes')
    await page.type(notes, '')
    await blur(notes)
    expect(page.sent('edit-run').at(-1)).toEqual({ type: 'edit-run', id: 'run-a', notes: '' })
  })

  it('tells runs of one name apart: seed, changed settings, and names of their buttons', async () => {
    const change = (seed: number, learning_rate: number) => ({ ...A.config, grpo: { ...A.config.grpo, seed, learning_rate } })
    const page = await open(runsMessage([{ ...A, config: change(7, 0.0123) }, { ...B, name: A.name, config: change(8, A.config.grpo.learning_rate) }]))
    expect(page.rows().map((row) => row.querySelector('.run-facts')?.textContent)).toEqual([
      expect.stringMatching(/seed 7.*learning_rate 0\.0123/),
      expect.stringMatching(/seed 8(?!.*learning_rate)/),
    ])
    for (const id of ['resume', 'delete-run', 'run-take-away', 'compare']) {
      const names = [0, 1].map((i) => page.inRow(i, id)?.getAttribute('aria-label'))
      expect(names[0], id).toContain('seed 7')
      expect(names[0], id).not.toBe(names[1])
    }
  })

  it('says how much the runs take where the browser counts less than them', async () => {
    const page = await open(runsMessage([A], { storage: { usage: 986_000, quota: 2_000_000_000 } }))
    expect(page.text('runs-storage')).toContain('The runs take 4.18 MB of the 2.00 GB')
    expect(page.text('runs-storage')).not.toContain('986 kB')
  })

  it('asks before it deletes; Keep brings the focus back', async () => {
    const page = await open()
    await page.press(page.inRow(0, 'delete-run'))
    expect(page.inRow(0, 'delete-run-keep')).toBe(document.activeElement)
    expect(page.rows()[0]?.textContent).toContain('Delete this run, 4.18 MB?')
    await page.press(page.inRow(0, 'delete-run-keep'))
    expect([page.sent('delete-run'), page.inRow(0, 'delete-run') === document.activeElement]).toEqual([[], true])
    await page.press(page.inRow(0, 'delete-run'))
    await page.press(page.inRow(0, 'delete-run-sure'))
    expect(page.sent('delete-run')).toEqual([{ type: 'delete-run', id: 'run-a' }])
    await page.say(runsMessage([B]))
    expect(document.activeElement?.className).toBe('run-list')
  })

  it('opens Take away about a run', async () => {
    const page = await open()
    await page.press(page.inRow(0, 'run-take-away'))
    expect(page.stores.takeAway.store.getState().shown).toBe('run-a')
  })

  it('draws chosen runs over the present curves, told apart by name and dashes, also as a table', async () => {
    const page = await open()
    await page.say(...stepMessages(1))
    await page.press(page.inRow(0, 'compare'))
    const { requestId } = page.sent('read-history').find((c) => (c as { id: string }).id === 'run-a') as { requestId: number }
    await page.say({ type: 'run-history', requestId, id: 'run-a', history: restoredMessage(3, {}, { skill: () => 1 }).history })
    await page.press('show-curves')
    expect(page.find('runs')).toBeNull()
    const legend = page.find('compared')
    expect(legend?.textContent).toContain('first')
    const dashes = [...(legend?.querySelectorAll('line') ?? [])].map((line) => line.getAttribute('stroke-dasharray'))
    expect(new Set(dashes).size).toBe(2)
    await page.press('curves-table')
    expect(page.find('curve-table')?.querySelector('thead')?.textContent).toContain('reward · first')
    const heads = [...(page.find('curve-table')?.querySelectorAll('thead th') ?? [])].map((cell) => cell.textContent)
    const column = [...(page.find('curve-table')?.querySelectorAll('tbody tr') ?? [])].map((row) => row.children[heads.indexOf('reward · first')]?.textContent)
    expect(column).toEqual(['1.00', '1.00', '1.00'])
    // The curves follow a run with a pause between.
    await eventually(() => expect(page.find('comparison')?.textContent).toMatch(/reward.*1\.00 \(\+/))
    const eye = legend?.querySelectorAll<HTMLElement>('[data-testid="compare-eye"]')[1]
    await page.press(eye)
    expect([eye?.getAttribute('aria-pressed'), page.find('curve-table')?.querySelector('thead')?.textContent?.includes('first')]).toEqual(['false', false])
    await page.press('compare-remove')
    expect(page.find('compared')).toBeNull()
  })

  it('says why nothing is kept', async () => {
    const page = await open(runsMessage([], { problem: 'This browser keeps no runs.', storage: null }))
    expect(page.text('runs-problem')).toBe('This browser keeps no runs.')
    expect(page.text('runs')).toContain('No run is kept yet')
  })

  it('shows the room that is used, and asks the browser to keep it on a press only', async () => {
    const persist = vi.fn(() => Promise.resolve(false))
    vi.stubGlobal('navigator', { ...navigator, storage: { persist, persisted: () => Promise.resolve(false) } })
    const page = await open()
    expect(page.text('runs-storage')).toContain('8.40 MB of the 2.00 GB')
    expect(persist).not.toHaveBeenCalled()
    await page.press('ask-persist')
    expect(persist).toHaveBeenCalledTimes(1)
    expect(page.text('runs-storage')).toContain('did not promise')
  })
})

describe('trajectories from a file', () => {
  const drop = (target: HTMLElement | null, files: File[]) =>
    act(async () => {
      const event = new Event('drop', { bubbles: true, cancelable: true })
      Object.assign(event, { dataTransfer: { files } })
      target?.dispatchEvent(event)
    })

  it('are handed to the worker; the list closes when they are shown', async () => {
    const page = await open()
    const file = new File(['{}'], 'mine.jsonl')
    await drop(page.find('import-drop'), [file])
    expect(page.sent('import-trajectories')).toEqual([{ type: 'import-trajectories', name: 'mine.jsonl', file }])
    expect(page.text('import')).toContain('Reading mine.jsonl')
    await page.say(restoredMessage(2, { name: 'mine.jsonl', checkpoint: null }))
    expect(page.find('runs')).toBeNull()
    expect(page.text('recording')).toContain('mine.jsonl')
  })

  it('tell their own settings, and lead back to the run that waits behind them', async () => {
    const page = await open()
    await page.say(...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    const config = { ...A.config, grpo: { ...A.config.grpo, seed: 99 } }
    await page.say(restoredMessage(2, { name: 'mine.jsonl', checkpoint: null, config }))
    expect(page.text('recording-settings')).toContain('seed 99')
    expect(page.text('recording-back')).toBe('Back to the run')
    expect(page.inRow(1, 'run-loaded')?.textContent).toContain('behind the recording')
    await page.press('recording-back')
    expect(page.find('recording')).toBeNull()
    expect(page.stores.run.getState().history.map(({ step }) => step)).toEqual([1])
    expect(page.inRow(1, 'run-loaded')?.textContent).toBe('loaded now')
  })

  it('are closed where no run was begun; what is not told is not made up', async () => {
    const page = await open(runsMessage([A]))
    await page.say(restoredMessage(2, { name: 'trl.parquet', checkpoint: null, config: { ...A.config, model: '' } }))
    expect(page.text('recording-settings')).toContain('does not tell')
    expect(page.text('recording-back')).toBe('Close the recording')
    await page.press('recording-back')
    // The offer that was there before is there again.
    expect(page.text('resume-offer')).toContain('first stopped at step 37.')
  })

  it('are refused with a sentence: other files, several, and while a step is trained', async () => {
    const page = await open()
    await drop(page.find('import-drop'), [new File([''], 'model.safetensors')])
    expect(page.text('import-problem')).toContain('model.safetensors is neither JSONL nor Parquet')
    await drop(page.find('import-drop'), [new File([''], 'a.jsonl'), new File([''], 'b.jsonl')])
    expect(page.text('import-problem')).toContain('One file at a time')
    await page.say(running)
    await drop(page.find('import-drop'), [new File([''], 'a.jsonl')])
    expect(page.text('import-problem')).toContain('press Pause')
    expect(page.sent('import-trajectories')).toEqual([])
  })

  it('say what is wrong in them', async () => {
    const page = await open()
    await drop(page.find('import-drop'), [new File(['{}'], 'a.jsonl')])
    await page.say({ type: 'event', event: { type: 'notice', level: 'warning', text: 'Line 1 of a.jsonl has no prompt.' } })
    expect(page.text('import-problem')).toBe('Line 1 of a.jsonl has no prompt.')
  })
})

describe('a run that a closed tab left', () => {
  it('is offered quietly, until it is answered or a step begins', async () => {
    const page = await open(runsMessage([A, B]))
    expect(page.text('resume-offer')).toContain('first stopped at step 37.')
    await page.press('resume-offered')
    expect(page.sent('resume')).toEqual([{ type: 'resume', id: 'run-a' }])
    expect(page.find('resume-offer')).toBeNull()
  })

  it('is neither offered nor loaded while another tab has it, and a refused load leaves the page as it was', async () => {
    const page = await open(runsMessage([A, B], { held: ['run-a'] }))
    expect(page.find('resume-offer')).toBeNull()
    expect([page.inRow(0, 'run-elsewhere')?.textContent, page.inRow(0, 'resume')]).toEqual(['open in another tab', null])
    const before = page.stores.run.getState().run
    await page.press(page.inRow(1, 'resume'))
    await page.say({ type: 'resume-refused', id: 'run-b', why: '"second" is open in another tab. Go on there, or close that tab first.' })
    expect(page.text('resume-refused')).toContain('Go on there')
    expect(page.stores.run.getState().run).toEqual(before)
    expect(page.stores.setup.getState().resuming).toBeNull()
    await page.press('dismiss-refusal')
    expect(page.find('resume-refused')).toBeNull()
  })

  it('is offered by its stages where it had no GRPO step yet', async () => {
    const stage = { kind: 'sft' as const, dataset: '', rows: 1, steps: 9, settings: DEFAULT_STAGE.sft, afterStep: 0, first: {}, last: {} }
    const page = await open(runsMessage([{ ...A, step: 0, checkpoint: 0, stages: [stage] }]))
    expect(page.text('resume-offer')).toContain('first stopped after SFT 9 steps.')
    expect(page.text('resume-offered')).toBe('Go on from there')
  })

  it('is not offered once it was declined, or a step was begun', async () => {
    const page = await open(runsMessage([A, B]))
    await page.press('dismiss-offer')
    expect([page.find('resume-offer'), page.sent('resume')]).toEqual([null, []])
    const other = await open(runsMessage([A, B]))
    await other.say(running, ...stepMessages(1).slice(0, 2))
    expect(other.find('resume-offer')).toBeNull()
  })
})
