import { describe, expect, it } from 'vitest'
import { shownTools, toolsFound } from '../core/discovered'
import { applyToolEdits, type ToolEdit } from '../core/tool-edits'
import { catchEnvironment } from './builtin/catch'
import { laneEnvironment } from './builtin/lane'
import { withToolEdits } from './tool-edits'

const edits: ToolEdit[] = [
  { kind: 'rename', tool: 'move', name: 'go' },
  { kind: 'describe', tool: 'move', description: 'Go.' },
  { kind: 'restrict', tool: 'move', parameter: 'to', enum: ['left', 'right'] },
]
const reset = { seed: 1, episode_id: 'e', split: 'train' as const }

describe('an environment with edited tools', () => {
  it('is the environment itself when nothing was edited', () => {
    const environment = catchEnvironment()
    expect(withToolEdits(environment, [])).toBe(environment)
  })

  it('shows the new tools, keeps its own, and answers to the new name', async () => {
    const environment = withToolEdits(catchEnvironment(), edits)
    await environment.connect()
    expect(environment.tools).toEqual(shownTools(applyToolEdits(toolsFound('catch', catchEnvironment().tools), edits)))
    expect(environment.tools[0]?.function).toMatchObject({ name: 'go', description: 'Go.' })
    // The list that is asked for at each token is not made anew.
    expect(environment.tools).toBe(environment.tools)
    expect(environment.ownTools?.map((t) => t.function.name)).toEqual(['move'])
    const session = await environment.open()
    const first = await session.reset(reset)
    const moved = await session.step({ name: 'go', arguments: { to: 'left' } })
    expect(moved).toMatchObject({ toolError: false, reward: null })
    expect(moved.text).not.toBe(first.text)
  })

  it('refuses a forbidden call without asking the environment', async () => {
    const session = await withToolEdits(catchEnvironment(), edits).open()
    const first = await session.reset(reset)
    const stay = await session.step({ name: 'go', arguments: { to: 'stay' } })
    expect(stay).toMatchObject({ toolError: true, refused: true, reward: null, done: false })
    expect(stay.text).toContain('must be one of "left", "right", not "stay"')
    expect((await session.step({ name: 'move', arguments: { to: 'left' } })).text).toContain('There is no tool named "move"')
    // The ball has not fallen meanwhile.
    const height = (text: string) => Number(/height (\d)/.exec(text)?.[1])
    expect(height((await session.step({ name: 'go', arguments: { to: 'left' } })).text)).toBe(height(first.text) - 1)
  })

  it('does not connect with edits of another environment', async () => {
    await expect(withToolEdits(laneEnvironment(), edits).connect()).rejects.toThrow('lane has no tool "move"')
  })

  it('passes on who must give way', () => {
    const inner = catchEnvironment()
    const outer = withToolEdits(inner, edits)
    const listener = () => undefined
    outer.onCrowded = listener
    expect(inner.onCrowded).toBe(listener)
  })
})
