import { describe, expect, it } from 'vitest'
import { covers, extentName, extentsIn, isComplete, joinRanges, newestManifest, type Manifest } from './manifest'

const manifest = (seq: number): Manifest => ({
  version: 1,
  seq,
  repo: 'me/model',
  sha: 'a',
  names: {},
  lastUsed: 0,
  planned: true,
  files: [{ path: 'w', size: 100, sha256: null, needed: [[0, 10], [50, 100]], extents: [] }],
})
const encoded = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))

describe('manifest', () => {
  it('takes the newer of two slots that can be read', () => {
    expect(newestManifest([encoded(manifest(4)), encoded(manifest(5))])?.seq).toBe(5)
    expect(newestManifest([encoded(manifest(6)), encoded(manifest(5))])?.seq).toBe(6)
    expect(newestManifest([encoded({ ...manifest(6), version: 2 }), encoded(manifest(5))])?.seq).toBe(5)
    expect(newestManifest([null, new Uint8Array([123])])).toBeNull()
  })

  it('finds the stored ranges of a file among others, and leaves out what cannot be', () => {
    const entry = (path: string, begin: number, bytes: number) => ({ name: extentName(path, begin), bytes })
    const entries = [entry('w', 50, 50), entry('w', 0, 20), entry('w', 10, 5), entry('w', 99, 2), entry('w', 30, 0), entry('w.0', 1, 9), entry('a/w', 2, 9), { name: 'w.x.part', bytes: 3 }]
    expect(extentsIn(entries, 'w', 100)).toEqual([{ begin: 0, bytes: 20 }, { begin: 50, bytes: 50 }])
    expect(extentsIn(entries, 'a/w', 100)).toEqual([{ begin: 2, bytes: 9 }])
    expect(isComplete(manifest(1), entries)).toBe(true)
    expect(isComplete({ ...manifest(1), planned: false }, entries)).toBe(false)
    expect(isComplete(manifest(1), entries.slice(1))).toBe(false)
  })

  it('joins ranges and tells what they cover', () => {
    expect(joinRanges([[5, 9], [0, 3], [3, 4], [8, 12], [20, 20]])).toEqual([[0, 4], [5, 12]])
    const extents = [{ begin: 0, bytes: 4 }, { begin: 4, bytes: 6 }, { begin: 12, bytes: 3 }]
    expect([covers(extents, 1, 10), covers(extents, 1, 11), covers(extents, 12, 15), covers(extents, 7, 7)]).toEqual([true, false, true, true])
  })
})
