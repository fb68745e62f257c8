/** The run and whoever plays by hand: the run comes first, and says which tools are the environment's own. */
import { expect, it } from 'vitest'
import type { Environment } from '../core/environment'
import { toolsFound } from '../core/discovered'
import { withToolEdits } from '../env/tool-edits'
import { banditConfig } from '../train/testing/bandit'
import type { Message } from './protocol'
import { Runner } from './runner'
import { open } from './testing/open-runner'

/** A runner beside a player that counts how often it was asked to give way. */
function beside(prepared: (environment: Environment) => Environment = (environment) => environment) {
  const { keeper, environments } = open()
  const asked: string[] = []
  const messages: Message[] = []
  const runner: Runner = new Runner(
    {
      ...keeper,
      prepare: async (config, callbacks) => {
        const setup = await keeper.prepare(config, callbacks)
        const environment = withToolEdits(prepared(setup.environment), config.tool_edits)
        environment.onCrowded = callbacks.onCrowded
        return { ...setup, environment }
      },
    },
    (message) => messages.push(message),
    { giveWay: async (reason) => void asked.push(reason) },
  )
  const ready = async (change = {}) => {
    const before = messages.length
    runner.handle({ type: 'configure', config: { ...banditConfig(), ...change } })
    for (let i = 0; i < 500; i++) {
      if (messages.slice(before).some((m) => m.type === 'state' && m.state.state === 'ready')) return
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error('never ready')
  }
  return { runner, environments, asked, messages, ready }
}

it('a crowded environment asks the player to give way; an uncrowded run does not', async () => {
  const page = beside()
  expect(page.runner.chatFormat).toBeNull()
  await page.ready()
  expect(page.asked).toEqual([])
  expect(page.runner.chatFormat).not.toBeNull()
  page.environments[0]?.onCrowded?.()
  expect(page.asked[0]).toContain('the run needs this one')
})

it('edited tools are told beside the own ones', async () => {
  const page = beside()
  await page.ready()
  await page.ready({ tool_edits: [{ kind: 'rename', tool: 'pull', name: 'draw' }] })
  const told = page.messages.flatMap((m) => (m.type === 'environment' ? [[m.tools, m.ownTools].map((tools) => tools?.map((t) => t.function.name))] : []))
  expect(told).toEqual([
    [['pull'], undefined],
    [['draw'], ['pull']],
  ])
})

it('what was discovered at a server is told, also beside edited tools; of a built-in game there is nothing', async () => {
  const page = beside((environment) => Object.assign(environment, { discovered: toolsFound('localhost:8000', environment.tools) }))
  await page.ready()
  await page.ready({ tool_edits: [{ kind: 'rename', tool: 'pull', name: 'draw' }] })
  const told = page.messages.flatMap((m) => (m.type === 'environment' ? [m.discovered] : []))
  expect(told.map((found) => [found?.host, found?.tools.map(({ tool }) => tool.function.name)])).toEqual([
    ['localhost:8000', ['pull']],
    ['localhost:8000', ['pull']],
  ])
  expect(structuredClone(told)).toEqual(told)
  const builtIn = beside()
  await builtIn.ready()
  await builtIn.ready({ tool_edits: [{ kind: 'rename', tool: 'pull', name: 'draw' }] })
  expect(builtIn.messages.filter((m) => m.type === 'environment').map((m) => 'discovered' in m)).toEqual([false, false])
})
