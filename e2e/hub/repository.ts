/** Repositories of the local Hub: their commits, who may read them, and the Hub's refusals. */

import { mayRead, tokenOf, type TokenInput } from './accounts'
import { commitId, hubFile, type FileInput, type HubFile } from './files'

export type RepoFiles = Record<string, FileInput>

export interface RepoInput {
  /** Files of the branch main. */
  files: RepoFiles
  /** More branches and tags. */
  revisions?: Record<string, RepoFiles>
  private?: boolean
  gated?: false | 'auto' | 'manual'
}

/** A refusal as the Hub words it. `code` goes out as X-Error-Code. */
export interface Refusal {
  status: number
  code: string | null
  message: string
}

export class Repository {
  readonly private: boolean
  readonly gated: false | 'auto' | 'manual'
  /** Branch or tag → commit. */
  readonly heads = new Map<string, string>()
  /** Titles of the commits that came over the API, in order. */
  readonly titles: string[] = []
  pullRequests = 0
  private readonly commits = new Map<string, Map<string, HubFile>>()

  constructor(
    /** 'owner/name'; of a dataset 'datasets/owner/name'. */
    readonly id: string,
    input: Pick<RepoInput, 'private' | 'gated'>,
  ) {
    this.private = input.private ?? false
    this.gated = input.gated ?? false
  }

  /** Makes these files the head of a branch; older commits stay. Returns the commit. */
  async commit(files: RepoFiles, branch = 'main'): Promise<string> {
    const made = Object.entries(files).map(([path, input]) => hubFile(path, input))
    const sha = await commitId(this.id, made)
    this.commits.set(sha, new Map(made.map((file) => [file.path, file])))
    this.heads.set(branch, sha)
    return sha
  }

  /** Puts a commit on top of `from`: what it does not name stays. Returns the commit. */
  async change(changes: RepoFiles, deleted: readonly string[], from: string, to: string, title: string): Promise<string> {
    const kept = [...this.files(this.sha(from) ?? '').values()].filter(({ path }) => !(path in changes) && !deleted.includes(path))
    const sha = await this.commit({ ...Object.fromEntries(kept.map((file) => [file.path, file])), ...changes }, to)
    this.titles.push(title)
    if (to.startsWith('refs/pr/')) this.pullRequests++
    return sha
  }

  /** The commit of a branch, a tag, HEAD or a full commit id; null when there is none. */
  sha(revision: string): string | null {
    const sha = this.heads.get(revision === 'HEAD' ? 'main' : revision) ?? revision
    return this.commits.has(sha) ? sha : null
  }

  files(sha: string): ReadonlyMap<string, HubFile> {
    return this.commits.get(sha) ?? new Map<string, HubFile>()
  }
}

const NOT_FOUND: Omit<Refusal, 'status'> = { code: 'RepoNotFound', message: 'Repository not found' }

/** Why a request may not go on, or the repository. `content`: file contents are wanted, which gated repositories keep back. */
export function admit(
  repos: ReadonlyMap<string, Repository>,
  tokens: Readonly<Record<string, TokenInput>>,
  id: string,
  authorization: string | undefined,
  content: boolean,
): Repository | Refusal {
  const token = tokenOf(tokens, authorization)
  if (token === 'invalid') return { status: 401, code: null, message: 'Invalid credentials in Authorization header' }
  const repo = repos.get(id)
  // The Hub does not tell a stranger whether a repository is missing or private.
  if (!repo || (repo.private && !mayRead(token, id))) return { status: token ? 404 : 401, ...NOT_FOUND }
  if (!repo.gated || !content) return repo
  const restricted = `Access to model ${id} is restricted`
  if (!token) return { status: 401, code: 'GatedRepo', message: `${restricted}. You must have access to it and be authenticated to access it. Please log in.` }
  if (token.noGatedScope) {
    const message = 'Please enable access to public gated repositories in your fine-grained token settings to view this repository.'
    return { status: 403, code: null, message }
  }
  if (!token.accepted?.includes(id)) {
    const message = `${restricted} and you are not in the authorized list. Visit https://huggingface.co/${id} to ask for access.`
    return { status: 403, code: 'GatedRepo', message }
  }
  return repo
}
