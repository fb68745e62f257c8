/** Datasets of a local Hub: the Parquet copy, the repository's own files, what is downloaded of them, and the refusals. */
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PARQUET_BRANCH } from '../../../e2e/hub/parquet-copy'
import { startHub, type Hub } from '../../../e2e/hub/server'
import { describeError } from '../../core/errors'
import { HubClient } from '../client'
import { readHubDataset } from '.'

const SECRET = 'hf_reader'
const lines = (...rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ prompt: `p${from + i}`, completion: `c${from + i}` }))
/** With a column of noise that a reader may not want; it does not compress. */
function parquet(rows: { prompt: string; completion: string }[], noise = 0, rowGroupSize = 100): Uint8Array {
  let state = 1
  const random = () => String.fromCharCode(33 + ((state = (state * 48271) % 2147483647) % 90))
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'prompt', data: rows.map(({ prompt }) => prompt), type: 'STRING' },
        { name: 'image', data: rows.map(() => Array.from({ length: noise }, random).join('')), type: 'STRING' },
        { name: 'completion', data: rows.map(({ completion }) => completion), type: 'STRING' },
      ],
      rowGroupSize,
    }),
  )
}

let hub: Hub
beforeAll(async () => {
  const copy = {
    'default/test/0000.parquet': parquet(numbered(2, 90)),
    'default/train/0000.parquet': parquet(numbered(3)),
    'default/train/0001.parquet': parquet(numbered(3, 3)),
    'odd one/train/0000.parquet': parquet(numbered(1, 50)),
  }
  hub = await startHub({
    repos: {
      'datasets/me/copied': { files: { 'README.md': '# x' }, revisions: { [PARQUET_BRANCH]: copy, dev: { 'data/train.jsonl': lines({ text: 'dev' }) } } },
      'datasets/me/lines': {
        files: { 'README.md': '# x', 'test.jsonl': lines({ text: 'a' }, 5, { text: 'b' }), 'train.json': '[{"text": "1"}, {"text": "2"}]', 'dataset_infos.json': '{}' },
      },
      'datasets/me/folders': { files: { 'main/train-00000-of-00001.parquet': parquet(numbered(2)), 'extra/data/test-0.parquet': parquet(numbered(1)), 'notes.json': '{}' } },
      'datasets/me/big': { files: { 'data/train-0.parquet': parquet(numbered(2000), 5000, 200) } },
      'datasets/me/endless': { files: { 'train.jsonl': { size: 1e12, sha256: 'a'.repeat(64), read: (begin, end) => new Uint8Array(end - begin).map((_, i) => '{"text":"x"}\n'.charCodeAt((begin + i) % 13)) } } },
      'datasets/me/pictures': { files: { 'README.md': '# x', 'a.png': 'x', 'b.png': 'x' } },
      'datasets/me/broken': { files: { 'train.parquet': new TextEncoder().encode('PAR1 and then nothing') } },
      'datasets/me/secret': { files: { 'train.jsonl': lines({ text: 's' }) }, private: true },
      'datasets/me/gated': { files: { 'train.jsonl': lines({ text: 'g' }) }, gated: 'manual' },
    },
    tokens: { [SECRET]: { reads: ['datasets/me/secret'], accepted: ['datasets/me/gated'] } },
    pageSize: 2,
  })
})
afterAll(() => hub.stop())
beforeEach(() => {
  hub.clearFaults()
  hub.requests.length = 0
})

const client = (token: string | null = null) => new HubClient({ endpoint: hub.endpoint, token: () => token, sleep: async () => undefined, random: () => 1 })
const read = (reference: Parameters<typeof readHubDataset>[0], wish: Parameters<typeof readHubDataset>[2] = {}, token: string | null = null) => readHubDataset(reference, client(token), wish)
const refusal = (...given: Parameters<typeof read>) => read(...given).then(() => 'it was read', describeError)
const plain = { revision: 'main', config: null, split: null, file: null }

describe('readHubDataset', () => {
  it('reads all files of the Parquet copy’s first part, at a commit, and says what else can be chosen', async () => {
    const found = await read('me/copied')
    expect(found).toMatchObject({ name: 'me/copied', sha: hub.sha('datasets/me/copied'), config: 'default', split: 'train', problems: [], more: false })
    expect(found.choices).toEqual([{ config: 'default', splits: ['test', 'train'] }, { config: 'odd one', splits: ['train'] }])
    expect(found.rows.map(({ row }) => row.prompt)).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p5'])
    expect(found.rows.map(({ place }) => place).slice(2, 4)).toEqual(['row 3', 'file 2, row 1'])
    expect(found.columns).toEqual(['prompt', 'image', 'completion'])
  })
  it('reads the config and split that are wanted, and says which there are instead', async () => {
    expect((await read({ ...plain, repo: 'me/copied', config: 'odd one' })).rows).toHaveLength(1)
    expect((await read('https://huggingface.co/datasets/me/copied/viewer/default/test')).rows[0]?.row.prompt).toBe('p90')
    expect(await refusal({ ...plain, repo: 'me/copied', config: 'none' })).toBe("me/copied has no config 'none'. It has default, odd one.")
    expect(await refusal({ ...plain, repo: 'me/copied', split: 'none' })).toBe("me/copied has no split 'none'. It has test, train.")
  })
  it('reads another revision’s own files', async () => {
    const found = await read('me/copied@dev')
    expect([found.name, found.sha, found.rows]).toEqual(['me/copied@dev', hub.sha('datasets/me/copied', 'dev'), [{ place: 'line 1', row: { text: 'dev' } }]])
    expect(await refusal('me/copied@none')).toContain("me/copied has no revision 'none' (404)")
  })
  it('without a copy reads JSON and JSONL by the names of the files, and tells of bad lines', async () => {
    expect((await read('me/lines')).rows.map(({ row }) => row.text)).toEqual(['1', '2'])
    const test = await read({ ...plain, repo: 'me/lines', split: 'test' })
    expect(test.rows).toHaveLength(2)
    expect(test.problems).toMatchObject([{ place: 'line 2', problem: 'This is 5, not an object' }])
    expect((await read('https://huggingface.co/datasets/me/lines/blob/main/test.jsonl')).rows).toHaveLength(2)
  })
  it('takes folders for configs', async () => {
    expect((await read('me/folders')).choices).toEqual([{ config: 'extra', splits: ['test'] }, { config: 'main', splits: ['train'] }])
  })
  it('downloads only the row groups and columns that are wanted', async () => {
    const size = parquet(numbered(2000), 5000, 200).length
    let all = 0
    const some = await read('me/big', { limit: 150, onProgress: (bytes) => (all += bytes) })
    expect([some.rows.length, some.more]).toEqual([150, true])
    expect(all).toBeLessThan(size * 0.65)
    expect(Object.keys(some.rows[0]?.row ?? {})).toEqual(['prompt', 'image', 'completion'])
    const columns = await read('me/big', { limit: 3, columns: ['completion', 'messages'] })
    expect(columns.rows.map(({ row }) => row)).toEqual([{ completion: 'c0' }, { completion: 'c1' }, { completion: 'c2' }])
    expect(columns.columns).toEqual(['prompt', 'image', 'completion'])
    expect(await read('me/big', { columns: ['messages'] })).toMatchObject({ rows: [], columns: ['prompt', 'image', 'completion'] })
  })
  it('of a file without end reads the beginning, and stops when told to', async () => {
    let bytes = 0
    const some = await read('me/endless', { limit: 1000, onProgress: (more) => (bytes += more) })
    expect([some.rows.length, some.more]).toEqual([1000, true])
    expect(bytes).toBeLessThan(5e6)
    expect(await refusal('me/lines', { signal: AbortSignal.abort() })).toContain('was stopped')
  })
  it('says what cannot be read', async () => {
    expect(await refusal('me/pictures')).toBe('me/pictures has no file that can be read here: it has a.png, b.png. Choose a dataset of Parquet, JSONL or JSON files.')
    expect(await refusal('me/broken')).toContain('cannot be read')
    expect(await refusal('https://huggingface.co/datasets/me/pictures/blob/main/a.png')).toContain('a.png cannot be read here')
    expect(await refusal('https://huggingface.co/datasets/me/lines/blob/main/none.jsonl')).toContain("me/lines has no file 'none.jsonl'")
  })
  it('reads private and gated ones with the token, which goes to the Hub alone', async () => {
    expect((await read('me/secret', {}, SECRET)).rows).toHaveLength(1)
    expect((await read('me/gated', {}, SECRET)).rows).toHaveLength(1)
    await read('me/folders', {}, SECRET)
    expect(hub.requests.some(({ at }) => at === 'cdn')).toBe(true)
    expect(hub.requests.filter(({ at, authorization, url }) => (at === 'cdn' && authorization) || url.includes(SECRET))).toEqual([])
  })
  it('tells a stranger what to do', async () => {
    expect(await refusal('me/none')).toMatch(/The Hub shows no dataset me\/none to strangers \(401\).*private.*token/)
    expect(await refusal('me/none', {}, SECRET)).toContain('The Hub has no dataset me/none that this token may see (404)')
    expect(await refusal('me/gated')).toMatch(/me\/gated is gated.*https:\/\/huggingface\.co\/datasets\/me\/gated/)
    hub.fault({ kind: 'status', status: 429, times: 9, on: '/parquet' })
    expect(await refusal('me/copied')).toMatch(/refuses more requests for now \(429\).*load the dataset again/)
  })
  it('goes on with the repository’s files where the copy cannot be had', async () => {
    hub.fault({ kind: 'status', status: 500, on: '/parquet' })
    expect((await read('me/lines')).rows).toHaveLength(2)
  })
})
