/** What a person may write to name a dataset on the Hub: an id or an address, with or without a revision, a config, a split, a file. */

import { PlaygroundError } from '../../core/errors'
import { isRepoId } from '../model-reference'

export interface DatasetReference {
  /** 'owner/name'. */
  repo: string
  /** Branch, tag or commit. */
  revision: string
  /** null where the dataset's own order decides: "default" or its first. */
  config: string | null
  /** null for "train" or the first. */
  split: string | null
  /** One file of the repository; null for the whole split. */
  file: string | null
}

const WRITE = 'Write owner/name, for example trl-lib/Capybara, with @revision behind it for another branch, tag or commit than main, or paste the address of its page.'

function refuse(message: string, advice = WRITE): never {
  throw new PlaygroundError('config', message, advice)
}

/**
 * Reads `owner/name`, `owner/name@revision`, `datasets/owner/name`, `hf://datasets/owner/name`, and addresses on huggingface.co: of the
 * dataset, of its viewer (config and split), of a revision, of a file.
 * @throws PlaygroundError('config') for anything else, with what to write instead
 */
export function parseDatasetReference(text: string): DatasetReference {
  const trimmed = text.trim()
  if (trimmed === '') refuse('No dataset is named.')
  const address = /^(?:(?:https?:\/\/)?(?:www\.)?(?:huggingface\.co|hf\.co)\/|hf:\/\/)(.*)$/is.exec(trimmed)?.[1]
  if (address === undefined && /^[a-z][a-z0-9+.-]*:/i.test(trimmed)) refuse(`'${trimmed}' is not an address on huggingface.co.`)
  const parts = partsOf(address ?? trimmed, trimmed)
  if (parts[0] === 'datasets') parts.shift()
  else if (address !== undefined) refuse(`'${trimmed}' is the address of a model or a Space, or of another page, not of a dataset.`)
  if (parts.length < 2) refuse(`'${trimmed}' is one word; a dataset's id has an owner and a name.`)
  // The revision may hold slashes, as refs/pr/1 does.
  const [id = '', ...after] = parts.join('/').split('@')
  const [owner = '', name = '', ...rest] = id.split('/')
  const repo = `${owner}/${name}`
  if (!isRepoId(repo)) refuse(`'${trimmed}' is no id of a dataset: letters, digits, -, _ and . are allowed, on both sides of one slash.`)
  if (after.length > 1) refuse(`'${trimmed}' has more than one @.`)
  const plain = { repo, revision: 'main', config: null, split: null, file: null }
  if (after.length === 1) {
    if (rest.length > 0) refuse(`'${trimmed}' goes on after the name of the dataset.`)
    return { ...plain, revision: checkRevision(after[0] ?? '', trimmed) }
  }
  return rest.length === 0 ? plain : { ...plain, ...within(rest, trimmed, repo) }
}

/** Decoded parts of a path; of an address without query and fragment. */
function partsOf(path: string, text: string): string[] {
  try {
    return path.replace(/[?#].*$/s, '').split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return refuse(`'${text}' is not a well-formed address.`)
  }
}

/** viewer/config/split, tree/revision, resolve/revision/path */
function within([view, first, ...rest]: string[], text: string, repo: string): Partial<DatasetReference> {
  if (view === 'viewer') return { config: first ?? null, split: rest[0] ?? null }
  if (first === undefined) return view === 'tree' ? {} : refuse(`'${text}' is the page '${view}' of ${repo}.`, `Write ${repo}.`)
  // The Hub also writes refs/convert/parquet without escaping its slashes.
  const long = first === 'refs' && rest.length >= 2
  const revision = checkRevision(long ? `refs/${rest[0]}/${rest[1]}` : first, text)
  if (view === 'tree' || view === 'commit') return { revision }
  if (view === 'blob' || view === 'resolve' || view === 'raw') return { revision, file: (long ? rest.slice(2) : rest).join('/') || null }
  return refuse(`'${text}' goes on after the name of the dataset.`, `Write ${repo}.`)
}

function checkRevision(revision: string, text: string): string {
  const bad = !/^[\w./+-]+$/.test(revision) || revision.includes('..') || /^[./-]|[./]$/.test(revision)
  return bad ? refuse(`'${revision}' in '${text}' is no revision.`, 'Write a branch, a tag or a commit after the @, for example @main.') : revision
}

/** The reference as one short text: what it was parsed from, or could have been. */
export function datasetName({ repo, revision, file }: Pick<DatasetReference, 'repo' | 'revision' | 'file'>): string {
  return `${repo}${revision === 'main' ? '' : `@${revision}`}${file === null ? '' : ` ${file}`}`
}
