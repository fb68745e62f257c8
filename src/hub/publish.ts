/** Puts files into a repository of the Hub as one commit or pull request, and reads back what arrived. */

import { PlaygroundError } from '../core/errors'
import type { ExportFile } from '../core/run-record'
import { isRepoId } from './model-reference'
import { missingAccess, readWhoAmI } from './publish-access'
import { PublishConnection, PublishFailure, type ConnectionOptions } from './publish-connection'
import { publishError, publishStopped, refusal, type PublishContext } from './publish-errors'
import { damaged, differingFiles, findOrCreate, lookAt, nowhere, refuseOtherKind, repoUrl, type TargetRepo } from './publish-repo'
import { uploadOnce, type UploadedCommit, type UploadFile } from './publish-upload'
import { isPassing } from './retry'
import type { HubFailure } from './sentences'

export type { PublishProgress } from './publish-connection'

export interface PublishOptions extends ConnectionOptions {
  repo: TargetRepo
  /** Stay with the caller whatever happens. */
  files: readonly ExportFile[]
  /** 'new': a repository that holds files is refused with RepositoryExists; 'existing': one that is not there is refused. Of pull requests always 'existing'. */
  into: 'new' | 'existing'
  /** Of a repository that is made now; one that exists and is public is refused where this is set. */
  private: boolean
  /** To a repository that exists, also of others. */
  asPullRequest: boolean
  /** Of the commit, not empty. */
  title: string
  description?: string
}

export interface Published {
  /** Of the repository. */
  url: string
  /** 40 hex digits. */
  commit: string
  pullRequestUrl?: string
  /** Size and hash of every file were read back and agree; false where the Hub could not be asked any more. */
  verified: boolean
}

/**
 * Checks the token, finds the repository or makes the new one that is asked for, uploads all files as one commit and compares size and hash of each
 * with what the Hub then has. Waits and tries again after 429, 5xx, broken connections, and 409 and 412 of a commit.
 *
 * @throws PlaygroundError 'config' for what cannot be published as it is, 'stopped' after an abort, else 'model';
 *   `recurrence` says whether the same again can work. No error holds the token.
 */
export async function publishFiles(options: PublishOptions): Promise<Published> {
  refuseBadInput(options)
  return new Publication(options).run()
}

class Publication {
  private readonly connection: PublishConnection
  private readonly files: readonly UploadFile[]
  private during: PublishContext['during'] = 'checking'
  private account: string | null = null

  constructor(private readonly options: PublishOptions) {
    this.connection = new PublishConnection(options, options.repo.name)
    this.files = options.files.map(({ path, content }) => ({ path, content: content instanceof Blob ? content : new Blob([content]) }))
  }

  async run(): Promise<Published> {
    try {
      return await this.publish()
    } catch (error) {
      if (!(error instanceof PublishFailure)) throw error
      throw publishError(error.failure, this.context(error.tries))
    }
  }

  private async publish(): Promise<Published> {
    const { repo, asPullRequest } = this.options
    this.connection.tell({ stage: 'checking' })
    const { whoAmI } = await import('@huggingface/hub')
    const who = await this.connection.ask(async (shared) => readWhoAmI(await whoAmI(shared)))
    this.account = who.name
    const missing = missingAccess(who, repo.name, asPullRequest)
    if (missing) throw missing
    const paths = this.files.map(({ path }) => path)
    if (asPullRequest) await this.findForPullRequest(paths)
    else await findOrCreate(this.connection, repo, { into: this.options.into, private: this.options.private, paths }, () => (this.during = 'creating'))
    const { oid, pullRequestUrl } = await this.upload()
    this.during = 'verifying'
    this.connection.tell({ stage: 'verifying' })
    const verified = await this.verify(oid)
    return { url: repoUrl(this.connection.endpoint, repo), commit: oid, ...(pullRequestUrl === undefined ? {} : { pullRequestUrl }), verified }
  }

  private async upload(): Promise<UploadedCommit> {
    const { connection, options } = this
    let useXet = false
    for (let tries = 1; ; tries++) {
      this.during = 'uploading'
      try {
        return await this.tryUpload(useXet)
      } catch (error) {
        const committing = this.isCommitting()
        if (connection.signal.aborted) throw publishStopped(options.repo.name, committing)
        if (!(error instanceof PublishFailure)) throw error
        const { failure, status } = error
        if (committing && (status === null || status >= 500)) {
          // The commit may be there although nobody said so: a second one would be a second pull request.
          if (options.asPullRequest) throw this.unheard()
          const arrived = await this.arrivedAt()
          if (arrived !== null) return { oid: arrived, pullRequestUrl: undefined }
        }
        const passing = status === null || isPassing(status) || status === 409 || status === 412
        if (passing && tries < connection.maxTries) await connection.wait(failure, tries)
        else if (!useXet && !committing && isStorageTrouble(failure, connection.endpoint)) useXet = true
        else throw new PublishFailure(failure, tries)
      }
    }
  }

  private tryUpload(useXet: boolean): Promise<UploadedCommit> {
    const { repo, title, description, asPullRequest } = this.options
    const total = this.files.reduce((sum, { content }) => sum + content.size, 0)
    return uploadOnce(this.connection, {
      repo,
      files: this.files,
      title,
      ...(description === undefined ? {} : { description }),
      asPullRequest,
      useXet,
      onPhase: (phase) => {
        if (phase === 'preuploading') this.connection.tell({ stage: 'preparing' })
        if (phase !== 'committing') return
        this.during = 'committing'
        this.connection.tell({ stage: 'committing' })
      },
      onBytes: (done) => {
        if (!this.isCommitting()) this.connection.tell({ stage: 'uploading', done, total })
      },
    })
  }

  private isCommitting(): boolean {
    return this.during === 'committing'
  }

  /** The head of main where every file of ours is in it already; null else, and where it cannot be asked. */
  private async arrivedAt(): Promise<string | null> {
    try {
      const now = await lookAt(this.connection, this.options.repo)
      const different = now && (await differingFiles(this.connection, this.options.repo, this.files, now.sha))
      return now && different?.length === 0 ? now.sha : null
    } catch (error) {
      if (this.connection.signal.aborted) throw publishStopped(this.options.repo.name, true)
      if (error instanceof PublishFailure) return null
      throw error
    }
  }

  /** False where the Hub could not be asked. Throws where it has something else than was sent. */
  private async verify(commit: string): Promise<boolean> {
    let different: string[]
    try {
      different = await differingFiles(this.connection, this.options.repo, this.files, commit)
    } catch (error) {
      if (error instanceof PublishFailure || this.connection.signal.aborted) return false
      throw error
    }
    if (different.length > 0) throw damaged(this.options.repo, commit, different)
    return true
  }

  private async findForPullRequest(paths: readonly string[]): Promise<void> {
    const { repo } = this.options
    const found = await lookAt(this.connection, repo)
    if (!found) throw nowhere(repo, 'A pull request needs a repository that exists: check the name.')
    await refuseOtherKind(this.connection, repo, found.sha, paths)
  }

  private unheard(): PlaygroundError {
    const { repo } = this.options
    const message = `The connection broke while the pull request to ${repo.name} was being opened, so it is not known whether it is there.`
    return refusal('passing', message, `Look at ${repoUrl(this.connection.endpoint, repo)}/discussions first: publishing again would open a second one.`)
  }

  private context(tries: number): PublishContext {
    const { repo, asPullRequest } = this.options
    return { repo: repo.name, type: repo.type, asPullRequest, during: this.during, tries, account: this.account }
  }
}

/** Whether it is the place for large files that refuses or cannot be reached, and not the Hub itself. */
function isStorageTrouble(failure: HubFailure, endpoint: string): boolean {
  if (failure.kind !== 'status') return true
  const atHub = URL.canParse(failure.url) && new URL(failure.url).origin === new URL(endpoint).origin
  return !atHub || [400, 410, 422, 501].includes(failure.status)
}

function refuseBadInput({ repo, files, title }: PublishOptions): void {
  const refuse = (message: string, advice: string): never => {
    throw new PlaygroundError('config', message, advice, { recurrence: 'lasting' })
  }
  if (!isRepoId(repo.name)) refuse(`'${repo.name}' is no name of a repository on the Hub.`, 'Write owner/name, for example your-name/lane-lora.')
  if (files.length === 0) refuse('There are no files to publish.', 'Train a step first.')
  if (title.trim() === '') refuse('The commit has no title.', 'Write one line that says what it is.')
  const paths = files.map(({ path }) => path)
  const bad = paths.find((path, i) => path === '' || /^\/|(^|\/)\.\.?(\/|$)|\\|\/\/|\/$/.test(path) || paths.indexOf(path) !== i)
  if (bad !== undefined) refuse(`'${bad}' is no path of a file in a repository, or is there twice.`, 'Give every file a relative path of its own.')
}
