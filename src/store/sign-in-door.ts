/** The Hub's sign-in as the account needs it, over hub/sign-in.ts. */

import { addressOutOfFrame, expiryProblem, finishSignIn, lackingScopes, scopesFor, signIn, signOut, siteClientId, whoIsSignedIn } from '../hub/sign-in'
import type { SignInDoor } from './account-store'

/** Takes the Hub's answer out of the page's address: make it before anything else reads that. */
export function hubDoor(): SignInDoor {
  const answer = finishSignIn()
  // It is asked for later; until then a refusal is nobody's unhandled error.
  answer.catch(() => undefined)
  return {
    clientId: siteClientId(),
    outOfFrame: addressOutOfFrame(),
    leave: (clientId, wish) => signIn({ clientId, scopes: scopesFor(wish) }),
    comeBack: () => answer,
    here: () => whoIsSignedIn(),
    lacking: lackingScopes,
    expired: (account) => expiryProblem(account),
    forget: signOut,
  }
}
