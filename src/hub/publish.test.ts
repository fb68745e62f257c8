/** Publishing against a local Hub: what arrives, what is told, what is tried again; and that a refusal changes nothing there. */

import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { startHub, type Hub, type TokenInput } from '../../e2e/hub/server'
import { describeError, isLasting, PlaygroundError } from '../core/errors'
import { RepositoryExists } from './publish-errors'
import { ADAPTER_FILES, publishing, type Trial } from './testing/publishing'

const WRITE = 'hf_writeSECRETtoken'
const TOKENS: Record<string, TokenInput> = {
  [WRITE]: { user: 'me', orgs: ['team'], role: 'write' },
  hf_read: { user: 'me', role: 'read' },
  hf_mine: { user: 'me', role: 'fineGrained', scoped: [{ entity: { type: 'user', name: 'me' }, permissions: ['repo.content.read', 'repo.write'] }] },
  hf_one: { user: 'me', role: 'fineGrained', scoped: [{ entity: { type: 'model', name: 'me/old' }, permissions: ['repo.content.read', 'repo.write'] }] },
  hf_other: { user: 'me', role: 'fineGrained', scoped: [{ entity: { type: 'org', name: 'team' }, permissions: ['repo.write'] }] },
  hf_talk: { user: 'me', role: 'fineGrained', global: ['discussion.write'], scoped: [] },
  hf_oauth_contributor: { user: 'me', role: 'oauth', scopes: ['openid', 'profile', 'contribute-repos'], created: new Set() },
  hf_oauth_profile: { user: 'me', role: 'oauth', scopes: ['openid', 'profile'] },
}
const OLD = { 'README.md': 'old', 'config.json': '{}' }

let hub: Hub
let foreign: Hub | null = null
beforeEach(async () => {
  hub = await startHub({ repos: { 'me/old': { files: OLD, private: true }, 'me/open': { files: OLD }, 'you/model': { files: OLD } }, tokens: TOKENS, pageSize: 3 })
})
afterEach(async () => {
  await hub.stop()
  await foreign?.stop()
  foreign = null
})

const start = (more: Parameters<typeof publishing>[2] = {}, token: string | null = WRITE): Trial => publishing(hub.endpoint, token, more)
const failure = async (trial: Trial): Promise<PlaygroundError> => {
  const error = await trial.done.then(() => { throw new Error('it worked') }, (e: unknown) => e)
  expect(error).toBeInstanceOf(PlaygroundError)
  return error as PlaygroundError
}
const bytesOf = ({ content }: (typeof ADAPTER_FILES)[number]) => (typeof content === 'string' ? new TextEncoder().encode(content) : content)
/** All files are there, and nothing else but what was before. */
async function expectArrived(repo = 'me/lora', revision = 'main'): Promise<void> {
  const there = await hub.contents(repo, revision)
  for (const file of ADAPTER_FILES) expect(Buffer.from(there[file.path] ?? [])).toEqual(Buffer.from(bytesOf(file) as Uint8Array))
}
/** No commit of ours, in whatever repository. */
function expectNoCommit(): void {
  for (const id of hub.repos()) expect(hub.repo(id).titles).toEqual([])
}
const stages = ({ told }: Trial) => told.progress.map(({ stage }) => stage)
const asked = (method: string, part: string) => hub.requests.filter((request) => request.method === method && request.path.includes(part))

describe('what arrives', () => {
  it('is every file as it was, in one commit of a private repository, read back and compared', async () => {
    const trial = start()
    expect(await trial.done).toEqual({ url: `${hub.endpoint}/me/lora`, commit: hub.sha('me/lora'), verified: true })
    await expectArrived()
    expect(hub.repo('me/lora')).toMatchObject({ private: true, titles: ['A trained LoRA'] })
    expect(stages(trial).filter((stage, i, all) => stage !== all[i - 1])).toEqual(['checking', 'preparing', 'uploading', 'committing', 'verifying'])
    const total = ADAPTER_FILES.reduce((sum, file) => sum + (bytesOf(file) as Uint8Array).length, 0)
    expect(trial.told.progress.filter(({ stage }) => stage === 'uploading').at(-1)).toEqual({ stage: 'uploading', done: 20_000, total })
    expect(asked('POST', 'objects/batch').map(({ transfers }) => transfers)).toEqual([['basic', 'multipart']])
    expect(trial.told.waits).toEqual([])
  })

  it('goes into a repository that exists, whose other files stay', async () => {
    await start({ repo: { type: 'model', name: 'me/old' }, into: 'existing' }).done
    await expectArrived('me/old')
    expect(Object.keys(await hub.contents('me/old')).sort()).toEqual(['README.md', 'adapter_config.json', 'adapter_model.safetensors', 'config.json'])
    expect(asked('POST', 'repos/create')).toEqual([])
  })

  it('is a dataset where it should be one', async () => {
    const { url } = await start({ repo: { type: 'dataset', name: 'team/rollouts' }, private: false }).done
    expect(url).toBe(`${hub.endpoint}/datasets/team/rollouts`)
    await expectArrived('datasets/team/rollouts')
    expect(hub.repo('datasets/team/rollouts').private).toBe(false)
  })

  it('is a pull request to a repository of others, whose main stays as it was', async () => {
    const before = hub.sha('you/model')
    const { pullRequestUrl, commit, verified } = await start({ repo: { type: 'model', name: 'you/model' }, asPullRequest: true }).done
    expect({ pullRequestUrl, verified }).toEqual({ pullRequestUrl: `${hub.endpoint}/you/model/discussions/1`, verified: true })
    expect([hub.sha('you/model'), hub.sha('you/model', 'refs/pr/1')]).toEqual([before, commit])
    await expectArrived('you/model', 'refs/pr/1')
  })

  it('goes with a fine-grained token for one repository, which may not create it', async () => {
    await start({ repo: { type: 'model', name: 'me/old' }, into: 'existing' }, 'hf_one').done
    await expectArrived('me/old')
  })

  it('goes into an empty repository as into a new one: an earlier try may have made it', async () => {
    hub.fault({ kind: 'status', status: 403, on: '/commit/' })
    await failure(start())
    expect(hub.repo('me/lora').titles).toEqual([])
    expect(await start().done).toMatchObject({ verified: true })
    await expectArrived()
  })

  it('is not an adapter beside a whole model, nor the other way round', async () => {
    const whole = [{ path: 'model.safetensors', content: 'w' }, { path: 'config.json', content: '{}' }]
    await start({ repo: { type: 'model', name: 'me/whole' }, files: whole }).done
    await start().done
    const [first, second] = [hub.sha('me/whole'), hub.sha('me/lora')]
    for (const more of [{ into: 'existing' as const }, { asPullRequest: true }]) {
      const beside = await failure(start({ repo: { type: 'model', name: 'me/whole' }, ...more }))
      expect(describeError(beside)).toMatch(/me\/whole holds a whole model, and a LoRA adapter beside it.*another name.*Nothing is lost/)
      expect(describeError(await failure(start({ files: whole, ...more })))).toMatch(/me\/lora holds a LoRA adapter, which would be loaded on top of the merged model/)
    }
    expect([hub.sha('me/whole'), hub.sha('me/lora')]).toEqual([first, second])
    expect(await start({ repo: { type: 'model', name: 'me/whole' }, files: whole, into: 'existing' }).done).toMatchObject({ verified: true })
  })

  it('goes again: a second publication of the same needs no bytes a second time', async () => {
    await start().done
    const first = hub.sha('me/lora')
    expect(await start({ into: 'existing' }).done).toMatchObject({ commit: first, verified: true })
    expect(asked('PUT', 'uploads')).toHaveLength(1)
  })

  it('goes with the least that signing in asks for, into what it made itself', async () => {
    await start({}, 'hf_oauth_contributor').done
    await start({ into: 'existing' }, 'hf_oauth_contributor').done
    await expectArrived()
  })
})

describe('who may not', () => {
  it.each<[string, string | null, Parameters<typeof publishing>[2], RegExp]>([
    ['nobody', null, {}, /Nobody is signed in.*paste a token with write access/],
    ['what is no token', 'secret', {}, /does not start with hf_/],
    ['a token that the Hub does not know (401)', 'hf_unknown', {}, /does not accept the token \(401\): it has expired.*Sign in again/],
    ['a token that may only read', 'hf_read', {}, /token of me may only read: its role is “read”.*role write/],
    ['a fine-grained token for another namespace', 'hf_other', {}, /token of me lacks the permission repo\.write for me\..*tick “Write access/],
    ['a fine-grained token without discussions', 'hf_other', { repo: { type: 'model', name: 'you/model' }, asPullRequest: true }, /lacks the permission discussion\.write for you\/model/],
    ['a foreign namespace', WRITE, { repo: { type: 'model', name: 'you/lora' } }, /account me may not write under “you”\. Write to one of: me, team\./],
    ['an OAuth token without the scope (403)', 'hf_oauth_profile', {}, /of me may not create repositories under me \(403\) \(“You don't have the rights.*contribute-repos/],
    ['an OAuth token for a repository made elsewhere (403)', 'hf_oauth_contributor', { repo: { type: 'model', name: 'me/old' }, into: 'existing' }, /may not write to me\/old \(403\).*write-repos/],
    ['an OAuth token for a pull request (403)', 'hf_oauth_contributor', { repo: { type: 'model', name: 'you/model' }, asPullRequest: true }, /pull request to you\/model \(403\).*write-discussions.*large files/],
    ['a pull request to nothing', WRITE, { repo: { type: 'model', name: 'you/none' }, asPullRequest: true }, /The Hub has no model you\/none/],
    ['a new one where there is none but an old one', WRITE, { repo: { type: 'model', name: 'me/old' } }, /me\/old exists already and is not empty, but you asked for a new repository\. To replace its files/],
    ['an existing one that is not there', WRITE, { into: 'existing' }, /The Hub has no model me\/lora that this token may see\. Check the name, or publish into a new/],
    ['what everybody could read', WRITE, { repo: { type: 'model', name: 'me/open' } }, /me\/open exists already and everybody can read it/],
  ])('%s is told so, once, and nothing changes', async (_, token, more, sentence) => {
    const trial = start(more, token)
    const error = await failure(trial)
    expect(describeError(error)).toMatch(sentence)
    expect(error.kind === 'config' || error.advice.includes('Nothing is lost')).toBe(true)
    expect(error.kind === 'config' || isLasting(error)).toBe(true)
    expect(trial.told.waits).toEqual([])
    expectNoCommit()
  })

  it('a new repository that exists is told apart from all else, so that it can be updated', async () => {
    expect(await failure(start({ repo: { type: 'model', name: 'me/old' } }))).toBeInstanceOf(RepositoryExists)
    expect(await failure(start({ into: 'existing' }))).not.toBeInstanceOf(RepositoryExists)
    expect(hub.repos()).not.toContain('me/lora')
  })

  it('large files in a foreign pull request may be refused, and it says so', async () => {
    foreign = await startHub({ repos: { 'you/model': { files: OLD } }, tokens: TOKENS, refusesForeignLfs: true })
    const trial = publishing(foreign.endpoint, 'hf_talk', { repo: { type: 'model', name: 'you/model' }, asPullRequest: true })
    expect(describeError(await failure(trial))).toMatch(/pull request to you\/model \(403\).*may refuse large files.*repository of your own/)
    const text = publishing(foreign.endpoint, 'hf_talk', { repo: { type: 'model', name: 'you/model' }, asPullRequest: true, files: ADAPTER_FILES.slice(0, 2) })
    expect(await text.done).toMatchObject({ verified: true })
  })

  it.each([
    [{ repo: { type: 'model' as const, name: 'lora' } }, /'lora' is no name/],
    [{ files: [] }, /no files/],
    [{ title: ' ' }, /no title/],
    [{ files: [{ path: '../x', content: '' }] }, /'\.\.\/x' is no path/],
    [{ files: [{ path: 'a', content: '' }, { path: 'a', content: '' }] }, /'a' is no path/],
  ])('%# is refused before anything is asked', async (more, sentence) => {
    expect((await failure(start(more))).message).toMatch(sentence)
    expect(hub.requests).toEqual([])
  })
})

describe('what is tried again', () => {
  async function expectOneCommit(trial: Trial, waits: number[], reason: string): Promise<void> {
    expect(await trial.done).toMatchObject({ verified: true })
    expect(trial.told.waits).toEqual(waits)
    expect(trial.told.progress).toContainEqual({ stage: 'waiting', seconds: waits[0], reason })
    await expectArrived()
    expect(hub.repo('me/lora').titles).toHaveLength(1)
  }

  it.each<[string, Parameters<Hub['fault']>[0], number[], string]>([
    ['429 with Retry-After', { kind: 'status', status: 429, retryAfter: 7, on: 'whoami' }, [7], 'the Hub asks to wait (429)'],
    ['429 of the upload', { kind: 'status', status: 429, on: 'preupload', times: 2 }, [2.5, 5], 'the Hub asks to wait (429)'],
    ['503 of the account', { kind: 'status', status: 503, on: 'whoami', times: 2 }, [0.25, 0.5], 'the Hub answered 503'],
    ['a creation beside another', { kind: 'status', status: 409, on: 'repos/create', message: 'Cannot create repo: another conflicting operation is in progress' }, [0.25], 'the repository is being changed (409)'],
    ['the lock of a commit (409)', { kind: 'status', status: 409, on: '/commit/', times: 3 }, [0.25, 0.5, 1], 'the repository is being changed (409)'],
    ['another commit (412)', { kind: 'status', status: 412, on: '/commit/' }, [0.25], 'the repository is being changed (412)'],
    ['a connection dropped in the middle of a file', { kind: 'drop', afterBytes: 5000, on: 'uploads' }, [0.25], 'the connection broke'],
    ['a connection dropped before the commit', { kind: 'drop', afterBytes: 0, on: '/commit/' }, [0.25], 'the connection broke'],
    ['503 of the storage', { kind: 'status', status: 503, on: 'uploads' }, [0.25], 'the Hub answered 503'],
  ])('%s: one commit in the end', async (_, fault, waits, reason) => {
    hub.fault(fault)
    await expectOneCommit(start(), waits, reason)
  })

  it('a storage that goes silent: one commit in the end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      hub.fault({ kind: 'stall', afterBytes: 100, on: 'uploads' })
      const trial = start({ stallMs: 60_000 })
      // Time passes only while the storage is silent: on a busy machine every other request may take longer than any patience.
      while (trial.told.waits.length === 0) {
        await turn()
        if (trial.told.waits.length === 0 && asked('PUT', 'uploads').length > 0) vi.advanceTimersByTime(60_000)
      }
      await expectOneCommit(trial, [0.25], 'nothing came for 60 s')
    } finally {
      vi.useRealTimers()
    }
  })

  it('a commit whose answer was lost is found, not made twice', async () => {
    hub.fault({ kind: 'lost-answer', on: '/commit/' })
    expect(await start().done).toEqual({ url: `${hub.endpoint}/me/lora`, commit: hub.sha('me/lora'), verified: true })
    expect(hub.repo('me/lora').titles).toHaveLength(1)
  })

  it('a pull request whose answer was lost is not opened twice', async () => {
    hub.fault({ kind: 'lost-answer', on: '/commit/' })
    const error = await failure(start({ repo: { type: 'model', name: 'you/model' }, asPullRequest: true }))
    expect(describeError(error)).toMatch(/not known whether it is there\. Look at .*you\/model\/discussions first/)
    expect(hub.repo('you/model').pullRequests).toBe(1)
  })

  it('a token that was renewed meanwhile counts', async () => {
    hub.fault({ kind: 'status', status: 503, on: 'whoami' })
    let token = 'hf_expired'
    const trial = start({ token: () => token, sleep: async () => void (token = WRITE) })
    expect(await trial.done).toMatchObject({ verified: true })
  })

  it('a refused place for large files is gone round once, by Xet', async () => {
    hub.fault({ kind: 'status', status: 403, on: 'uploads' })
    await start().done
    expect(asked('POST', 'objects/batch').map(({ transfers }) => transfers?.includes('xet'))).toEqual([false, true])
    await expectArrived()
  })
})

describe('what does not work in the end', () => {
  it.each<[string, Parameters<Hub['fault']>[0], RegExp, boolean]>([
    ['409', { kind: 'status', status: 409, on: '/commit/', times: 99 }, /busy with another change of me\/lora \(409\), tried 5 times/, true],
    ['412', { kind: 'status', status: 412, on: '/commit/', times: 99 }, /Somebody else changed me\/lora.*\(412\), tried 5 times/, true],
    ['413', { kind: 'status', status: 413, on: '/commit/', times: 99 }, /refuses files of this size for me\/lora \(413\)/, false],
    ['429', { kind: 'status', status: 429, on: '/commit/', times: 99 }, /refuses more requests.*\(429\), tried 5 times.*Wait a few minutes/, true],
    ['500', { kind: 'status', status: 500, on: 'preupload', times: 99 }, /fault of its own \(500\) while uploading to me\/lora, tried 5 times/, true],
    ['401 in the middle', { kind: 'status', status: 401, on: '/commit/', times: 99 }, /does not accept the token \(401\)/, false],
    ['403 in the middle', { kind: 'status', status: 403, on: '/commit/', times: 99 }, /may not write to me\/lora \(403\)/, false],
    ['dropped connections', { kind: 'drop', afterBytes: 10, on: 'uploads', times: 99 }, /connection to 127\.0\.0\.1:\d+ broke while uploading to me\/lora, tried 6 times/, true],
  ])('%s: a sentence, a next step, no commit', async (_, fault, sentence, passing) => {
    hub.fault(fault)
    const error = await failure(start())
    expect(describeError(error)).toMatch(sentence)
    expect(error.advice).toMatch(/Nothing is lost: the files stay here, and can be downloaded as a zip/)
    expect(isLasting(error)).toBe(!passing)
    expectNoCommit()
    // The same files again, and it works: nothing was used up.
    hub.clearFaults()
    expect(await start().done).toMatchObject({ verified: true })
    await expectArrived()
  })

  it('a Hub that is not there', async () => {
    await hub.stop()
    const trial = start({ maxTries: 2 })
    expect(describeError(await failure(trial))).toMatch(/connection to 127\.0\.0\.1:\d+ broke while asking about me\/lora, tried 2 times\. Check the connection, and whether a blocker/)
    expect(trial.told.waits).toEqual([0.25])
  })

  it.each([
    ['a large file', { kind: 'tamper', byte: 9, on: 'uploads' }, /adapter_model\.safetensors arrived damaged in me\/lora/],
    ['a small file', { kind: 'tamper', byte: 0, on: 'README.md' }, /README\.md arrived damaged in me\/lora/],
  ] as const)('other bytes of %s are found by their hash', async (_, fault, sentence) => {
    hub.fault(fault)
    const error = await failure(start())
    expect(describeError(error)).toMatch(sentence)
    expect(error.advice).toContain('Nothing is lost')
  })

  it('a check that cannot be made says that it was not made', async () => {
    hub.fault({ kind: 'status', status: 503, on: '/tree/', times: 99 })
    expect(await start().done).toMatchObject({ verified: false })
    await expectArrived()
  })
})

describe('a person who stops it', () => {
  it.each(['checking', 'preparing', 'uploading', 'committing'] as const)('while %s: no half commit', async (stage) => {
    hub.fault({ kind: 'slow', bytesPerSecond: 200_000, on: 'uploads' })
    const stop = new AbortController()
    const error = await failure(start({ signal: stop.signal, onProgress: (progress) => progress.stage === stage && stop.abort() }))
    expect(error.kind).toBe('stopped')
    expect(error.message).toMatch(stage === 'committing' ? /while the Hub was making the commit/ : /nothing of it is on the Hub/)
    if (stage !== 'committing') expectNoCommit()
    hub.clearFaults()
    expect(await start().done).toMatchObject({ verified: true })
    await expectArrived()
  })

  it('also in a pause', async () => {
    hub.fault({ kind: 'status', status: 429, on: 'whoami' })
    const stop = new AbortController()
    const error = await failure(start({ signal: stop.signal, sleep: async () => stop.abort() }))
    expect(error.kind).toBe('stopped')
    expect(hub.requests).toHaveLength(1)
  })
})

it('shows the token to nobody but the Hub: no address, no storage, no log, no error, no progress', async () => {
  const lines: string[] = []
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const) vi.spyOn(console, method).mockImplementation((...args: unknown[]) => void lines.push(args.map(String).join(' ')))
  const seen: unknown[] = []
  const faults: Parameters<Hub['fault']>[0][] = [{ kind: 'drop', afterBytes: 10, on: 'uploads', times: 99 }]
  faults.push(...[401, 403, 404, 409, 412, 413, 429, 500].map((status) => ({ kind: 'status', status: status as 401, on: '/commit/', times: 99, message: `refused ${WRITE}` }) as const))
  faults.push({ kind: 'tamper', byte: 0, on: 'README.md' })
  for (const fault of faults) {
    hub.fault(fault)
    const trial = start()
    const error = await failure(trial)
    seen.push(trial.told, error.message, error.advice, error.stack, error.cause, JSON.stringify(error, Object.getOwnPropertyNames(error)))
    hub.clearFaults()
  }
  vi.restoreAllMocks()
  const contents = await Promise.all(hub.repos().map(async (id) => Object.values(await hub.contents(id)).map((bytes) => Buffer.from(bytes).toString('latin1'))))
  const everything = JSON.stringify([seen, lines, contents, hub.requests.map(({ url }) => url)])
  expect(everything).not.toContain('SECRET')
  expect(everything).toContain('hf_…')
  expect(hub.requests.filter(({ at, authorization }) => at === 'cdn' && authorization)).toEqual([])
})
