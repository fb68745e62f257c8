/** What is said of a server whose episodes can be scored but may teach nothing. */

import { describe, expect, it } from 'vitest'
import { toolsFound } from '../core/discovered'
import { rollout } from './rollout'
import { FakeEnvironment, type FakeScript } from './testing/fake-environment'
import { prepare, say, type Prepared } from './testing/setup'

const remote = (script: FakeScript) => {
  const fake = new FakeEnvironment(script)
  return Object.assign(fake, { discovered: toolsFound('h', fake.tools) })
}
const notices = async ({ request, events }: Prepared) => {
  const [episode] = await rollout(request)
  await rollout(request)
  return { reward: episode?.reward, texts: events.flatMap((event) => (event.type === 'notice' ? [`${event.level}: ${event.text}`] : [])) }
}

describe('a server', () => {
  it('that says nothing at reset is told of once', async () => {
    const { texts } = await notices(prepare({ reply: () => 'No.', environment: remote({ reset: () => ' ' }) }))
    expect(texts).toEqual([expect.stringMatching(/^warning: fake said nothing at reset\. /)])
    expect((await notices(prepare({ reply: () => 'No.', environment: remote({ reset: () => 'Go.' }) }))).texts).toEqual([])
    expect((await notices(prepare({ reply: () => 'No.', environment: { reset: () => '' } }))).texts).toEqual([])
  })

  it('whose tools raise errors of their own is told of once, with the first error', async () => {
    const result = (text: string, toolError = true) => remote({ reset: () => 'Go.', step: () => ({ text, toolError }) })
    const failing = await notices(prepare({ reply: () => say('x'), environment: result("Error: Error calling tool 'say': database is down.") }))
    expect(failing).toEqual({ reward: 0, texts: [expect.stringContaining("an error of its own tool: Error calling tool 'say': database is down. No call")] })
    expect((await notices(prepare({ reply: () => say('x'), environment: result('Error: word is missing') }))).texts).toEqual([])
    expect((await notices(prepare({ reply: () => say('x'), environment: result("Error: Error calling tool 'say': x", false) }))).texts).toEqual([])
  })
})
