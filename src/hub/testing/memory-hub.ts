/** A Hub in memory: repositories of files that are read in chunks, and a record of what was asked for. */

import { createHash } from 'node:crypto'
import { PlaygroundError } from '../../core/errors'
import type { HubClient, HubRepo } from '../client'
import { countedBytes, type CountedBytes } from './counted-bytes'

export interface MemoryHub {
  client: Pick<HubClient, 'repo' | 'open'>
  /** By path. */
  files: Record<string, CountedBytes>
  /** Answers nothing any more. */
  offline: boolean
  /** How often `repo` was asked. */
  asked: number
  sha: string
  /** Bytes that were handed out of a file so far. */
  given(path: string): number
}

const LARGE = 1000

/** @param contents by path; text or bytes. Files of 1000 bytes and more have a sha256, as LFS files do. */
export function memoryHub(contents: Record<string, string | Uint8Array>, sha = 'a'.repeat(40), chunk?: number): MemoryHub {
  const bytes = Object.entries(contents).map(([path, content]) => [path, typeof content === 'string' ? new TextEncoder().encode(content) : content] as const)
  const files = Object.fromEntries(bytes.map(([path, content]) => [path, countedBytes(path, content, chunk)]))
  const listed = bytes.map(([path, content]) => ({
    path,
    size: content.length,
    sha256: content.length < LARGE ? null : createHash('sha256').update(content).digest('hex'),
  }))
  const hub: MemoryHub = {
    files,
    offline: false,
    asked: 0,
    sha,
    given: (path) => (files[path]?.reads ?? []).reduce((sum, read) => sum + read.given, 0),
    client: {
      async repo(repo: string, revision = 'main'): Promise<HubRepo> {
        hub.asked++
        if (hub.offline) throw new PlaygroundError('model', 'The Hub could not be reached.', 'Check the connection.')
        return { repo, revision, sha: hub.sha, private: false, gated: false, files: listed }
      },
      open(repo, path) {
        const file = files[path]
        if (hub.offline || !file) throw new PlaygroundError('model', `${repo.repo} has no file '${path}', or no connection.`, 'Check the connection.')
        return file as unknown as ReturnType<HubClient['open']>
      },
    },
  }
  return hub
}
