import { describe, expect, it } from 'vitest'
import { LoadMeter } from './speed'

function meter() {
  const clock = { ms: 10_000 }
  return { clock, load: new LoadMeter(() => clock.ms) }
}

describe('LoadMeter', () => {
  it('adds up files, and the speed of the last five seconds', () => {
    const { clock, load } = meter()
    load.expect('tokenizer.json', 1000)
    load.expect('model.safetensors', 99_000)
    load.read('tokenizer.json', 1000, false)
    expect(load.progress('tokenizer.json')).toEqual({
      what: 'tokenizer.json',
      done: 1000,
      total: 1000,
      overall: { done: 1000, total: 100_000, bytesPerSecond: null, secondsLeft: null, fromDisk: false },
    })
    for (let i = 0; i < 10; i++) {
      clock.ms += 1000
      load.read('model.safetensors', 1000, false)
    }
    expect(load.progress('model.safetensors').overall).toMatchObject({ done: 11_000, bytesPerSecond: 1000, secondsLeft: 89 })
    // Ten times as fast: after five seconds nothing of the old speed is left.
    for (let i = 0; i < 50; i++) {
      clock.ms += 100
      load.read('model.safetensors', 1000, false)
    }
    expect(load.progress('model.safetensors').overall?.bytesPerSecond).toBeCloseTo(10_000, -2)
    expect(load.progress('model.safetensors')).toMatchObject({ done: 60_000, total: 99_000 })
  })

  it('slows down while nothing comes', () => {
    const { clock, load } = meter()
    load.expect('w', 10_000)
    load.read('w', 0, false)
    clock.ms += 1000
    load.read('w', 1000, false)
    expect(load.progress('w').overall?.bytesPerSecond).toBe(1000)
    clock.ms += 9000
    expect(load.progress('w').overall).toMatchObject({ bytesPerSecond: 100, secondsLeft: 90 })
  })

  it('forgets the disk when the network goes on', () => {
    const { clock, load } = meter()
    load.expect('w', 2_000_000)
    for (let i = 0; i < 10; i++) {
      clock.ms += 100
      load.read('w', 100_000, true)
    }
    expect(load.progress('w').overall).toMatchObject({ fromDisk: true, done: 1_000_000 })
    load.read('w', 1000, false)
    expect(load.progress('w').overall).toMatchObject({ fromDisk: false, bytesPerSecond: null, secondsLeft: null })
    clock.ms += 1000
    load.read('w', 1000, false)
    expect(load.progress('w').overall?.bytesPerSecond).toBe(2000)
  })

  it('counts many small chunks with few samples, and a second plan after the first', () => {
    const { clock, load } = meter()
    load.expect('w', 100_000)
    for (let i = 0; i < 100_000; i++) {
      if (i % 10 === 0) clock.ms += 1
      load.read('w', 1, false)
    }
    expect(load.progress('w').overall?.bytesPerSecond).toBeCloseTo(10_000, -2)
    expect((load as unknown as { samples: unknown[] }).samples.length).toBeLessThan(110)
    load.expect('w', 500)
    expect(load.progress('w').overall).toMatchObject({ done: 100_000, total: 100_500 })
  })
})
