/** A sign-in at the Hub that nobody leaves the page for; for tests and for looking at the page, never for the product. */

import type { PublishWish, SignedIn, SignInDoor } from '../account-store'

export const JULIA: SignedIn = { token: 'hf_oauth_of-julia', expiresAt: 5, user: 'julia', orgs: [], scopes: ['openid', 'profile', 'contribute-repos'] }

/** `left`: with what the page was to be left; `forgotten`: one entry for each time. */
export function signInDoor(change: Partial<SignInDoor> = {}) {
  const left: [string, PublishWish][] = []
  const forgotten: null[] = []
  const door: SignInDoor = {
    clientId: 'app',
    outOfFrame: null,
    leave: (clientId, wish) => Promise.resolve(void left.push([clientId, wish])),
    comeBack: () => Promise.resolve(null),
    here: () => null,
    lacking: () => [],
    expired: () => null,
    forget: () => void forgotten.push(null),
    ...change,
  }
  return { door, left, forgotten }
}
