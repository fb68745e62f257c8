import { describe, expect, it } from 'vitest'
import type { ArtifactSpec } from '../artifacts/spec'
import { parseModelConfig } from '../model/config'
import type { Device, DeviceSession } from './device'
import { Sessions } from './sessions'
import { CONFIG, LORA } from './testing/random-model'

const spec: ArtifactSpec = { config: parseModelConfig(CONFIG), lora: LORA, precision: 'float32' }

/** A device that only makes and releases sessions; it refuses while `broken`. */
function fakeDevice() {
  const state = { broken: false, made: [] as { onHost: boolean; bytes: number }[], released: 0 }
  const device = {
    createSession: async (bytes: Uint8Array, onHost: boolean): Promise<DeviceSession> => {
      if (state.broken) throw new Error('refused')
      state.made.push({ onHost, bytes: bytes.length })
      return { session: {} as never, inputs: new Set(), outputs: [], onHost }
    },
    release: async () => {
      state.released++
    },
  }
  return { state, sessions: new Sessions(device as unknown as Device, spec) }
}

describe('sessions', () => {
  it('are made when first asked for, once', async () => {
    const { state, sessions } = fakeDevice()
    const [one, two] = await Promise.all([sessions.get('adamw'), sessions.get('adamw')])
    expect(one).toBe(two)
    expect(await sessions.get('adamw')).toBe(one)
    expect(state.made).toHaveLength(1)
  })

  it('whose results are read at once answer on the host, the others stay on the device', async () => {
    const { state, sessions } = fakeDevice()
    for (const name of ['head_forward', 'head_sample', 'head_sample_filtered', 'grad_norm', 'embed', 'decode', 'adamw'] as const) await sessions.get(name)
    expect(state.made.map(({ onHost }) => onHost)).toEqual([true, true, true, true, false, false, false])
  })

  it('that could not be made are tried again', async () => {
    const { state, sessions } = fakeDevice()
    state.broken = true
    await expect(sessions.get('embed')).rejects.toThrow('refused')
    state.broken = false
    await expect(sessions.get('embed')).resolves.toBeDefined()
  })

  it('are all released, also those under way; a refused one stops nothing', async () => {
    const { state, sessions } = fakeDevice()
    void sessions.get('embed')
    void sessions.get('adamw')
    state.broken = true
    const refused = sessions.get('decode')
    await sessions.release()
    await expect(refused).rejects.toThrow()
    expect(state.released).toBe(2)
    await sessions.release()
    expect(state.released).toBe(2)
  })
})
