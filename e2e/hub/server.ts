/** A local server that speaks the Hugging Face Hub's API, reading, writing and signing in: an endpoint, and a second origin for LFS files. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { answerCdn } from './cdn'
import { answerHub } from './endpoint'
import { Faults, type Fault } from './faults'
import { address, close, listen } from './listen'
import type { TokenInput } from './accounts'
import { OAuthDesk, type OAuthApp } from './oauth'
import { Repository, type RepoFiles, type RepoInput } from './repository'

export { folderFiles, type FileInput, type GeneratedFile } from './files'
export type { Fault, OAuthApp, RepoFiles, RepoInput, TokenInput }

export interface HubOptions {
  /** By 'owner/name'. */
  repos: Record<string, RepoInput>
  /** By the token itself. */
  tokens?: Record<string, TokenInput>
  /** Applications that may sign people in, by client id. */
  oauth?: Record<string, OAuthApp>
  /** Pull requests with LFS files are refused in repositories that the token may not write. */
  refusesForeignLfs?: boolean
  /** Entries of a file listing per page; the Hub's 1000. */
  pageSize?: number
  /** How long a signed CDN address holds; the Hub's hour. */
  signedUrlSeconds?: number
}

/** One request that arrived, preflights included. */
export interface HubRequest {
  at: 'hub' | 'cdn'
  method: string
  /** Without the query. */
  path: string
  /** As it was asked for, with the query. */
  url: string
  /** The repository's file that it is about, if any. */
  file: string | null
  range: string | null
  /** Whether Authorization was sent. */
  authorization: boolean
  origin: string | null
  /** What an LFS batch offered. */
  transfers?: string[]
  /** 0 while unanswered. */
  status: number
}

export interface Hub {
  /** Give this to HubClient. */
  endpoint: string
  cdn: string
  requests: HubRequest[]
  fault(fault: Fault): void
  clearFaults(): void
  /** A new commit on a branch; the old one stays reachable by its id. Returns the new id. */
  commit(repo: string, files: RepoFiles, branch?: string): Promise<string>
  /** The commit that a branch is at. Throws where there is none. */
  sha(repo: string, revision?: string): string
  /** Drops every LFS file that was uploaded, so that the next upload sends its bytes. */
  forgetUploads(): void
  /** Ids of all repositories; those of datasets begin with datasets/. */
  repos(): string[]
  /** A repository as it is stored. Throws where there is none. */
  repo(repo: string): Repository
  /** The bytes of every file at a revision, by path. */
  contents(repo: string, revision?: string): Promise<Record<string, Uint8Array>>
  stop(): Promise<void>
}

/** What the two origins share. */
export interface HubState {
  repos: Map<string, Repository>
  tokens: Record<string, TokenInput>
  oauth: OAuthDesk
  refusesForeignLfs: boolean
  /** LFS files that were uploaded, by the sha256 that was announced. */
  objects: Map<string, Uint8Array>
  faults: Faults
  pageSize: number
  signedUrlSeconds: number
  endpoint: string
  cdn: string
}

/** Starts both origins on free ports of 127.0.0.1. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { repos, tokens = {}, oauth = {}, refusesForeignLfs = false, pageSize = 1000, signedUrlSeconds = 3600 } = options
  const made = { repos: new Map<string, Repository>(), objects: new Map<string, Uint8Array>(), faults: new Faults(), oauth: new OAuthDesk(oauth) }
  const state: HubState = { ...made, tokens: { ...tokens }, refusesForeignLfs, pageSize, signedUrlSeconds, endpoint: '', cdn: '' }
  for (const [id, input] of Object.entries(repos)) {
    const repo = new Repository(id, input)
    for (const [revision, files] of Object.entries(input.revisions ?? {})) await repo.commit(files, revision)
    await repo.commit(input.files)
    state.repos.set(id, repo)
  }
  const requests: HubRequest[] = []
  const hub = await listen(recorded('hub', requests, (record, request, response) => answerHub(state, record, request, response)))
  const cdn = await listen(recorded('cdn', requests, (record, request, response) => answerCdn(state, record, request, response)))
  state.endpoint = `http://${address(hub)}`
  state.cdn = `http://${address(cdn)}`
  const find = (id: string): Repository => {
    const repo = state.repos.get(id)
    if (!repo) throw new Error(`the local Hub has no ${id}`)
    return repo
  }
  return {
    endpoint: state.endpoint,
    cdn: state.cdn,
    requests,
    fault: (fault) => state.faults.add(fault),
    clearFaults: () => state.faults.clear(),
    commit: (id, files, branch) => find(id).commit(files, branch),
    sha: (id, revision = 'main') => {
      const sha = find(id).sha(revision)
      if (sha === null) throw new Error(`${id} has no revision ${revision}`)
      return sha
    },
    forgetUploads: () => state.objects.clear(),
    repos: () => [...state.repos.keys()],
    repo: find,
    contents: async (id, revision = 'main') => {
      const files = [...find(id).files(find(id).sha(revision) ?? '')]
      return Object.fromEntries(await Promise.all(files.map(async ([path, file]) => [path, await file.read(0, file.size)] as const)))
    },
    stop: async () => {
      await Promise.all([hub, cdn].map(close))
    },
  }
}

type Answer = (record: HubRequest, request: IncomingMessage, response: ServerResponse) => Promise<void>

function recorded(at: 'hub' | 'cdn', requests: HubRequest[], answer: Answer): Server {
  return createServer((request, response) => {
    const path = decodePath(new URL(request.url ?? '/', 'http://hub').pathname)
    const { range, authorization, origin } = request.headers
    const record: HubRequest = {
      at,
      method: request.method ?? '',
      path,
      url: request.url ?? '',
      file: null,
      range: range ?? null,
      authorization: authorization !== undefined,
      origin: origin ?? null,
      status: 0,
    }
    requests.push(record)
    answer(record, request, response)
      .catch((error: unknown) => {
        if (response.headersSent) response.destroy()
        else response.writeHead(500).end(String(error))
      })
      .finally(() => (record.status = response.statusCode))
    // The status is known when the headers are out, which may be long before a slow body ends.
    const writeHead = response.writeHead.bind(response) as (...args: unknown[]) => ServerResponse
    response.writeHead = ((status: number, ...rest: unknown[]) => {
      record.status = status
      return writeHead(status, ...rest)
    })
  })
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
