import { describe, expect, it } from 'vitest'
import { PlaygroundError } from '../core/errors'
import { readTensor } from '../core/weights'
import { FolderSource } from './folder-source'
import { memorySource } from './memory-source'
import { writeSafetensors } from './safetensors'

const weights = writeSafetensors([
  { name: 'a', dims: [2], data: Float32Array.of(1, 2) },
  { name: 'b', dims: [1, 1], data: Float32Array.of(3) },
])

/** A server of fixed answers that counts requests. */
function server(answers: Record<string, () => Response | Promise<Response>>) {
  const requests: string[] = []
  const load = async (input: string | URL | Request): Promise<Response> => {
    const path = String(input)
    requests.push(path)
    return (answers[path] ?? (() => new Response('no', { status: 404 })))()
  }
  return { requests, fetch: load }
}

/** A body that arrives in pieces of 7 bytes. */
function pieces(bytes: Uint8Array, headers: Record<string, string> = {}): Response {
  const parts: Uint8Array[] = []
  for (let i = 0; i < bytes.length; i += 7) parts.push(bytes.slice(i, i + 7))
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const part = parts.shift()
    if (part) controller.enqueue(part)
    else controller.close()
  }
  return new Response(new ReadableStream({ pull }), { headers })
}

const json = (value: unknown) => () => new Response(JSON.stringify(value))
const whole = () => pieces(weights, { 'content-length': String(weights.length) })

describe('FolderSource', () => {
  it('fetches each file once and serves its tensors', async () => {
    const { fetch, requests } = server({ 'm/config.json': json({ model_type: 'qwen3' }), 'm/model.safetensors': whole })
    const source = new FolderSource('m/', { fetch })
    expect(await source.config()).toEqual({ model_type: 'qwen3' })
    const [names, a, b] = await Promise.all([source.tensors().then((t) => [...t.keys()]), readTensor(source, 'a'), readTensor(source, 'b'), source.config()])
    expect(names.sort()).toEqual(['a', 'b'])
    expect(a).toEqual({ dims: [2], data: Float32Array.of(1, 2) })
    expect(b).toEqual({ dims: [1, 1], data: Float32Array.of(3) })
    expect(requests).toEqual(['m/config.json', 'm/model.safetensors'])
  })

  it('reports progress that ends at the file size, with and without Content-Length', async () => {
    for (const [answer, total] of [[whole, weights.length], [() => pieces(weights), null]] as const) {
      const seen: [number, number | null][] = []
      const { fetch } = server({ 'm/model.safetensors': answer })
      await new FolderSource('m', { fetch, onProgress: (...args) => seen.push(args) }).tensors()
      expect(seen[0]).toEqual([0, total])
      expect(seen.at(-1)).toEqual([weights.length, total])
      expect(seen.length).toBeGreaterThan(3)
    }
  })

  it('does not believe the length of packed bytes', async () => {
    const packed = () => pieces(weights, { 'content-length': '20', 'content-encoding': 'gzip' })
    const seen: (number | null)[] = []
    const { fetch } = server({ 'm/model.safetensors': packed })
    const source = new FolderSource('m', { fetch, onProgress: (_, total) => seen.push(total) })
    expect((await readTensor(source, 'b')).data).toEqual(Float32Array.of(3))
    expect(new Set(seen)).toEqual(new Set([null]))
  })

  const page = () => new Response('<!doctype html><p>Start</p>', { headers: { 'content-type': 'text/html; charset=utf-8' } })
  it.each<[string, 'config' | 'tensors', () => Response | Promise<Response>, string]>([
    ['a missing config', 'config', () => new Response('', { status: 404 }), 'm/config.json was not found (404)'],
    ['a page instead of a config', 'config', page, 'is a web page, not JSON'],
    ['a config that is not JSON', 'config', () => new Response('{"a":'), 'm/config.json is not JSON'],
    ['missing weights', 'tensors', () => new Response('', { status: 404 }), 'm/model.safetensors was not found (404)'],
    ['a refusal', 'tensors', () => new Response('', { status: 503, statusText: 'Busy' }), '(503 Busy)'],
    ['a page instead of weights', 'tensors', page, 'is a web page, not weights'],
    ['weights that are cut', 'tensors', () => pieces(weights.slice(0, -4)), 'm/model.safetensors: This safetensors file cannot be used'],
    ['no connection', 'tensors', () => Promise.reject(new TypeError('Failed to fetch')), 'could not be downloaded (Failed to fetch)'],
  ])('says what is wrong with %s, and tries again when asked again', async (_, call, answer, sentence) => {
    let now = answer
    const { fetch } = server({ 'm/config.json': () => now(), 'm/model.safetensors': () => now() })
    const source = new FolderSource('m', { fetch })
    const error = await source[call]().catch((e: unknown) => e)
    expect(error).toBeInstanceOf(PlaygroundError)
    expect(error).toMatchObject({ kind: 'model', message: expect.stringContaining(sentence) as string })
    expect((error as PlaygroundError).advice).not.toBe('')
    now = call === 'config' ? json({}) : whole
    await expect(source[call]()).resolves.toBeDefined()
  })

  it('says that a download was stopped', async () => {
    const stop = new AbortController()
    const { fetch } = server({ 'm/model.safetensors': () => { stop.abort(); return Promise.reject(stop.signal.reason as Error) } })
    await expect(new FolderSource('m', { fetch, signal: stop.signal }).tensors()).rejects.toMatchObject({ kind: 'stopped' })
  })

  it('names the file that lacks a tensor', async () => {
    const { fetch } = server({ 'm/model.safetensors': whole })
    await expect(readTensor(new FolderSource('m', { fetch }), 'c')).rejects.toThrow("m/model.safetensors has no tensor 'c'")
  })
})

describe('memorySource', () => {
  it('serves what it was given and refuses other names', async () => {
    const source = memorySource({ a: 1 }, [{ name: 'w', dims: [1], data: Float32Array.of(5) }])
    expect(await source.config()).toEqual({ a: 1 })
    expect(await source.tensors()).toEqual(new Map([['w', [1]]]))
    expect(await readTensor(source, 'w')).toEqual({ dims: [1], data: Float32Array.of(5) })
    await expect(readTensor(source, 'v')).rejects.toThrow(PlaygroundError)
  })
})
