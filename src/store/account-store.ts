/** Who is signed in to the Hub on this page. The token itself goes to the worker; here is only whose it is. No React, no DOM. */

import { createStore, type StoreApi } from 'zustand/vanilla'
import { describeError } from '../core/errors'

/** A sign-in that has come back from the Hub. */
export interface SignedIn {
  token: string
  /** The account's name, the owner of its repositories. */
  user: string
  /** Milliseconds since 1970. */
  expiresAt: number
}

/** Signing in by leaving the page and coming back, as src/hub/sign-in.ts does it. */
export interface SignInDoor {
  /** Leaves the page; rejects when that is not possible. */
  leave(): Promise<void>
  /** The sign-in that the page came back with, or that this tab still has; null for none. Rejects with what the Hub refused. */
  comeBack(): Promise<SignedIn | null>
  forget(): void
}

export interface AccountView {
  /** Signing in is possible: the page is registered with the Hub. */
  canSignIn: boolean
  /** null for a token that was pasted, and for none. */
  user: string | null
  /** Milliseconds since 1970; null for a pasted token. */
  expiresAt: number | null
  /** The page is being left for the Hub. */
  leaving: boolean
  problem: string | null
}

export interface Account {
  readonly store: StoreApi<AccountView>
  /** Makes signing in possible, and takes over a sign-in that has come back. */
  open(door: SignInDoor): Promise<void>
  signIn(): Promise<void>
  /** Forgets the sign-in or the pasted token. */
  signOut(): void
}

/** `setToken` hands a token to the worker, or null to forget it. */
export function createAccount(setToken: (token: string | null) => void): Account {
  const store = createStore<AccountView>(() => ({ canSignIn: false, user: null, expiresAt: null, leaving: false, problem: null }))
  let door: SignInDoor | null = null
  return {
    store,
    async open(opened) {
      door = opened
      store.setState({ canSignIn: true })
      try {
        const signedIn = await opened.comeBack()
        if (!signedIn) return
        setToken(signedIn.token)
        store.setState({ user: signedIn.user, expiresAt: signedIn.expiresAt })
      } catch (error) {
        store.setState({ problem: describeError(error) })
      }
    },
    async signIn() {
      if (!door || store.getState().leaving) return
      store.setState({ leaving: true, problem: null })
      try {
        await door.leave()
      } catch (error) {
        store.setState({ leaving: false, problem: describeError(error) })
      }
    },
    signOut() {
      door?.forget()
      setToken(null)
      store.setState({ user: null, expiresAt: null, problem: null })
    },
  }
}
