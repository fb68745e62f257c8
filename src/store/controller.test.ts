import { describe, expect, it } from 'vitest'
import { createStores } from './create'
import { hasChanges } from './setup-store'
import { restoredMessage } from './testing/kept'
import { engineMessages, scriptedPort, stepMessages } from './testing/script'

/** Draws at once. */
const clock = { now: () => 0, schedule: (callback: () => void) => callback() }

const SMALL = { groups: 1, size: 2 }

function page(hash = '') {
  const port = scriptedPort()
  const stores = createStores(port, hash, clock)
  return { ...stores, port, types: () => port.sent.map((c) => c.type) }
}

describe('what the buttons do', () => {
  it('loads the model at the start and trains only on a press', () => {
    const { controller, port, types } = page('#v=1&env=catch&seed=7')
    controller.start()
    port.say(...engineMessages())
    expect(types()).toEqual(['configure'])
    controller.train()
    expect(types()).toEqual(['configure', 'train'])
  })

  it('begins as soon as the model is there when that is pressed before, and loads it only once', () => {
    const { controller, port, setup, types } = page()
    controller.train()
    controller.start()
    port.say(...engineMessages().slice(0, 1))
    controller.train()
    expect([types(), setup.getState().pressed]).toEqual([['configure'], true])
    port.say(...engineMessages().slice(1))
    expect([types(), setup.getState().pressed]).toEqual([['configure', 'train'], false])
  })

  it('hands over what was changed after such a press before anything is trained', () => {
    const { controller, port, setup } = page()
    controller.start()
    port.say(...engineMessages().slice(0, 1))
    controller.train()
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.5 } }))
    port.say(...engineMessages().slice(1))
    expect(port.sent.slice(1)).toMatchObject([{ type: 'configure', config: { grpo: { learning_rate: 0.5 } } }])
    expect([setup.getState().pressed, hasChanges(setup.getState())]).toEqual([true, false])
    port.say(...engineMessages())
    expect([port.sent.slice(2), setup.getState().pressed]).toEqual([[{ type: 'train' }], false])
  })

  it('begins nothing by such a press once a person must agree to a server', () => {
    const { controller, port, setup, types } = page()
    controller.start()
    port.say(...engineMessages().slice(0, 1))
    controller.train()
    setup.setState(({ config }) => ({ config: { ...config, environment: { kind: 'openenv', url: 'ws://localhost:8000' } }, awaitsConsent: true }))
    port.say(...engineMessages().slice(1))
    expect([types(), setup.getState()]).toMatchObject([['configure'], { pressed: false, awaitsConsent: true }])
  })

  it.each([false, true])('goes on with a kept run once it has come when that is pressed before, settings changed: %s', (changed) => {
    const { controller, port, runs, setup, types } = page()
    controller.start()
    port.say(...engineMessages())
    if (changed) controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.5 } }))
    runs.resume('run-a')
    // Before the worker says that it loads, and then.
    controller.train()
    port.say({ type: 'state', state: { state: 'ready' } }, ...engineMessages().slice(0, 1))
    controller.train()
    expect([types(), setup.getState().pressed]).toEqual([['configure', 'resume'], true])
    const restored = restoredMessage(3, {}, SMALL)
    port.say({ type: 'cleared' }, { type: 'configured', config: restored.run.config }, ...engineMessages().slice(1, 3), restored)
    expect(types()).toEqual(['configure', 'resume'])
    port.say({ type: 'state', state: { state: 'paused', step: 3 } })
    expect([types(), setup.getState()]).toMatchObject([['configure', 'resume', 'train'], { pressed: false, resuming: null, config: restored.run.config }])
    port.say({ type: 'state', state: { state: 'paused', step: 4 } })
    expect(types()).toHaveLength(3)
  })

  it('hands a later end over to a kept run that was let go on before it came', () => {
    const { controller, port, runs } = page()
    runs.resume('run-a')
    controller.train()
    port.say(...engineMessages().slice(0, 1), restoredMessage(3, {}, SMALL))
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, max_steps: 999 } }))
    port.say({ type: 'state', state: { state: 'paused', step: 3 } })
    expect(port.sent.slice(1)).toMatchObject([{ type: 'extend', max_steps: 999 }, { type: 'train' }])
  })

  it('forgets a press for a kept run at Pause, a failure, another run, and where it came to be measured only', () => {
    const restored = restoredMessage(3, {}, SMALL)
    const other = restored.run.config.precision === 'int4' ? 'float32' : 'int4'
    const ends: ((on: ReturnType<typeof page>) => void)[] = [
      ({ controller }) => controller.pause(),
      ({ port }) => port.say({ type: 'state', state: { state: 'failed', error: 'It is gone.', advice: '', recoverable: true } }),
      ({ runs }) => runs.resume('run-b'),
      ({ controller }) => controller.reset(),
      ({ runs, controller, port }) => {
        runs.resume('run-a', other)
        controller.train()
        port.say(restored)
      },
    ]
    for (const end of ends) {
      const on = page()
      on.runs.resume('run-a')
      on.controller.train()
      expect(on.setup.getState().pressed).toBe(true)
      end(on)
      expect(on.setup.getState().pressed).toBe(false)
      on.port.say(restored, { type: 'state', state: { state: 'paused', step: 3 } })
      expect(on.types()).not.toContain('train')
    }
    // What was pressed for the first load is not for the run that is chosen then.
    const { controller, port, runs, setup, types } = page()
    controller.train()
    runs.resume('run-a')
    expect(setup.getState().pressed).toBe(false)
    port.say(restored, { type: 'state', state: { state: 'paused', step: 3 } })
    expect(types()).toEqual(['configure', 'resume'])
  })

  it('forgets such a press at Pause, a failure, a load that is stopped, and another choice', () => {
    const { controller, port, setup, types } = page()
    controller.start()
    port.say(...engineMessages().slice(0, 1))
    const ends: (() => void)[] = [
      () => controller.pause(),
      () => port.say({ type: 'state', state: { state: 'failed', error: 'No such model.', advice: '', recoverable: false } }),
      () => controller.model.pauseLoad(),
      () => controller.chooseEnvironment({ kind: 'builtin', name: 'catch' }),
    ]
    for (const end of ends) {
      port.say(...engineMessages().slice(0, 1))
      controller.train()
      expect(setup.getState().pressed).toBe(true)
      end()
      expect(setup.getState().pressed).toBe(false)
      port.say({ type: 'state', state: { state: 'ready' } })
    }
    expect(types()).not.toContain('train')
  })

  it('connects to a linked server only after consent', () => {
    const { controller, port, types } = page('#v=1&env=ws://localhost:8000&seed=7')
    controller.start()
    expect(types()).toEqual([])
    controller.consent()
    expect(port.sent[0]).toMatchObject({ type: 'configure', config: { environment: { kind: 'openenv', url: 'ws://localhost:8000' } } })
  })

  it('takes changed settings over before the first step, then trains when ready', () => {
    const { controller, port, types } = page()
    controller.start()
    port.say(...engineMessages())
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, seed: 9 } }))
    controller.step()
    expect(types()).toEqual(['configure', 'configure'])
    port.say({ type: 'state', state: { state: 'ready' } })
    expect(types()).toEqual(['configure', 'configure', 'step'])
  })

  it('does not train when the new settings fail to load', () => {
    const { controller, port, types } = page()
    controller.start()
    port.say(...engineMessages())
    controller.edit((c) => ({ ...c, model: 'models/none' }))
    controller.train()
    port.say({ type: 'state', state: { state: 'failed', error: 'No such model.', advice: '', recoverable: true } })
    port.say({ type: 'state', state: { state: 'ready' } })
    expect(types()).toEqual(['configure', 'configure'])
  })

  it('knows which environment was turned down, while the run before it stands', () => {
    const { controller, port, setup } = page('#v=1&env=lane')
    controller.start()
    port.say(...engineMessages(), ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    const lane = setup.getState().config
    const other = { kind: 'openenv', url: 'ws://localhost:5307' } as const
    controller.chooseEnvironment(other)
    controller.consent()
    expect([port.sent.at(-1)?.type, setup.getState().turnedDown]).toEqual(['configure', null])
    port.say({ type: 'configured', config: lane }, { type: 'state', state: { state: 'failed', error: 'It is no OpenEnv server.', advice: '', recoverable: true, kind: 'environment' } })
    expect(setup.getState()).toMatchObject({ turnedDown: other, applied: { environment: lane.environment } })
    port.say({ type: 'state', state: { state: 'running', until: 'limit' } })
    expect(setup.getState().turnedDown).toBeNull()
  })

  it('lets a run go on to a later end', () => {
    const { controller, port, setup } = page()
    controller.start()
    port.say(...engineMessages(), ...stepMessages(1), { type: 'state', state: { state: 'finished', step: 1, reason: 'step-limit' } })
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, max_steps: 9 } }))
    controller.train()
    expect(port.sent.slice(1)).toEqual([{ type: 'extend', max_steps: 9, target_reward: null }, { type: 'train' }])
    expect(hasChanges(setup.getState())).toBe(false)
    // Any other change is a new run's.
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, max_steps: 12, seed: 3 } }))
    controller.train()
    expect(port.sent.slice(3)).toEqual([{ type: 'train' }])
  })

  it('hands another end to a run that goes on when that is taken, and nothing else', () => {
    const { controller, port, setup } = page()
    controller.start()
    port.say(...engineMessages(), { type: 'state', state: { state: 'running', until: 'limit' } }, ...stepMessages(1, SMALL).slice(0, 2))
    const before = port.sent.length
    const end = (max_steps: number) => controller.edit((c) => ({ ...c, grpo: { ...c.grpo, max_steps } }))
    end(2)
    expect(port.sent.slice(before)).toEqual([])
    controller.takeEnd()
    expect(port.sent.slice(before)).toEqual([{ type: 'extend', max_steps: 2, target_reward: null }])
    expect(hasChanges(setup.getState())).toBe(false)
    // With another setting it waits for Reset.
    end(3)
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.5 } }))
    controller.takeEnd()
    expect(port.sent).toHaveLength(before + 1)
  })

  it('sees no change where another environment was chosen and then the same again', () => {
    const { controller, port, setup } = page('#v=1&env=lane&seed=7')
    controller.start()
    port.say(...engineMessages(), ...stepMessages(1), { type: 'state', state: { state: 'finished', step: 1, reason: 'step-limit' } })
    const lane = setup.getState().config.environment
    controller.chooseEnvironment(lane)
    expect(hasChanges(setup.getState())).toBe(false)
    controller.chooseEnvironment({ kind: 'custom', called: 'A', code: 'class A { reset() {} }' })
    expect(hasChanges(setup.getState())).toBe(true)
    controller.chooseEnvironment(lane)
    expect(hasChanges(setup.getState())).toBe(false)
  })

  it('leaves a run that has begun alone until Reset', () => {
    const { controller, port, setup, types } = page()
    controller.start()
    port.say(...engineMessages(), ...stepMessages(1), { type: 'state', state: { state: 'paused', step: 1 } })
    controller.edit((c) => ({ ...c, grpo: { ...c.grpo, learning_rate: 0.01 } }))
    expect(hasChanges(setup.getState())).toBe(true)
    controller.train()
    expect(types()).toEqual(['configure', 'train'])
    controller.reset()
    expect(types()).toEqual(['configure', 'train', 'configure'])
    expect(hasChanges(setup.getState())).toBe(false)
    controller.reset()
    expect(types().at(-1)).toBe('reset')
  })

  it("fills empty prompts with a server's own before the first step, and hands them over with Train", () => {
    const { controller, port, setup, types } = page('#v=1&env=localhost:8000&seed=7&user_prompt=Mine.')
    controller.consent()
    port.say({
      type: 'environment',
      spec: { kind: 'openenv', url: 'localhost:8000' },
      tools: [],
      prompts: { system: 'Be brief.', user: 'Theirs.' },
      maxSessions: 4,
    })
    port.say({ type: 'state', state: { state: 'ready' } })
    expect(setup.getState().config).toMatchObject({ system_prompt: 'Be brief.', user_prompt: 'Mine.' })
    controller.train()
    expect(types()).toEqual(['configure', 'configure'])
  })

  it('goes on after a failure that left the run in place', () => {
    const { controller, port, types } = page()
    controller.start()
    port.say(...engineMessages(), { type: 'state', state: { state: 'failed', error: 'Lost.', advice: '', recoverable: true } })
    controller.reset()
    port.say({ type: 'state', state: { state: 'failed', error: 'Lost.', advice: '', recoverable: false } })
    controller.reset()
    expect(types()).toEqual(['configure', 'reset', 'configure'])
  })

  it('keeps the seed when the environment is changed', () => {
    const { controller, port, setup } = page('#v=1&env=lane&seed=7')
    controller.start()
    port.say(...engineMessages())
    controller.chooseEnvironment({ kind: 'builtin', name: 'catch' })
    expect(setup.getState().config).toMatchObject({ environment: { name: 'catch' }, grpo: { seed: 7 } })
    expect(port.sent.at(-1)?.type).toBe('configure')
  })

  it('keeps the token of a link while the engine is loaded, and lets it go with the next run', () => {
    const { controller, selection } = page('#v=1&env=echo&position=31')
    controller.start()
    expect(selection.getState().token).toBe(31)
    controller.chooseEnvironment({ kind: 'builtin', name: 'catch' })
    expect(selection.getState().token).toBeNull()
  })

  it('takes over the settings of a run that was gone on with, and lets it train', () => {
    const { controller, port, setup, selection, types } = page('#v=1&env=localhost:8000&seed=7')
    const { run, ...message } = restoredMessage(3)
    selection.setState({ step: 9, token: 4 })
    port.say(...engineMessages(), { ...message, run: { ...run, config: { ...run.config, user_prompt: 'Theirs.' } } })
    expect(setup.getState()).toMatchObject({ config: { user_prompt: 'Theirs.' }, applied: { user_prompt: 'Theirs.' }, awaitsConsent: false })
    expect(selection.getState()).toMatchObject({ step: null, token: null })
    controller.train()
    expect(types()).toEqual(['train'])
  })

  it('shows a recording beside the settings of the run that is loaded, and trains only after Reset', () => {
    const { controller, port, setup, types } = page()
    controller.start()
    port.say(...engineMessages())
    const { run, ...message } = restoredMessage(3)
    port.say({ ...message, run: { ...run, checkpoint: null, config: { ...run.config, user_prompt: 'Theirs.' } } })
    expect(setup.getState().config.user_prompt).not.toBe('Theirs.')
    controller.train()
    controller.step()
    expect(types()).toEqual(['configure'])
    controller.reset()
    port.say({ type: 'cleared' })
    controller.train()
    expect(types()).toEqual(['configure', 'reset', 'train'])
  })

  it('pairs evaluations with their answers', async () => {
    const { controller, port } = page()
    const first = controller.evaluate(8)
    const second = controller.evaluate(16)
    port.say({ type: 'evaluation-failed', requestId: 2, error: 'The run is busy.' })
    port.say({ type: 'evaluation', requestId: 1, result: { train: 0.5, heldOut: null, episodes: 8 } })
    await expect(first).resolves.toEqual({ train: 0.5, heldOut: null, episodes: 8 })
    await expect(second).rejects.toThrow('The run is busy.')
  })

  it('keeps what the link selected through the first load', () => {
    const { port, selection, controller } = page()
    selection.setState({ token: 5 })
    controller.start()
    port.say({ type: 'cleared' })
    expect(selection.getState().token).toBe(5)
    port.say({ type: 'cleared' })
    expect(selection.getState().token).toBeNull()
  })

  it('shows the newest step again after a reset', () => {
    const { port, selection } = page()
    selection.setState({ step: 3, token: 5 })
    port.say({ type: 'cleared' })
    expect(selection.getState()).toMatchObject({ step: null, token: null })
  })
})
