/** The local Hub's Parquet copies of datasets: what lies on the branch refs/convert/parquet as config/split/0000.parquet. */

import type { IncomingMessage } from 'node:http'
import { admit, Repository, type Refusal } from './repository'
import type { HubState } from './server'

export const PARQUET_BRANCH = 'refs/convert/parquet'

/** What is answered: a listing, a redirect to a file, or a refusal. null where the path is none of these. */
export function parquetCopy(state: HubState, pathname: string, request: IncomingMessage): { listing: unknown } | { location: string } | { refusal: Refusal } | null {
  const match = /^\/api\/datasets\/([^/]+\/[^/]+)\/parquet(?:\/([^/]+)\/([^/]+)\/(\d+)\.parquet)?$/.exec(pathname)
  if (!match) return null
  const [, id = '', config, split, number] = match
  const repo = admit(state.repos, state.tokens, `datasets/${id}`, request.headers.authorization, true)
  if (!(repo instanceof Repository)) return { refusal: repo }
  const sha = repo.sha(PARQUET_BRANCH)
  if (sha === null) return { refusal: { status: 404, code: 'ParquetNotFound', message: 'The dataset has no parquet export' } }
  if (config !== undefined) return { location: `/datasets/${id}/resolve/${encodeURIComponent(PARQUET_BRANCH)}/${config}/${split}/${(number ?? '').padStart(4, '0')}.parquet` }
  const listing: Record<string, Record<string, string[]>> = {}
  for (const path of repo.files(sha).keys()) {
    const [of = '', part = ''] = path.split('/').map(encodeURIComponent)
    const files = ((listing[decodeURIComponent(of)] ??= {})[decodeURIComponent(part)] ??= [])
    files.push(`${state.endpoint}/api/datasets/${id}/parquet/${of}/${part}/${files.length}.parquet`)
  }
  return { listing }
}
