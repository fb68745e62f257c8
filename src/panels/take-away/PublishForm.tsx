/** What goes where on the Hub. Private at first; nothing is sent before Publish is pressed. */

import { useId, useState } from 'react'
import type { RunRecord } from '../../core/run-record'
import { isRepoId } from '../../hub/model-reference'
import { useAccount, useModels, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'
import type { PublishTarget } from '../../worker/protocol'
import { whyNot } from './possible'

const WHATS: readonly PublishTarget['what'][] = ['adapter', 'merged', 'trajectories']

/** A repository's name, made of the run's. */
function proposed(run: RunRecord, what: PublishTarget['what'], owner: string | null): string {
  const slug = run.name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  return `${owner ?? ''}/grpo-${slug || 'run'}${what === 'adapter' ? '' : `-${what}`}`
}

export function PublishForm({ run }: { run: RunRecord }) {
  const { takeAway } = useStores()
  const hasToken = useModels((view) => view.hasToken)
  const owner = useAccount((view) => view.user)
  const [what, setWhat] = useState<PublishTarget['what']>('adapter')
  const [typed, setTyped] = useState<string | null>(null)
  const [isPrivate, setPrivate] = useState(true)
  const [asPullRequest, setPullRequest] = useState(false)
  const [agreed, setAgreed] = useState(false)
  const words = S.takeAway.publish
  const repo = (typed ?? proposed(run, what, owner)).trim()
  const named = isRepoId(repo)
  const missing = what === 'trajectories' ? null : whyNot(run, what)
  const open = what === 'trajectories' && !isPrivate
  const ready = hasToken && named && missing === null && (!open || agreed)
  const send = () => {
    if (ready) takeAway.publish(run.id, { what, repo, private: isPrivate, asPullRequest })
  }
  return (
    <form
      className="publish-form"
      onSubmit={(e) => {
        e.preventDefault()
        send()
      }}
    >
      <What what={what} onChange={setWhat} />
      <p className="note">{missing ?? words.explains[what]}</p>
      <Repository text={typed ?? proposed(run, what, owner)} wrong={typed !== null && !named} onChange={setTyped} />
      <Check label={words.private} hint={words.privateHint} testId="publish-private" checked={isPrivate} onChange={setPrivate} />
      <Check label={words.asPullRequest} hint={words.asPullRequestHint} testId="publish-pull-request" checked={asPullRequest} onChange={setPullRequest} />
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
        {!hasToken && <span className="note">{words.needsAccount}</span>}
      </div>
    </form>
  )
}

function What({ what, onChange }: { what: PublishTarget['what']; onChange: (what: PublishTarget['what']) => void }) {
  const words = S.takeAway.publish
  return (
    <fieldset className="segmented">
      <legend className="sr-only">{words.what}</legend>
      {WHATS.map((w) => (
        <label key={w} className={w === what ? 'chosen' : ''}>
          <input type="radio" className="sr-only" name="publish-what" data-testid={`publish-${w}`} checked={w === what} onChange={() => onChange(w)} />
          {words.whats[w]}
        </label>
      ))}
    </fieldset>
  )
}

function Repository({ text, wrong, onChange }: { text: string; wrong: boolean; onChange: (text: string) => void }) {
  const id = useId()
  const words = S.takeAway.publish
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
        aria-describedby={wrong ? `${id}-why` : undefined}
        onChange={(e) => onChange(e.target.value)}
      />
      {wrong && (
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
