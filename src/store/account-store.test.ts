import { describe, expect, it } from 'vitest'
import { createAccount, type SignedIn, type SignInDoor } from './account-store'

const JULIA: SignedIn = { token: 'hf_oauth_secret', user: 'julia', expiresAt: 5 }

function page(door: Partial<SignInDoor> = {}) {
  const tokens: (string | null)[] = []
  let forgotten = 0
  const account = createAccount((token) => tokens.push(token))
  const whole: SignInDoor = { leave: () => Promise.resolve(), comeBack: () => Promise.resolve(null), forget: () => forgotten++, ...door }
  return { account, door: whole, tokens, view: account.store.getState, forgotten: () => forgotten }
}

describe('the account on the Hub', () => {
  it('comes back with a token for the worker, which the page does not keep', async () => {
    const { account, door, tokens, view, forgotten } = page({ comeBack: () => Promise.resolve(JULIA) })
    expect(view().canSignIn).toBe(false)
    await account.open(door)
    expect(tokens).toEqual(['hf_oauth_secret'])
    expect(view()).toMatchObject({ canSignIn: true, user: 'julia' })
    expect(JSON.stringify(view())).not.toContain('secret')
    account.signOut()
    expect([tokens.at(-1), view().user, forgotten()]).toEqual([null, null, 1])
  })

  it('leaves the page once, and says why it could not', async () => {
    let refuse: (error: Error) => void = () => undefined
    const { account, door, view } = page({ leave: () => new Promise((_, reject) => (refuse = reject)) })
    await account.signIn()
    expect(view().leaving).toBe(false)
    await account.open(door)
    const leaving = account.signIn()
    expect(view().leaving).toBe(true)
    refuse(new Error('The Hub cannot be reached.'))
    await leaving
    expect(view()).toMatchObject({ leaving: false, problem: 'The Hub cannot be reached.' })
  })

  it('says what the Hub refused', async () => {
    const { account, door, view, tokens } = page({ comeBack: () => Promise.reject(new Error('You did not allow it.')) })
    await account.open(door)
    expect([view().problem, view().user, tokens]).toEqual(['You did not allow it.', null, []])
  })
})
