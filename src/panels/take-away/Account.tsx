/** Who publishes: signed in by the Hub, or a pasted token. */

import { useId, useState } from 'react'
import type { PublishWish } from '../../store/account-store'
import { useAccount, useModels, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'
import { TAKE_AWAY_STRINGS } from '../../ui/take-away-strings'
import { MAKE_TOKEN, TokenForm } from '../model/TokenField'

/** `wish`: what is to be published how, for signing in with no more rights than that needs. */
export function Account({ wish }: { wish: PublishWish }) {
  const hasToken = useModels((view) => view.hasToken)
  const problem = useAccount((view) => view.problem)
  return (
    <div className="account" data-testid="account">
      {hasToken ? <Known wish={wish} /> : <Unknown wish={wish} />}
      {problem !== null && (
        <p className="why" role="alert" data-testid="sign-in-problem">
          {problem}
        </p>
      )}
    </div>
  )
}

function Known({ wish }: { wish: PublishWish }) {
  const { account } = useStores()
  const who = useAccount((view) => view.who)
  const words = TAKE_AWAY_STRINGS.account
  const lacking = account.lacking(wish)
  return (
    <>
      <p className="publish-line">
        <span data-testid="signed-in">{who === null ? words.token : words.as(who.user)}</span>
        <button type="button" className="link" data-testid="sign-out" onClick={account.signOut}>
          {who === null ? words.forget : words.signOut}
        </button>
      </p>
      {lacking.length > 0 && (
        <p className="publish-line" data-testid="lacking">
          <span>{words.lacking(lacking.join(', '))}</span>
          <SignIn wish={wish} label={words.again} />
        </p>
      )}
    </>
  )
}

function Unknown({ wish }: { wish: PublishWish }) {
  const clientId = useAccount((view) => view.clientId)
  const outOfFrame = useAccount((view) => view.outOfFrame)
  const words = TAKE_AWAY_STRINGS.account
  // The site came with a client id, or a person may give one.
  const direct = clientId !== null && clientId !== '' && outOfFrame === null
  return (
    <>
      {direct && (
        <p className="publish-line">
          <SignIn wish={wish} label={words.signIn} />
          <span className="note">{words.signInHint}</span>
        </p>
      )}
      {outOfFrame !== null && (
        <p>
          <a href={outOfFrame} target="_blank" rel="noreferrer" data-testid="out-of-frame">
            {words.outOfFrame}
          </a>
        </p>
      )}
      <details open={!direct}>
        <summary className="note">{direct ? words.or : words.paste}</summary>
        <TokenForm label={words.tokenLabel} />
        <p className="note">
          {words.tokenWhy}{' '}
          <a href={MAKE_TOKEN} target="_blank" rel="noreferrer">
            {S.model.token.make}
          </a>
        </p>
      </details>
      {clientId === '' && outOfFrame === null && <OwnApplication wish={wish} />}
    </>
  )
}

/** A site that was built without one: whoever has an OAuth application of their own gives its client id. */
function OwnApplication({ wish }: { wish: PublishWish }) {
  const id = useId()
  const [clientId, setClientId] = useState('')
  const words = TAKE_AWAY_STRINGS.account
  return (
    <details data-testid="own-application">
      <summary className="note">{words.own}</summary>
      <div className="line-form">
        <label htmlFor={id}>{words.clientId}</label>
        <input id={id} type="text" data-testid="client-id" value={clientId} autoComplete="off" spellCheck={false} onChange={(e) => setClientId(e.target.value)} />
        <SignIn wish={wish} label={words.signInShort} clientId={clientId.trim()} />
      </div>
      <p className="note">{words.ownWhy(location.origin + location.pathname)}</p>
    </details>
  )
}

function SignIn({ wish, label, clientId }: { wish: PublishWish; label: string; clientId?: string }) {
  const { account, controller } = useStores()
  const leaving = useAccount((view) => view.leaving)
  const signIn = () => {
    // The page is left: what was trained is kept first.
    controller.send({ type: 'save' })
    void account.signIn(wish, clientId)
  }
  return (
    <button type="button" className="button" data-testid="sign-in" disabled={leaving || clientId === ''} onClick={signIn}>
      {leaving ? TAKE_AWAY_STRINGS.account.going : label}
    </button>
  )
}
