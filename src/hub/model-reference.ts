/** What a person may write to name a model on the Hub: an id, an address, with or without a revision. */

import { PlaygroundError } from '../core/errors'

export interface ModelReference {
  /** 'owner/name'. */
  repo: string
  /** Branch, tag or commit. */
  revision: string
}

const WRITE = 'Write owner/name, for example Qwen/Qwen3-0.6B, with @revision behind it for another branch, tag or commit than main.'

/** First path parts of the Hub that are no owners. */
const NOT_OWNERS = new Set(['models', 'api', 'docs', 'collections', 'papers', 'organizations', 'settings', 'blog', 'tasks', 'pricing', 'join', 'login', 'posts'])
const FILE_VIEWS = new Set(['blob', 'resolve', 'raw', 'edit'])

function refuse(message: string, advice = WRITE): never {
  throw new PlaygroundError('model', message, advice)
}

/** Whether this is 'owner/name' by the Hub's rules. */
export function isRepoId(text: string): boolean {
  const parts = text.split('/')
  return parts.length === 2 && text.length <= 96 && parts.every((part) => /^[A-Za-z0-9_]([\w.-]*[A-Za-z0-9_])?$/.test(part) && !/--|\.\./.test(part))
}

/** A branch, tag or commit as Git allows it, as far as it matters here. */
function checkRevision(revision: string, text: string): string {
  const bad = revision === '' || !/^[\w./+-]+$/.test(revision) || revision.includes('..') || /^[./-]|[./]$/.test(revision)
  return bad ? refuse(`'${revision}' in '${text}' is no revision.`, 'Write a branch, a tag or a commit after the @, for example @main.') : revision
}

/**
 * Reads `owner/name`, `owner/name@revision`, an address on huggingface.co or hf.co (also of a tree or a commit), or `hf://owner/name`.
 * @throws PlaygroundError('model') for anything else, with what to write instead
 */
export function parseModelReference(text: string): ModelReference {
  const trimmed = text.trim()
  if (trimmed === '') refuse('No model is named.')
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(trimmed)?.[1]?.toLowerCase() ?? null
  const rest = scheme === null ? trimmed : trimmed.slice(scheme.length + 3)
  if (scheme !== null && !['http', 'https', 'hf'].includes(scheme)) refuse(`'${trimmed}' is an address with ${scheme}://, not a model on the Hub.`)
  if (scheme === 'hf') return parseParts(rest.split('/'), trimmed, 'hf')
  const host = /^(?:www\.)?(huggingface\.co|hf\.co)(?=[/?#]|$)/i.exec(rest)
  if (host) return parseParts(pathParts(rest.slice(host[0].length), trimmed), trimmed, 'web')
  if (scheme !== null) refuse(`'${trimmed}' is not an address on huggingface.co.`)
  return parseParts(trimmed.split('/'), trimmed, 'id')
}

/** Decoded parts of an address's path, without query and fragment. */
function pathParts(path: string, text: string): string[] {
  try {
    return (path.replace(/[?#].*$/, '').split('/')).filter(Boolean).map(decodeURIComponent)
  } catch {
    return refuse(`'${text}' is not a well-formed address.`)
  }
}

function parseParts(parts: string[], text: string, form: 'id' | 'hf' | 'web'): ModelReference {
  const [first = ''] = parts
  if (first === 'datasets' || first === 'spaces') {
    refuse(`'${text}' is a ${first === 'datasets' ? 'dataset' : 'Space'}, not a model.`)
  }
  if (parts.length < 2 || parts[1] === '') {
    const shown = first.replace(/@.*/, '')
    refuse(form === 'web' ? `'${text}' names no model.` : `'${text}' is one word; a model's id has an owner and a name.`, form === 'web' ? WRITE : `${WRITE} Search for it at https://huggingface.co/models?search=${encodeURIComponent(shown)}.`)
  }
  if (NOT_OWNERS.has(first.toLowerCase())) refuse(`'${text}' is not a model: '${first}' is no owner on the Hub.`)
  if (form === 'web') return fromAddress(parts, text)
  // The revision may hold slashes, as refs/pr/1 does.
  const [id = '', ...after] = parts.join('/').split('@')
  if (after.length > 1) refuse(`'${text}' has more than one @.`)
  const extra = id.split('/').slice(2)
  const repo = checkId(id.split('/').slice(0, 2).join('/'), text)
  if (extra.some(Boolean)) refuse(`'${text}' goes on after the name of the model.`, `Write ${repo}; the files in it are found by themselves.`)
  return { repo, revision: after.length ? checkRevision(after[0] as string, text) : 'main' }
}

/** owner/name[/tree/revision[/folder...]] */
function fromAddress(parts: string[], text: string): ModelReference {
  const [owner, named = '', view, revision, ...rest] = parts
  const [name, atRevision] = named.split('@', 2)
  const repo = checkId(`${owner}/${name}`, text)
  if (view === undefined) return { repo, revision: atRevision === undefined ? 'main' : checkRevision(atRevision, text) }
  if (FILE_VIEWS.has(view)) refuse(`'${text}' is the address of a file.`, `Write ${repo}${revision && revision !== 'main' ? `@${revision}` : ''}; the files in it are found by themselves.`)
  if (view !== 'tree' && view !== 'commit') refuse(`'${text}' is the page '${view}' of ${repo}.`, `Write ${repo}.`)
  if (revision === undefined) return { repo, revision: 'main' }
  // The Hub also writes refs/pr/1 without escaping its slashes.
  const whole = revision === 'refs' && rest.length >= 2 ? `refs/${rest[0]}/${rest[1]}` : revision
  return { repo, revision: checkRevision(whole, text) }
}

function checkId(repo: string, text: string): string {
  if (!isRepoId(repo)) refuse(`'${text}' is no id of a model: letters, digits, -, _ and . are allowed, on both sides of one slash.`)
  const [owner = '', name = ''] = repo.split('/')
  if (/^(onnx-community|xenova)$/i.test(owner)) {
    const base = name.replace(/-ONNX.*$/i, '')
    const instead = /^qwen/i.test(base) ? `Take Qwen/${base}, from which it was made.` : 'Take the repository that its page names as base model.'
    refuse(`${repo} holds ONNX files for inference; training needs the safetensors weights.`, instead)
  }
  return repo
}
