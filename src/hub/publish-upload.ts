/** One try of an upload by @huggingface/hub: its events as bytes, a limit for silence, its errors as failures. */

import { failureFrom, PublishFailure, type PublishConnection } from './publish-connection'
import type { TargetRepo } from './publish-repo'
import type { HubFailure } from './sentences'

export interface UploadFile {
  path: string
  content: Blob
}

export interface UploadTry {
  repo: TargetRepo
  files: readonly UploadFile[]
  title: string
  description?: string
  asPullRequest: boolean
  /** Xet takes hundreds of MB of memory in a browser, and shows no progress. */
  useXet: boolean
  onPhase: (phase: 'preuploading' | 'uploadingLargeFiles' | 'committing') => void
  /** Bytes of all files that have arrived. */
  onBytes: (done: number) => void
}

export interface UploadedCommit {
  /** 40 hex digits. */
  oid: string
  pullRequestUrl: string | undefined
}

/**
 * Uploads everything as one commit; nothing is changed on the Hub before its end.
 * @throws PublishFailure, PlaygroundError('config') for what is no token
 */
export async function uploadOnce(connection: PublishConnection, attempt: UploadTry): Promise<UploadedCommit> {
  const { endpoint, signal, stallMs } = connection
  const { repo, files } = attempt
  const accessToken = connection.token()
  const { uploadFilesWithProgress } = await import('@huggingface/hub')
  const silence = new AbortController()
  const events = uploadFilesWithProgress({
    repo,
    files: [...files],
    hubUrl: endpoint,
    accessToken,
    commitTitle: attempt.title,
    ...(attempt.description === undefined ? {} : { commitDescription: attempt.description }),
    isPullRequest: attempt.asPullRequest,
    useXet: attempt.useXet,
    abortSignal: AbortSignal.any([signal, silence.signal]),
  })
  const sizes = new Map(files.map(({ path, content }) => [path, content.size]))
  const sent = new Map<string, number>()
  try {
    for (;;) {
      // On its XMLHttpRequest path the library may never settle: an answer without readable headers throws in the handler.
      const step = await within(events.next(), stallMs, () => silence.abort())
      if (step.done) {
        const { commit, pullRequestUrl } = step.value ?? {}
        if (commit === undefined || !/^[0-9a-f]{40}$/.test(commit.oid)) throw new PublishFailure(broken('its answer names no commit'))
        return { oid: commit.oid, pullRequestUrl }
      }
      if (step.value.event === 'phase') {
        attempt.onPhase(step.value.phase)
        // The library listens to the signal only after this first event; later it must be asked on, to hear of its own end.
        if (step.value.phase === 'preuploading') signal.throwIfAborted()
      } else if (step.value.state === 'uploading') {
        sent.set(step.value.path, step.value.progress * (sizes.get(step.value.path) ?? 0))
        attempt.onBytes(Math.round([...sent.values()].reduce((sum, bytes) => sum + bytes, 0)))
      }
    }
  } catch (error) {
    throw new PublishFailure(failureFrom(error, endpoint))
  }
}

const broken = (what: string): HubFailure => ({ kind: 'broken', what, url: '' })

async function within<T>(promise: Promise<T>, ms: number, giveUp: () => void): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new PublishFailure(broken(`nothing came for ${ms / 1000} s`)))
      giveUp()
    }, ms)
  })
  try {
    return await Promise.race([promise, end])
  } finally {
    clearTimeout(timer)
  }
}
