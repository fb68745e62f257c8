/** What it means when the Hub refuses to take files in, as sentences for a person; `recurrence` says whether another try can help. */

import { PlaygroundError, type Recurrence } from '../core/errors'
import { cleaned, type HubFailure } from './sentences'

export interface PublishContext {
  /** owner/name. */
  repo: string
  type: 'model' | 'dataset'
  asPullRequest: boolean
  /** What was going on: what a refusal means depends on it. */
  during: 'checking' | 'creating' | 'uploading' | 'committing' | 'verifying'
  /** How often it was tried. */
  tries: number
  /** The account of the token, once it is known. */
  account: string | null
}

/** Nothing that was made is lost by a refusal. */
export const KEPT = 'Nothing is lost: the files stay here, and can be downloaded as a zip without the Hub.'

const TOKENS = 'https://huggingface.co/settings/tokens'

/** An error of publishing; never with a cause, which could hold addresses that are signed. */
export function refusal(recurrence: Recurrence, message: string, advice: string): PlaygroundError {
  return new PlaygroundError('model', message, `${advice} ${KEPT}`, { recurrence })
}

/** A new repository was asked for, and one of that name holds files already: whether they are to be replaced is for a person to say. */
export class RepositoryExists extends PlaygroundError {
  constructor(repo: string) {
    const advice = `To replace its files of the same names, publish into one that exists; otherwise choose another name. ${KEPT}`
    super('model', `${repo} exists already and is not empty, but you asked for a new repository.`, advice, { recurrence: 'lasting' })
  }
}

/** The error of an upload that a person stopped. */
export function publishStopped(repo: string, committing: boolean): PlaygroundError {
  const end = committing ? `while the Hub was making the commit: look at ${repo} to see whether it is there` : 'before the commit: nothing of it is on the Hub'
  return new PlaygroundError('stopped', `Publishing to ${repo} was stopped ${end}.`)
}

/** Why it failed and what to do next. */
export function publishError(failure: HubFailure, context: PublishContext): PlaygroundError {
  const { repo, type, tries } = context
  const tried = tries > 1 ? `, tried ${tries} times` : ''
  if (failure.kind === 'network') {
    const host = URL.canParse(failure.url) ? new URL(failure.url).host : 'the Hub'
    const advice = 'Check the connection, and whether a blocker, a firewall or a company proxy stops huggingface.co, *.hf.co and *.amazonaws.com; then publish again.'
    return refusal('passing', `The connection to ${host} broke while ${doing(context)}${tried}.`, advice)
  }
  if (failure.kind === 'broken') {
    return refusal('passing', `The Hub went silent while ${doing(context)}: ${cleaned(failure.what)}${tried}.`, 'Check the connection and publish again.')
  }
  const { status, message: said, retryAfter } = failure
  const quote = said ? ` (“${cleaned(said)}”)` : ''
  switch (status) {
    case 401:
      return refusal('lasting', `The Hub does not accept the token (401): it has expired, was revoked or is mistyped.`, 'Sign in again, or paste a new token, and publish again.')
    case 403:
      return forbidden(said ?? '', quote, context)
    case 404:
      return refusal('lasting', `The Hub has no ${type} ${repo} that this token may see (404).`, 'Check the name; a pull request needs a repository that exists.')
    case 409:
      return refusal('passing', `The Hub is busy with another change of ${repo} (409)${tried}.`, 'Wait a minute and publish again.')
    case 412:
      return refusal('passing', `Somebody else changed ${repo} at the same moment (412)${tried}.`, 'Publish again: it will be put on top of that change.')
    case 413:
      return refusal('lasting', `The Hub refuses files of this size for ${repo} (413).`, 'Publish less at once, or upload the zip’s files with the huggingface_hub library.')
    case 429: {
      const wait = retryAfter === null ? 'a few minutes (the Hub counts requests in windows of 5 minutes)' : `${retryAfter} s`
      return refusal('passing', `The Hub refuses more requests of this account for now (429)${tried}.`, `Wait ${wait} and publish again.`)
    }
    default:
  }
  if (status >= 500) {
    return refusal('passing', `The Hub has a fault of its own (${status}) while ${doing(context)}${tried}.`, 'Look at https://status.huggingface.co and publish again later.')
  }
  return refusal('lasting', `The Hub refused ${repo} with ${status}${quote} while ${doing(context)}.`, 'Check the name of the repository.')
}

function doing({ repo, during }: PublishContext): string {
  const phrases: Record<PublishContext['during'], string> = {
    checking: `asking about ${repo}`,
    creating: `creating ${repo}`,
    uploading: `uploading to ${repo}`,
    committing: `committing to ${repo}`,
    verifying: `reading ${repo} back`,
  }
  return phrases[during]
}

function forbidden(said: string, quote: string, { repo, asPullRequest, during, account }: PublishContext): PlaygroundError {
  const [namespace = ''] = repo.split('/')
  const who = account === null ? 'This token' : `This token of ${account}`
  if (during === 'creating' || /rights to create/.test(said)) {
    const advice =
      `Choose another namespace than “${namespace}”, or a token with more rights: signing in needs the scope contribute-repos and, for an organisation, ` +
      `its box ticked; a token from ${TOKENS} needs the role write, or “Write access to contents/settings of all repos” for ${namespace}.`
    return refusal('lasting', `${who} may not create repositories under ${namespace} (403)${quote}.`, advice)
  }
  if (asPullRequest) {
    const advice =
      'Opening a pull request needs the scope write-discussions, and the Hub may refuse large files from people who cannot write to the repository. ' +
      'Publish to a repository of your own instead, and point to it in a discussion.'
    return refusal('lasting', `${who} may not put this into a pull request to ${repo} (403)${quote}.`, advice)
  }
  const advice =
    `A repository that was not made by this page needs the scope write-repos when signing in, or a token with write access to ${repo} from ${TOKENS}. ` +
    'For a repository of others, choose “as a pull request”.'
  return refusal('lasting', `${who} may not write to ${repo} (403)${quote}.`, advice)
}
