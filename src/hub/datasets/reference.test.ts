/** Ids and addresses of datasets. */
import { describe, expect, it } from 'vitest'
import { describeError } from '../../core/errors'
import { datasetName, parseDatasetReference } from './reference'

const plain = { repo: 'me/data', revision: 'main', config: null, split: null, file: null }

describe('parseDatasetReference', () => {
  it.each([
    [' me/data ', {}],
    ['datasets/me/data', {}],
    ['me/data@refs/pr/1', { revision: 'refs/pr/1' }],
    ['hf://datasets/me/data@dev', { revision: 'dev' }],
    ['https://huggingface.co/datasets/me/data?row=3#x', {}],
    ['hf.co/datasets/me/data/viewer/main%20set/test', { config: 'main set', split: 'test' }],
    ['https://www.huggingface.co/datasets/me/data/viewer/', {}],
    ['https://huggingface.co/datasets/me/data/tree/v1.0/sub', { revision: 'v1.0' }],
    ['https://huggingface.co/datasets/me/data/blob/main/data/a b.jsonl', { file: 'data/a b.jsonl' }],
    ['https://huggingface.co/datasets/me/data/resolve/refs/convert/parquet/x/train/0000.parquet', { revision: 'refs/convert/parquet', file: 'x/train/0000.parquet' }],
  ])('reads %s', (text, found) => expect(parseDatasetReference(text)).toEqual({ ...plain, ...found }))

  it.each([
    ['', 'No dataset is named'],
    ['gsm8k', 'one word'],
    ['https://huggingface.co/Qwen/Qwen3-0.6B', 'not of a dataset'],
    ['https://example.com/a/b', 'not an address on huggingface.co'],
    ['me/data@..', 'no revision'],
    ['me/da ta', 'no id of a dataset'],
    ['me/data/discussions/1', 'goes on after'],
    ['https://huggingface.co/datasets/%E0%A4%A', 'well-formed'],
  ])('refuses %s', (text, said) => {
    const error = (() => {
      try {
        return parseDatasetReference(text)
      } catch (refused) {
        return refused
      }
    })()
    expect(describeError(error)).toContain(said)
  })

  it('is named as it is written', () => {
    expect(datasetName(plain)).toBe('me/data')
    expect(datasetName({ ...plain, revision: 'dev', file: 'a.jsonl' })).toBe('me/data@dev a.jsonl')
  })
})
