import { describe, expect, it } from 'vitest'
import { DEFAULT_GRPO } from '../../core/config'
import { reduce } from '../../store/reduce'
import { type ScriptOptions, stepMessages } from '../../store/testing/script'
import { TokenLog } from '../../store/token-log'
import { EMPTY_RUN, type StepView } from '../../store/view'
import { groupOf } from '../group/group-view'
import { captionsOf, heroOf } from './captions'
import { watchedStep } from './stage'

function played(options: ScriptOptions, steps = 1) {
  const log = new TokenLog()
  const messages = Array.from({ length: steps }, (_, i) => stepMessages(i + 1, options)).flat()
  const view = messages.reduce((v, m) => reduce(v, m, log, 0), EMPTY_RUN)
  return { step: view.steps.at(-1) as StepView, episode: 0, log, history: view.history, grpo: DEFAULT_GRPO, view }
}

describe('what the slow step says', () => {
  it('has the numbers of the step that is shown', () => {
    const told = played({ groups: 2, size: 4, skill: () => 0.5 }, 2)
    const { step, history } = told
    const said = captionsOf(told)
    const group = groupOf(step, 0)
    const hero = heroOf(group, 0)
    expect(said.prompt).toMatch(new RegExp(`^Step 2: .*seed ${group.episodes[0]?.seed}, .* 4 times`))
    expect(said.rewards).toContain(`mean ${group.stats?.mean?.toPrecision(3)}`)
    expect(said.advantages).toContain(`episode ${(hero?.index ?? 0) + 1} did`)
    const tokens = told.log.read(2, hero?.index ?? 0).filter((t) => t.mask === 1).length
    expect(said.tokens).toContain(`the ${tokens} tokens that the model wrote`)
    expect(said.formula).toMatch(/tokens of all 2 groups feed the loss \(dapo\)\. .*norm/)
    expect(said.curve).toContain(`at step 2, after ${history[0]?.metrics['reward']?.toPrecision(3)} at step 1.`)
  })
  it('tells a group without a signal as what it is', () => {
    const told = played({ groups: 1, size: 4, skill: () => 1 })
    const said = captionsOf(told)
    expect(heroOf(groupOf(told.step, 0), 0)).toBeNull()
    expect(said.rewards).toContain('all 1.00')
    expect(said.advantages).toMatch(/All 4 rewards are 1\.00.*exactly 0/)
    expect(said.tokens).toContain('nothing is tinted')
    expect(said.curve).not.toContain('after')
  })
  it('says which were left out', () => {
    expect(captionsOf(played({ groups: 1, size: 4, broken: 2, skill: () => 0.5 })).rewards).toContain('1 episode could not be scored and is left out.')
  })
  it('follows the selected episode if it has an advantage, else the one with the largest', () => {
    const { step } = played({ groups: 1, size: 8, skill: () => 0.5, broken: 0 })
    const group = groupOf(step, 0)
    const largest = Math.max(...group.episodes.map((e) => Math.abs(e?.advantage ?? 0)))
    expect(Math.abs(heroOf(group, 0)?.advantage ?? 0)).toBe(largest)
    expect(heroOf(group, 5)?.index).toBe(5)
  })
})

describe('the step that is watched', () => {
  it('is the selected one while its episodes are kept, else the newest finished one', () => {
    const { view } = played({ groups: 1, size: 2 }, 3)
    expect(watchedStep(view, 2)?.step).toBe(2)
    expect(watchedStep(view, 99)?.step).toBe(3)
    expect(watchedStep({ steps: view.steps.map((s) => ({ ...s, finished: s.step < 3 })) }, null)?.step).toBe(2)
    expect(watchedStep({ steps: [] }, null)).toBeNull()
  })
})
