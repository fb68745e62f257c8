/** Who publishes: signed in by the Hub, or a pasted token. */

import { useAccount, useModels, useStores } from '../../store/hooks'
import { S } from '../../ui/strings'
import { MAKE_TOKEN, TokenForm } from '../model/TokenField'

export function Account() {
  const hasToken = useModels((view) => view.hasToken)
  const problem = useAccount((view) => view.problem)
  return (
    <div className="account" data-testid="account">
      {hasToken ? <Known /> : <Unknown />}
      {problem !== null && (
        <p className="why" role="alert" data-testid="sign-in-problem">
          {problem}
        </p>
      )}
    </div>
  )
}

function Known() {
  const { account } = useStores()
  const user = useAccount((view) => view.user)
  const words = S.takeAway.account
  return (
    <p className="publish-line">
      <span data-testid="signed-in">{user === null ? words.token : words.as(user)}</span>
      <button type="button" className="link" data-testid="sign-out" onClick={account.signOut}>
        {user === null ? words.forget : words.signOut}
      </button>
    </p>
  )
}

function Unknown() {
  const { account, controller } = useStores()
  const { canSignIn, leaving } = useAccount((view) => view)
  const words = S.takeAway.account
  const signIn = () => {
    // The page is left: what was trained is kept first.
    controller.send({ type: 'save' })
    void account.signIn()
  }
  return (
    <>
      {canSignIn && (
        <p className="publish-line">
          <button type="button" className="button" data-testid="sign-in" disabled={leaving} onClick={signIn}>
            {leaving ? words.going : words.signIn}
          </button>
          <span className="note">{words.signInHint}</span>
        </p>
      )}
      <details open={!canSignIn}>
        <summary className="note">{canSignIn ? words.or : words.paste}</summary>
        <TokenForm label={words.tokenLabel} />
        <p className="note">
          {words.tokenWhy}{' '}
          <a href={MAKE_TOKEN} target="_blank" rel="noreferrer">
            {S.model.token.make}
          </a>
        </p>
      </details>
    </>
  )
}
