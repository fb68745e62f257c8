/** The repository that is published to: found, made, and compared with what was sent. */

import type { PlaygroundError } from '../core/errors'
import { gitBlobHash, lfsHash } from './file-hashes'
import { PublishFailure, type PublishConnection } from './publish-connection'
import { refusal, RepositoryExists } from './publish-errors'
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

export interface Wish {
  /** 'new': one that holds files is refused; 'existing': one that is not there is. */
  into: 'new' | 'existing'
  /** Of a repository that is made now; one that exists and is public is refused where this is set. */
  private: boolean
  /** That are to be published. */
  paths: readonly string[]
}

/**
 * Finds the repository, or makes it where a new one is asked for. An empty one counts as new: an earlier try may have got no further.
 * @param onCreate called before it is made
 * @throws PublishFailure, RepositoryExists, and PlaygroundError where it is not there, holds something else, or everybody could read
 *   what should be private
 */
export async function findOrCreate(connection: PublishConnection, repo: TargetRepo, wish: Wish, onCreate: () => void): Promise<void> {
  const existing = await lookAt(connection, repo)
  if (existing) return check(existing)
  if (wish.into === 'existing') throw nowhere(repo, 'Check the name, or publish into a new repository.')
  onCreate()
  const { createRepo } = await import('@huggingface/hub')
  try {
    await connection.ask(
      (shared) => createRepo({ ...shared, repo, visibility: wish.private ? 'private' : 'public' }),
      // Two creations of one account at a time; any other 409 is a repository that exists.
      (failure) => failure.kind === 'status' && failure.status === 409 && /conflicting operation/.test(failure.message ?? ''),
    )
  } catch (error) {
    // A token for this very repository may be told that it may not create it.
    if (!(error instanceof PublishFailure) || ![401, 402, 403, 409].includes(error.status ?? 0)) throw error
    const there = await lookAt(connection, repo)
    if (!there) throw error
    await check(there)
  }

  async function check(found: { private: boolean; sha: string }): Promise<void> {
    if (!found.private && wish.private) {
      const message = `${repo.name} exists already and everybody can read it, but you asked for a private repository.`
      throw refusal('lasting', message, 'Choose another name, or “public” if everybody may read it.')
    }
    if (wish.into === 'existing') return refuseOtherKind(connection, repo, found.sha, wish.paths)
    const paths = await pathsAt(connection, repo, found.sha)
    if (paths?.every((path) => path === '.gitattributes') !== true) throw new RepositoryExists(repo.name)
  }
}

/** The error for a repository that this token does not see. */
export function nowhere({ type, name }: TargetRepo, advice: string): PlaygroundError {
  return refusal('lasting', `The Hub has no ${type} ${name} that this token may see.`, advice)
}

const isAdapter = (paths: readonly string[]): boolean => paths.includes('adapter_config.json')
const isWhole = (paths: readonly string[]): boolean => paths.some((path) => /^(pytorch_)?model([.-][^/]*)?\.(safetensors|bin)(\.index\.json)?$/.test(path))

/**
 * Refuses an adapter beside a whole model and the other way round: transformers would load both at once. Repositories whose files the
 * token may not read are not judged, nor those that hold both already.
 * @throws PublishFailure and PlaygroundError
 */
export async function refuseOtherKind(connection: PublishConnection, repo: TargetRepo, commit: string, paths: readonly string[]): Promise<void> {
  const there = (await pathsAt(connection, repo, commit)) ?? []
  const advice = 'Choose another name for it, so that whoever loads either gets what it says.'
  if (isAdapter(paths) && isWhole(there) && !isAdapter(there)) {
    throw refusal('lasting', `${repo.name} holds a whole model, and a LoRA adapter beside it would be loaded on top of that.`, advice)
  }
  if (isWhole(paths) && isAdapter(there) && !isWhole(there)) {
    throw refusal('lasting', `${repo.name} holds a LoRA adapter, which would be loaded on top of the merged model that has it in it already.`, advice)
  }
}

/** Paths of a commit's files; null where this token may not read them. Throws PublishFailure. */
async function pathsAt(connection: PublishConnection, repo: TargetRepo, commit: string): Promise<string[] | null> {
  const { listFiles } = await import('@huggingface/hub')
  try {
    return await connection.ask(async (shared) => {
      const paths: string[] = []
      for await (const { path, type } of listFiles({ ...shared, repo, revision: commit, recursive: true })) if (type === 'file') paths.push(path)
      return paths
    })
  } catch (error) {
    if (error instanceof PublishFailure && [401, 403, 404].includes(error.status ?? 0)) return null
    throw error
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
