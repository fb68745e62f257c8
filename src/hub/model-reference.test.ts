import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { isRepoId, parseModelReference } from './model-reference'

const sha = '0123456789abcdef0123456789abcdef01234567'

describe('parseModelReference', () => {
  it.each<[string, string, string]>([
    ['Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B', 'main'],
    ['  Qwen/Qwen2.5-0.5B-Instruct\n', 'Qwen/Qwen2.5-0.5B-Instruct', 'main'],
    ['Qwen/Qwen3-0.6B@v1.0', 'Qwen/Qwen3-0.6B', 'v1.0'],
    [`me/m@${sha}`, 'me/m', sha],
    ['me/m@refs/pr/1', 'me/m', 'refs/pr/1'],
    ['https://huggingface.co/Qwen/Qwen3-0.6B', 'Qwen/Qwen3-0.6B', 'main'],
    ['https://huggingface.co/Qwen/Qwen3-0.6B/', 'Qwen/Qwen3-0.6B', 'main'],
    ['https://huggingface.co/Qwen/Qwen3-0.6B?library=transformers#usage', 'Qwen/Qwen3-0.6B', 'main'],
    ['https://huggingface.co/Qwen/Qwen3-0.6B/tree/main', 'Qwen/Qwen3-0.6B', 'main'],
    ['https://huggingface.co/me/m/tree/dev/some/folder', 'me/m', 'dev'],
    ['https://huggingface.co/me/m/tree/refs%2Fpr%2F3', 'me/m', 'refs/pr/3'],
    ['https://huggingface.co/me/m/tree/refs/pr/3/folder', 'me/m', 'refs/pr/3'],
    [`https://huggingface.co/me/m/commit/${sha}`, 'me/m', sha],
    ['http://www.huggingface.co/me/m', 'me/m', 'main'],
    ['huggingface.co/me/m', 'me/m', 'main'],
    ['hf.co/me/m/tree/v2', 'me/m', 'v2'],
    ['https://hf.co/me/m@v2', 'me/m', 'v2'],
    ['hf://me/m', 'me/m', 'main'],
    ['hf://me/m@v2', 'me/m', 'v2'],
    ['HTTPS://HuggingFace.co/me/M_2', 'me/M_2', 'main'],
  ])('reads %s', (text, repo, revision) => {
    expect(parseModelReference(text)).toEqual({ repo, revision })
  })

  it.each<[string, string, string]>([
    ['', 'No model is named', 'Qwen/Qwen3-0.6B'],
    ['gpt2', "'gpt2' is one word", 'search=gpt2'],
    ['qwen3@main', 'is one word', 'search=qwen3.'],
    ['Qwen/', 'is one word', 'owner/name'],
    ['hf://gpt2', 'is one word', 'owner/name'],
    ['https://huggingface.co/', 'names no model', 'owner/name'],
    ['https://huggingface.co/Qwen', 'names no model', 'owner/name'],
    ['models/tiny-qwen3', "'models' is no owner", 'owner/name'],
    ['https://huggingface.co/datasets/openai/gsm8k', 'is a dataset', 'owner/name'],
    ['hf://spaces/me/s', 'is a Space', 'owner/name'],
    ['datasets/openai/gsm8k', 'is a dataset', 'owner/name'],
    ['https://huggingface.co/me/m/blob/main/config.json', 'is the address of a file', 'Write me/m;'],
    ['https://huggingface.co/me/m/resolve/v2/model.safetensors?download=true', 'is the address of a file', 'Write me/m@v2;'],
    ['https://huggingface.co/me/m/discussions/4', "the page 'discussions' of me/m", 'Write me/m.'],
    ['hf://me/m/config.json', 'goes on after the name', 'Write me/m;'],
    ['me/m/model.safetensors', 'goes on after the name', 'Write me/m;'],
    ['https://example.com/me/m', 'not an address on huggingface.co', 'owner/name'],
    ['https://huggingface.co.evil.test/me/m', 'not an address on huggingface.co', 'owner/name'],
    ['file:///home/me/m', 'file://', 'owner/name'],
    ['me/m@', "'' in 'me/m@' is no revision", '@main'],
    ['me/m@a@b', 'more than one @', 'owner/name'],
    ['me/m@../x', 'is no revision', '@main'],
    ['me/my model', 'is no id', 'owner/name'],
    ['me/../m', 'is no id', 'owner/name'],
    ['https://huggingface.co/%E0%A4%A/m', 'not a well-formed address', 'owner/name'],
    ['onnx-community/Qwen3-0.6B-ONNX', 'holds ONNX files', 'Take Qwen/Qwen3-0.6B,'],
    ['https://huggingface.co/onnx-community/Qwen2.5-0.5B-Instruct', 'holds ONNX files', 'Take Qwen/Qwen2.5-0.5B-Instruct,'],
    ['onnx-community/Llama-3.2-1B', 'holds ONNX files', 'base model'],
  ])('refuses %j', (text, message, advice) => {
    let error: unknown
    try {
      parseModelReference(text)
    } catch (e) {
      error = e
    }
    expect(error).toBeInstanceOf(PlaygroundError)
    expect(error).toMatchObject({ kind: 'model' })
    expect((error as PlaygroundError).message).toContain(message)
    expect((error as PlaygroundError).advice).toContain(advice)
  })
})

it('knows ids by the rules of the Hub', () => {
  expect(['a/b', 'A-1/b_2.c', '_a/b'].map(isRepoId)).toEqual([true, true, true])
  expect(['a', 'a/b/c', '-a/b', 'a/b.', 'a--b/c', 'a/b..c', `a/${'b'.repeat(100)}`, 'a/', '/b', 'a/ü'].filter(isRepoId)).toEqual([])
})
