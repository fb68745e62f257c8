import { describe, expect, it } from 'vitest'
import { createAccount, type PublishWish, type SignInDoor } from './account-store'
import { JULIA, signInDoor } from './testing/sign-in'

const WISH: PublishWish = { toExisting: false, asPullRequest: false }

function page(change: Partial<SignInDoor> = {}) {
  const tokens: (string | null)[] = []
  const account = createAccount((token) => tokens.push(token))
  const { door, left, forgotten } = signInDoor(change)
  return { account, door, tokens, left, forgotten, view: account.store.getState }
}

describe('the account on the Hub', () => {
  it('comes back with a token for the worker, which the page does not keep', async () => {
    const { account, door, tokens, view, forgotten } = page({ comeBack: () => Promise.resolve(JULIA) })
    expect(view().clientId).toBeNull()
    expect(await account.open(door)).toBe(true)
    expect(tokens).toEqual([JULIA.token])
    expect(view()).toMatchObject({ clientId: 'app', who: { user: 'julia' } })
    expect(JSON.stringify(view())).not.toContain(JULIA.token)
    account.signOut()
    expect([tokens.at(-1), view().who, forgotten.length]).toEqual([null, null, 1])
  })

  it('is still there after a reload of the tab', async () => {
    const { account, door, tokens, view } = page({ here: () => JULIA })
    expect(await account.open(door)).toBe(false)
    expect([tokens, view().who?.user]).toEqual([[JULIA.token], 'julia'])
  })

  it('leaves the page with what is wished for, and says why it could not', async () => {
    let refuse: (error: Error) => void = () => undefined
    const { account, door, view } = page({ leave: () => new Promise((_, reject) => (refuse = reject)) })
    await account.signIn(WISH)
    expect(view().leaving).toBe(false)
    await account.open(door)
    const leaving = account.signIn(WISH)
    expect(view().leaving).toBe(true)
    refuse(new Error('The Hub cannot be reached.'))
    await leaving
    expect(view()).toMatchObject({ leaving: false, problem: 'The Hub cannot be reached.' })
  })

  it('takes the client id of the site, or one that a person gives', async () => {
    const { account, door, left } = page()
    await account.open(door)
    await account.signIn({ ...WISH, asPullRequest: true })
    expect(left).toEqual([['app', { toExisting: false, asPullRequest: true }]])
    const own = page({ clientId: null })
    await own.account.open(own.door)
    expect(own.view().clientId).toBe('')
    await own.account.signIn(WISH, 'mine')
    expect(own.left).toEqual([['mine', WISH]])
  })

  it('says what the Hub refused', async () => {
    const { account, door, view, tokens } = page({ comeBack: () => Promise.reject(new Error('You did not allow it.')) })
    expect(await account.open(door)).toBe(true)
    expect([view().problem, view().who, tokens]).toEqual(['You did not allow it.', null, []])
  })

  it('knows what is still to be allowed; a pasted token is not judged', async () => {
    const { account, door } = page({ here: () => JULIA, lacking: (_, { asPullRequest }) => (asPullRequest ? ['write-discussions'] : []) })
    expect(account.lacking({ ...WISH, asPullRequest: true })).toEqual([])
    await account.open(door)
    expect([account.lacking({ ...WISH, asPullRequest: true }), account.lacking(WISH)]).toEqual([['write-discussions'], []])
  })

  it('ends when it has run out', async () => {
    let over = false
    const { account, door, tokens, view } = page({ here: () => JULIA, expired: () => (over ? new Error('Your sign-in has expired.') : null) })
    await account.open(door)
    expect(account.isValid()).toBe(true)
    over = true
    expect(account.isValid()).toBe(false)
    expect([tokens.at(-1), view().who, view().problem]).toEqual([null, null, 'Your sign-in has expired.'])
    expect(account.isValid()).toBe(true)
  })
})
