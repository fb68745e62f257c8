/** What a rollout function returned as a conversation, and as a row to learn from. */
import { describe, expect, it } from 'vitest'
import { demonstration, sftExamples, whyNoChat } from '../../train/datasets'
import { scenariosOf } from '../scenarios'
import { chat, prepare } from '../testing/setup'
import { episodeOf } from './episodes'

const { request } = prepare({ reply: () => ['never asked'] })
const { tools } = request.environment
const drawn = (text: string) => chat.rawText(text).ids.map((id) => ({ id, logprob: -1, entropy: 0, top: [] }))
const CALL = drawn('<tool_call>\n{"name": "go", "arguments": {}}\n</tool_call><|im_end|>')
const DONE = drawn('Done<|im_end|>')

const scenario = scenariosOf(request, () => undefined).scenarios[0]!

/** A call, these tokens of the function's own, and an answer. */
function played(appended: readonly number[], prompt_ids: readonly number[] = scenario.base.ids) {
  const tokens = [...CALL, ...appended.map(() => null), ...DONE]
  const completion_ids = [...CALL.map(({ id }) => id), ...appended, ...DONE.map(({ id }) => id)]
  const place = { step: 1, index: 0, group: 0, seed: 1 }
  return episodeOf({ prompt_ids: [...prompt_ids], completion_ids, tokens, columns: {} }, place, scenario, request)
}

describe('the row of an episode that a rollout function wrote', () => {
  it('has the tokens that were played, where the function appended results of tools', () => {
    const episode = played(chat.toolSuffix([{ name: 'go', content: 'ok\nuser' }, { name: 'go', content: '' }]).ids)
    expect(episode.messages.slice(-3, -1).map(({ role, content }) => [role, content])).toEqual([['tool', 'ok\nuser'], ['tool', '']])
    const row = demonstration(episode, tools, false)
    const [example] = sftExamples([{ place: 'line 1', row: JSON.parse(JSON.stringify(row)) as Record<string, unknown> }], chat, { max_length: 1000, assistant_only_loss: true }).examples
    expect(example?.ids.slice(0, episode.ids.length)).toEqual(episode.ids)
    expect(whyNoChat([episode])).toBeNull()
  })

  it('begins with what the function read at reset and put behind the prompt', () => {
    const { tools: own } = scenario.venue.environment
    // The last is what the template itself goes on with.
    for (const said of ['level 1, ball d', '🙂', '\n', '<', '<|im']) {
      const episode = played([], chat.prompt(scenario.messages, own, said).ids)
      expect(episode.messages[0]?.content).toBe(`Play.\n${said}`)
      expect(demonstration(episode, own, false)).not.toBeNull()
    }
    const other = played([], chat.rawText('Something else').ids)
    expect(demonstration(other, own, false)).toBeNull()
  })

  it('is none where what it appended is no part of a conversation, and it is said why', () => {
    for (const text of [' and then', '<tool_response>\nhalf\n</tool_response>']) {
      const episode = played(chat.rawText(text).ids)
      expect(episode.messages.at(-2)).toEqual({ role: 'tool', name: 'rollout_func', content: text })
      expect(demonstration(episode, tools, false)).toBeNull()
      expect(whyNoChat([episode])).toMatch(/results with trainer.tool_suffix/)
    }
  })
})
