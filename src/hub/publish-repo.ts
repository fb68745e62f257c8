/** The repository that is published to: found, made, and compared with what was sent. */

import type { PlaygroundError } from '../core/errors'
import { gitBlobHash, lfsHash } from './file-hashes'
import { PublishFailure, type PublishConnection } from './publish-connection'
import { refusal } from './publish-errors'
import type { UploadFile } from './publish-upload'

export interface TargetRepo {
  type: 'model' | 'dataset'
  /** owner/name. */
  name: string
}

/** Its address on the Hub. */
export function repoUrl(endpoint: string, { type, name }: TargetRepo): string {
  return `${endpoint}/${type === 'dataset' ? 'datasets/' : ''}${name}`
}

/** The repository as this token sees it: its newest commit, and whether it is private; null where it sees none. Throws PublishFailure. */
export async function lookAt(connection: PublishConnection, { type, name }: TargetRepo): Promise<{ private: boolean; sha: string } | null> {
  const { modelInfo, datasetInfo } = await import('@huggingface/hub')
  try {
    const what = { name, additionalFields: ['sha' as const] }
    return await connection.ask((shared) => (type === 'model' ? modelInfo({ ...shared, ...what }) : datasetInfo({ ...shared, ...what })))
  } catch (error) {
    if (error instanceof PublishFailure && [401, 403, 404].includes(error.status ?? 0)) return null
    throw error
  }
}

/**
 * Makes the repository where there is none.
 * @param onCreate called before it is made
 * @throws PublishFailure, and PlaygroundError where everybody could read what should be private
 */
export async function findOrCreate(connection: PublishConnection, repo: TargetRepo, isPrivate: boolean, onCreate: () => void): Promise<void> {
  const existing = await lookAt(connection, repo)
  if (existing) return checkVisibility(existing)
  onCreate()
  const { createRepo } = await import('@huggingface/hub')
  try {
    await connection.ask(
      (shared) => createRepo({ ...shared, repo, visibility: isPrivate ? 'private' : 'public' }),
      // Two creations of one account at a time; any other 409 is a repository that exists.
      (failure) => failure.kind === 'status' && failure.status === 409 && /conflicting operation/.test(failure.message ?? ''),
    )
  } catch (error) {
    // A token for this very repository may be told that it may not create it.
    if (!(error instanceof PublishFailure) || ![401, 402, 403, 409].includes(error.status ?? 0)) throw error
    const there = await lookAt(connection, repo)
    if (!there) throw error
    checkVisibility(there)
  }

  function checkVisibility(found: { private: boolean }): void {
    if (found.private || !isPrivate) return
    const message = `${repo.name} exists already and everybody can read it, but you asked for a private repository.`
    throw refusal('lasting', message, 'Choose another name, or “public” if everybody may read it.')
  }
}

/** Paths of ours that a commit does not have as they are, by size and hash. Throws PublishFailure. */
export async function differingFiles(connection: PublishConnection, repo: TargetRepo, files: readonly UploadFile[], commit: string): Promise<string[]> {
  const { listFiles } = await import('@huggingface/hub')
  const entries = await connection.ask(async (shared) => {
    const found = new Map<string, { size: number; oid?: string; lfs?: { oid: string; size: number } }>()
    for await (const entry of listFiles({ ...shared, repo, revision: commit, recursive: true })) found.set(entry.path, entry)
    return found
  })
  const different: string[] = []
  for (const { path, content } of files) {
    const entry = entries.get(path)
    const right = entry?.lfs
      ? entry.lfs.size === content.size && entry.lfs.oid === (await lfsHash(content))
      : entry?.size === content.size && entry.oid === (await gitBlobHash(content))
    if (!right) different.push(path)
  }
  return different
}

/** The error for files that the Hub has otherwise than they were sent. */
export function damaged(repo: TargetRepo, commit: string, [first = '', ...more]: readonly string[]): PlaygroundError {
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  const message = `${first}${others} arrived damaged in ${repo.name} (commit ${commit.slice(0, 8)}): size or hash is not what was sent.`
  return refusal('passing', message, 'Delete the file there and publish again; nobody should use what is there now.')
}
