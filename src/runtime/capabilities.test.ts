import { afterEach, describe, expect, it, vi } from 'vitest'
import { chooseBackend, probeCapabilities } from './capabilities'

afterEach(() => {
  vi.unstubAllGlobals()
})

function browser({ cores = 8, isolated = true, info, refuse = false }: { cores?: number; isolated?: boolean; info?: Partial<GPUAdapterInfo> | null; refuse?: boolean }): void {
  vi.stubGlobal('crossOriginIsolated', isolated)
  const requestAdapter = async (): Promise<unknown> => {
    if (refuse) throw new Error('blocked')
    return info ? { info: { vendor: '', architecture: '', device: '', description: '', isFallbackAdapter: false, ...info } } : null
  }
  vi.stubGlobal('navigator', { hardwareConcurrency: cores, ...(info === undefined && !refuse ? {} : { gpu: { requestAdapter } }) })
}

describe('probeCapabilities', () => {
  it('in Node finds no GPU and one thread', async () => {
    vi.stubGlobal('navigator', undefined)
    expect(await probeCapabilities()).toEqual({ gpu: null, threads: 1 })
  })

  it('uses threads in an isolated page alone, four at most', async () => {
    browser({ cores: 2 })
    expect((await probeCapabilities()).threads).toBe(2)
    browser({ cores: 16 })
    expect((await probeCapabilities()).threads).toBe(4)
    browser({ cores: 16, isolated: false })
    expect((await probeCapabilities()).threads).toBe(1)
    browser({ cores: 0 })
    expect((await probeCapabilities()).threads).toBe(1)
  })

  it.each<[string, Partial<GPUAdapterInfo> | null | undefined, unknown]>([
    ['no WebGPU', undefined, null],
    ['no adapter', null, null],
    ['a described adapter', { description: 'NVIDIA GeForce RTX 4090' }, { name: 'NVIDIA GeForce RTX 4090', software: false }],
    ['an adapter by its parts', { vendor: 'apple', architecture: 'metal-3' }, { name: 'apple metal-3', software: false }],
    ['an adapter that says nothing', {}, { name: 'GPU', software: false }],
    ['SwiftShader', { vendor: 'google', architecture: 'swiftshader' }, { name: 'google swiftshader', software: true }],
    ['llvmpipe', { description: 'llvmpipe (LLVM 15)' }, { name: 'llvmpipe (LLVM 15)', software: true }],
    ['a fallback adapter', { description: 'Some GPU', isFallbackAdapter: true }, { name: 'Some GPU', software: true }],
  ])('knows %s', async (_name, info, expected) => {
    browser({ info })
    expect((await probeCapabilities()).gpu).toEqual(expected)
  })

  it('survives a browser that throws', async () => {
    browser({ refuse: true })
    expect((await probeCapabilities()).gpu).toBeNull()
  })
})

describe('chooseBackend', () => {
  const real = { gpu: { name: 'x', software: false }, threads: 4 }
  const software = { gpu: { name: 'SwiftShader', software: true }, threads: 4 }
  const none = { gpu: null, threads: 4 }

  it('takes a real GPU, else WASM', () => {
    expect([real, software, none].map((capabilities) => chooseBackend('auto', capabilities))).toEqual(['webgpu', 'wasm', 'wasm'])
  })
  it('does what it is told', () => {
    expect([real, software, none].map((capabilities) => chooseBackend('wasm', capabilities))).toEqual(['wasm', 'wasm', 'wasm'])
    expect([real, software].map((capabilities) => chooseBackend('webgpu', capabilities))).toEqual(['webgpu', 'webgpu'])
  })
  it('says so where it cannot', () => {
    expect(() => chooseBackend('webgpu', none)).toThrow(expect.objectContaining({ kind: 'engine', message: expect.stringContaining('no WebGPU'), advice: expect.stringContaining('WASM') }))
  })
})
