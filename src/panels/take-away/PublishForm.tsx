/** What goes where on the Hub. Private at first; nothing is sent before Publish is pressed. */

import { useId, useState } from 'react'
import type { RunRecord } from '../../core/run-record'
import { slug } from '../../core/text'
import { isRepoId } from '../../hub/model-reference'
import { withoutTokens } from '../../hub/secrets'
import type { PublishWish } from '../../store/account-store'
import { useAccount, useModels, useStores } from '../../store/hooks'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import type { PublishTarget } from '../../worker/protocol'
import { whyNot } from './possible'
import type { Into } from './Publish'

const WHATS: readonly PublishTarget['what'][] = ['adapter', 'merged', 'trajectories']
const INTOS: readonly Into[] = ['new', 'existing', 'pull-request']

/** Letters of a run's random id, so that runs of one task and model get repositories of their own. */
const ID_LETTERS = 6

/** The name of a new repository, made of the run's; of one that exists, only the owner is known. */
function proposed(run: RunRecord, { what, into, owner }: { what: PublishTarget['what']; into: Into; owner: string | null }): string {
  if (into !== 'new') return owner === null ? '' : `${owner}/`
  const name = proposedName(run, what)
  return owner === null ? name : `${owner}/${name}`
}

function proposedName(run: RunRecord, what: PublishTarget['what']): string {
  const id = run.id.replace(/[^a-z0-9]/gi, '').toLowerCase().slice(0, ID_LETTERS)
  return `grpo-${slug(withoutTokens(run.name))}-${id}${what === 'adapter' ? '' : `-${what}`}`
}

interface PublishFormProps {
  run: RunRecord
  into: Into
  wish: PublishWish
  onInto: (into: Into) => void
}

export function PublishForm({ run, into, wish, onInto }: PublishFormProps) {
  const { takeAway, account } = useStores()
  const hasToken = useModels((view) => view.hasToken)
  const owner = useAccount((view) => view.who?.user ?? null)
  const [what, setWhat] = useState<PublishTarget['what']>('adapter')
  const [typed, setTyped] = useState<string | null>(null)
  const [isPrivate, setPrivate] = useState(true)
  const [agreed, setAgreed] = useState(false)
  const words = TAKE_AWAY_STRINGS.publish
  const text = typed ?? proposed(run, { what, into, owner })
  const repo = text.trim()
  const named = isRepoId(repo)
  const missing = what === 'trajectories' ? null : whyNot(run, what)
  const { asPullRequest } = wish
  // Whoever owns the repository decides who sees a pull request.
  const open = what === 'trajectories' && (!isPrivate || asPullRequest)
  const ready = hasToken && named && missing === null && (!open || agreed) && account.lacking(wish).length === 0
  const send = () => {
    if (ready && account.isValid()) takeAway.publish(run.id, { what, repo, into: into === 'new' ? 'new' : 'existing', private: isPrivate, asPullRequest })
  }
  return (
    <form
      className="publish-form"
      onSubmit={(e) => {
        e.preventDefault()
        send()
      }}
    >
      <Segments name="publish-what" legend={words.what} all={WHATS} names={words.whats} chosen={what} onChoose={setWhat} />
      <p className="note">{missing ?? words.explains[what]}</p>
      <Segments name="publish-into" legend={words.into} all={INTOS} names={words.intos} chosen={into} onChoose={onInto} />
      <Repository text={text} wrong={typed !== null && !named} hint={isRepoId(`owner/${repo}`) ? words.needsOwner(repo) : null} onChange={setTyped} />
      {!asPullRequest && <Check label={words.private} hint={into === 'existing' ? words.privateExisting : words.privateHint} testId="publish-private" checked={isPrivate} onChange={setPrivate} />}
      {asPullRequest && <p className="note">{words.pullRequestHint}</p>}
      {what === 'trajectories' && (
        <div className="publish-warning" data-testid="publish-warning">
          <p className="notice warning">{words.warning}</p>
          {open && <Check label={words.confirm} testId="publish-confirm" checked={agreed} onChange={setAgreed} />}
        </div>
      )}
      <div className="publish-line">
        <button type="submit" className="button primary" data-testid="publish" disabled={!ready}>
          {words.publish(named ? repo : '')}
        </button>
        {!hasToken ? <span className="note">{words.needsAccount}</span> : typed === null && !named && text.includes('/') && <span className="note">{words.needsName}</span>}
      </div>
    </form>
  )
}

interface SegmentsProps<T extends string> {
  name: string
  legend: string
  all: readonly T[]
  names: Readonly<Record<T, string>>
  chosen: T
  onChoose: (choice: T) => void
}

function Segments<T extends string>({ name, legend, all, names, chosen, onChoose }: SegmentsProps<T>) {
  return (
    <fieldset className="segmented">
      <legend>{legend}</legend>
      {all.map((choice) => (
        <label key={choice} className={choice === chosen ? 'chosen' : ''}>
          <input type="radio" className="sr-only" name={name} data-testid={`publish-${choice}`} checked={choice === chosen} onChange={() => onChoose(choice)} />
          {names[choice]}
        </label>
      ))}
    </fieldset>
  )
}

/** `hint`: what the text lacks. */
function Repository({ text, wrong, hint, onChange }: { text: string; wrong: boolean; hint: string | null; onChange: (text: string) => void }) {
  const id = useId()
  const words = TAKE_AWAY_STRINGS.publish
  return (
    <div className="publish-repo">
      <label htmlFor={id}>{words.repo}</label>
      <input
        id={id}
        type="text"
        data-testid="publish-repo"
        value={text}
        placeholder={words.repoHint}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-invalid={wrong}
        aria-describedby={wrong && hint === null ? `${id}-why` : hint === null ? undefined : `${id}-hint`}
        onChange={(e) => onChange(e.target.value)}
      />
      {hint !== null && (
        <p className="note" id={`${id}-hint`} data-testid="publish-owner-hint">
          {hint}
        </p>
      )}
      {wrong && hint === null && (
        <p className="why" id={`${id}-why`} role="alert">
          {words.repoRefused}.
        </p>
      )}
    </div>
  )
}

interface CheckProps {
  label: string
  hint?: string
  testId: string
  checked: boolean
  onChange: (checked: boolean) => void
}

function Check({ label, hint, testId, checked, onChange }: CheckProps) {
  return (
    <label className="publish-check">
      <input type="checkbox" data-testid={testId} checked={checked} onChange={(e) => onChange(e.target.checked)} />
      <span>
        {label}
        {hint !== undefined && <span className="note"> {hint}</span>}
      </span>
    </label>
  )
}
