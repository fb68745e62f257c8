// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest'
import { TokenLog } from '../../store/token-log'
import { EMPTY_RUN } from '../../store/view'
import { type TourFacts, tourFacts } from './facts'
import { missingFrom, TOUR } from './tour.data'

const some: TourFacts = {
  prompt: 'Hit nobody.',
  tools: ['observe', 'stop'],
  episode: { total: 100, promptLength: 80, trained: 12 },
  group: { size: 4, rewards: [1, 0, 0, 1], solved: 2, advantages: [0.87, -0.87, -0.87, 0.87] },
  rewards: [0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8],
}
const answer = (id: string, facts: TourFacts) => TOUR.find((item) => item.id === id)?.answer(facts) ?? ''
/** Full stops that end a sentence, not those of a number. */
const sentences = (text: string) => text.match(/[.?](?=["”]?(\s|$))/g)?.length ?? 0

describe('the tour', () => {
  it('has five questions, each with its element and an answer of at most two sentences in the numbers of the page', () => {
    expect(TOUR.map(({ id }) => id)).toEqual(['task', 'tokens', 'group', 'advantages', 'learning'])
    for (const item of TOUR) {
      expect(item.question(some)).toMatch(/\?$/)
      expect(sentences(item.answer(some)), item.answer(some)).toBeLessThanOrEqual(item.id === 'task' ? 3 : 2)
      expect(item.evidence(some).length).toBeGreaterThan(0)
    }
    expect(answer('tokens', some)).toContain('12 tokens')
    expect(answer('group', some)).toContain('2 solved it')
    expect(answer('advantages', some)).toContain('up to +0.870')
    expect(answer('learning', some)).toMatch(/from 0.200 .* to 0.800 after 8 steps\. So it is\./)
  })

  it('says so where the page does not know', () => {
    const none = tourFacts({ view: EMPTY_RUN, tokens: new TokenLog(), selection: { step: null, episode: 0 }, prompt: '' })
    for (const id of ['tokens', 'group', 'learning']) expect(answer(id, none)).toContain('press Step')
    expect(answer('advantages', none)).toContain('not in yet')
    expect(answer('task', none)).toContain('known once the environment is connected')
    for (const item of TOUR) expect(item.evidence(none)).toEqual([])
    expect(answer('advantages', { ...some, group: { size: 4, rewards: [1, 1, 1, 1], solved: 4, advantages: [0, 0, 0, 0] } })).toContain('no signal')
    expect(answer('learning', { ...some, rewards: [0.2, 0.9] })).toContain('too early')
    expect(answer('learning', { ...some, rewards: [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.55] })).toContain('not yet')
    expect(answer('group', { ...some, group: { size: 4, rewards: [0.1, 0.9, 0.2, 0.3], solved: null, advantages: null } })).toContain('from 0.100 to 0.900')
  })

  it('finds an answer as text, as a control’s value, as a label and by counting', () => {
    const box = document.createElement('div')
    box.innerHTML = '<p>0.375</p><textarea></textarea><i aria-label="last 0.8"></i><b class="x"></b><b class="x"></b>'
    ;(box.querySelector('textarea') as HTMLTextAreaElement).value = 'Hit nobody.'
    expect(missingFrom(box, [{ text: '0.375' }, { text: 'Hit nobody.' }, { text: '0.8' }, { selector: '.x', count: 2 }])).toEqual([])
    expect(missingFrom(box, [{ text: '0.376' }, { selector: '.x', count: 3 }])).toHaveLength(2)
  })
})
