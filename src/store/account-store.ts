/** Who is signed in to the Hub on this page. The token itself goes to the worker; here is only whose it is. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { describeError } from '../core/errors'
import type { PublishWish, SignedIn } from '../hub/sign-in'

export type { PublishWish, SignedIn }

/** Signing in by leaving the page and coming back. */
export interface SignInDoor {
  /** That the site came with; null where a person must give one. */
  readonly clientId: string | null
  /** This page's address where it lies in a frame, in which nobody can sign in. */
  readonly outOfFrame: string | null
  /** Leaves the page; rejects when that is not possible. */
  leave(clientId: string, wish: PublishWish): Promise<void>
  /** The sign-in that the page came back with; null where it came from elsewhere. Rejects with what the Hub refused. */
  comeBack(): Promise<SignedIn | null>
  /** The sign-in that this tab has from before. */
  here(): SignedIn | null
  /** Scopes that a wish needs and that were not granted. */
  lacking(account: Pick<SignedIn, 'scopes'>, wish: PublishWish): string[]
  /** Why it cannot be used any more. */
  expired(account: Pick<SignedIn, 'expiresAt'>): Error | null
  forget(): void
}

export interface AccountView {
  /** null until signing in is possible; '' where a person must give a client id. */
  clientId: string | null
  outOfFrame: string | null
  /** null for a token that was pasted, and for none. */
  who: Pick<SignedIn, 'user' | 'orgs' | 'scopes' | 'expiresAt'> | null
  /** The page is being left for the Hub. */
  leaving: boolean
  problem: string | null
}

export interface Account {
  readonly store: StoreApi<AccountView>
  /** Makes signing in possible and takes over who is signed in. Resolves to whether the page just came back from the Hub. */
  open(door: SignInDoor): Promise<boolean>
  /** Leaves for the Hub, to come back with what the wish needs; `clientId` where the site has none. */
  signIn(wish: PublishWish, clientId?: string): Promise<void>
  /** Forgets the sign-in or the pasted token. */
  signOut(): void
  /** What a signed-in person has still to allow for this wish; [] for a pasted token. */
  lacking(wish: PublishWish): string[]
  /** Whether the sign-in still holds; signs out and says so where it does not. */
  isValid(): boolean
}

/** `setToken` hands a token to the worker, or null to forget it. */
export function createAccount(setToken: (token: string | null) => void): Account {
  const store = createStore<AccountView>(() => ({ clientId: null, outOfFrame: null, who: null, leaving: false, problem: null }))
  let door: SignInDoor | null = null

  function enter({ token, user, orgs, scopes, expiresAt }: SignedIn) {
    setToken(token)
    store.setState({ who: { user, orgs, scopes, expiresAt }, problem: null })
  }

  function signOut() {
    door?.forget()
    setToken(null)
    store.setState({ who: null, problem: null })
  }

  return {
    store,
    async open(opened) {
      door = opened
      store.setState({ clientId: opened.clientId ?? '', outOfFrame: opened.outOfFrame })
      const before = opened.here()
      if (before) enter(before)
      try {
        const back = await opened.comeBack()
        if (back) enter(back)
        return back !== null
      } catch (error) {
        store.setState({ problem: describeError(error) })
        return true
      }
    },
    async signIn(wish, clientId) {
      const view = store.getState()
      if (!door || view.leaving) return
      store.setState({ leaving: true, problem: null })
      try {
        await door.leave(clientId ?? view.clientId ?? '', wish)
      } catch (error) {
        store.setState({ leaving: false, problem: describeError(error) })
      }
    },
    signOut,
    lacking(wish) {
      const { who } = store.getState()
      return who && door ? door.lacking(who, wish) : []
    },
    isValid() {
      const { who } = store.getState()
      const expired = who && door ? door.expired(who) : null
      if (!expired) return true
      signOut()
      store.setState({ problem: describeError(expired) })
      return false
    },
  }
}
