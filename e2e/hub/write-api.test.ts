/** The local Hub's writing half keeps the Hub's rules: who may, what a commit must hold, what LFS and OAuth promise. */

import { createHash } from 'node:crypto'
import { commit, createRepo, HubApiError, uploadFiles, whoAmI } from '@huggingface/hub'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startHub, type Hub } from './server'

const WRITER = 'hf_writer'
let hub: Hub
beforeEach(async () => {
  hub = await startHub({ repos: { 'me/model': { files: { 'README.md': 'old' } } }, tokens: { [WRITER]: { user: 'me', orgs: ['team'], role: 'write' }, hf_read: { user: 'me' } } })
})
afterEach(() => hub.stop())

const shared = (accessToken = WRITER) => ({ hubUrl: hub.endpoint, accessToken })
const repo = { type: 'model' as const, name: 'me/model' }
const status = async (work: Promise<unknown>) => {
  const error = await work.then(() => null, (e: unknown) => e)
  return error instanceof HubApiError ? [error.statusCode, (error.data as { error?: string }).error] : error
}
const post = (path: string, body: string, headers: Record<string, string> = { Authorization: `Bearer ${WRITER}` }) => fetch(hub.endpoint + path, { method: 'POST', body, headers })
const lines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n')
const HEADER = { key: 'header', value: { summary: 'A change' } }

describe('a commit', () => {
  it('changes what it names and keeps the rest; the old one stays reachable', async () => {
    const before = hub.sha('me/model')
    const weights = new Blob([Uint8Array.from({ length: 999 }, (_, i) => i & 255)])
    const { commit: made } = (await uploadFiles({ ...shared(), repo, useXet: false, files: [{ path: 'a.safetensors', content: weights }, { path: 'b.txt', content: new Blob(['b']) }] })) ?? {}
    expect(made?.oid).toBe(hub.sha('me/model'))
    expect(Object.keys(await hub.contents('me/model')).sort()).toEqual(['README.md', 'a.safetensors', 'b.txt'])
    expect(Object.keys(await hub.contents('me/model', before))).toEqual(['README.md'])
    await commit({ ...shared(), repo, title: 'Away', operations: [{ operation: 'delete', path: 'b.txt' }] })
    expect(Object.keys(await hub.contents('me/model')).sort()).toEqual(['README.md', 'a.safetensors'])
  })

  it('on top of another one than it says is refused with 412', async () => {
    const operations = [{ operation: 'addOrUpdate' as const, path: 'x.txt', content: new Blob(['x']) }]
    expect(await status(commit({ ...shared(), repo, title: 'x', operations, parentCommit: 'f'.repeat(40) }))).toEqual([412, 'A commit has happened since. Please refresh and try again.'])
    await commit({ ...shared(), repo, title: 'x', operations, parentCommit: hub.sha('me/model') })
  })

  it.each([
    ['without a header', lines({ key: 'deletedFile', value: { path: 'README.md' } })],
    ['with an unknown line', lines(HEADER, { key: 'move', value: {} })],
    ['with an LFS file that nobody uploaded', lines(HEADER, { key: 'lfsFile', value: { path: 'a.bin', algo: 'sha256', oid: 'a'.repeat(64), size: 3 } })],
  ])('%s is refused whole', async (_, body) => {
    const before = hub.sha('me/model')
    expect((await post('/api/models/me/model/commit/main', body)).status).toBe(400)
    expect(hub.sha('me/model')).toBe(before)
  })

  it('needs a token that may write, or becomes a pull request', async () => {
    const operations = [{ operation: 'addOrUpdate' as const, path: 'x.txt', content: new Blob(['x']) }]
    expect(await status(commit({ ...shared('hf_read'), repo, title: 'x', operations }))).toEqual([403, 'Forbidden: pass `create_pr=1` as a query parameter to create a Pull Request'])
    expect((await post('/api/models/me/model/commit/main', lines(HEADER), {})).status).toBe(401)
    const made = await commit({ ...shared(), repo, title: 'x', operations, isPullRequest: true })
    expect(made?.pullRequestUrl).toBe(`${hub.endpoint}/me/model/discussions/1`)
    expect(Object.keys(await hub.contents('me/model'))).toEqual(['README.md'])
  })
})

describe('repositories and accounts', () => {
  it('are made once, in namespaces of the account', async () => {
    expect(await createRepo({ ...shared(), repo: { type: 'dataset', name: 'team/data' }, visibility: 'private' })).toEqual({ repoUrl: `${hub.endpoint}/datasets/team/data`, id: 'team/data' })
    expect(await status(createRepo({ ...shared(), repo }))).toEqual([409, 'You already created this model repo'])
    expect(await status(createRepo({ ...shared(), repo: { type: 'model', name: 'you/x' } }))).toEqual([403, `You don't have the rights to create a model under the namespace "you"`])
    expect(hub.repo('datasets/team/data').private).toBe(true)
    expect((await fetch(`${hub.endpoint}/api/datasets/team/data`)).status).toBe(401)
    expect(await (await fetch(`${hub.endpoint}/api/datasets/team/data`, { headers: { Authorization: `Bearer ${WRITER}` } })).json()).toMatchObject({ id: 'team/data', private: true })
  })

  it('say who a token belongs to', async () => {
    expect(await whoAmI(shared('hf_read'))).toMatchObject({ type: 'user', name: 'me', auth: { accessToken: { role: 'read' } } })
    expect(await status(whoAmI(shared('hf_nobody')))).toEqual([401, 'Invalid username or password.'])
  })
})

describe('LFS', () => {
  const content = 'twelve bytes'
  const oid = createHash('sha256').update(content).digest('hex')
  const batch = async () => {
    const answer = await post('/me/model.git/info/lfs/objects/batch', JSON.stringify({ operation: 'upload', transfers: ['basic'], objects: [{ oid, size: 12 }] }))
    return ((await answer.json()) as { objects: { actions?: { upload: { href: string }; verify: { href: string } } }[] }).objects[0]
  }
  const verify = async () => (await post('/me/model.git/info/lfs/verify', JSON.stringify({ oid, size: 12 }))).status

  it('takes an object at its signed address once, and verifies it', async () => {
    const { upload } = (await batch())?.actions ?? { upload: { href: '' } }
    expect(upload.href.startsWith(hub.cdn)).toBe(true)
    expect(await verify()).toBe(404)
    expect((await fetch(upload.href.replace(/Signature=.*/, 'Signature=0'), { method: 'PUT', body: content })).status).toBe(403)
    expect((await fetch(upload.href, { method: 'PUT', body: content, headers: { Authorization: `Bearer ${WRITER}` } })).status).toBe(400)
    expect((await fetch(upload.href, { method: 'PUT', body: content })).status).toBe(200)
    expect(await verify()).toBe(200)
    expect((await batch())?.actions).toBeUndefined()
  })

  it('answers the preflight of a browser for uploads alone', async () => {
    const { upload } = (await batch())?.actions ?? { upload: { href: '' } }
    const preflight = (url: string) => fetch(url, { method: 'OPTIONS', headers: { Origin: 'http://page', 'Access-Control-Request-Method': 'PUT', 'Access-Control-Request-Headers': 'x-request-id' } })
    const answer = await preflight(upload.href)
    expect([answer.status, answer.headers.get('access-control-allow-methods'), answer.headers.get('access-control-allow-headers')]).toEqual([204, 'PUT', 'x-request-id'])
    expect((await preflight(`${hub.cdn}/xet-bridge-us/x`)).status).toBe(403)
  })
})
