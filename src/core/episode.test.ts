import { expect, it } from 'vitest'
import { type Episode, UNSCORABLE_EXITS, type Turn, VERDICTS, type Verdict, verdictOf } from './episode'

const turn = (reward: number | null): Turn => ({
  start: 0, end: 1, resultEnd: 2, parseError: null,
  calls: [{ call: { name: 'go', arguments: {} }, result: '', reward, done: false, error: false, ms: 1 }],
})
type Ended = Pick<Episode, 'exit' | 'reward' | 'turns'>

it.each<[Verdict, Ended]>([
  ['said', { exit: 'env_done', reward: 0, turns: [turn(0)] }],
  ['no_call', { exit: 'answered', reward: 0, turns: [{ ...turn(null), calls: [] }] }],
  ['budget', { exit: 'turn_limit', reward: 0.5, turns: [turn(0.5)] }],
  ['budget', { exit: 'token_limit', reward: null, turns: [turn(null)] }],
  ['env_silent', { exit: 'env_done', reward: null, turns: [turn(null)] }],
  ['env_failed', { exit: 'env_error', reward: null, turns: [turn(1)] }],
  ['unreadable', { exit: 'env_unreadable', reward: null, turns: [turn(1)] }],
  ['stopped', { exit: 'stopped', reward: null, turns: [] }],
])('%s: %o', (verdict, ended) => {
  expect(verdictOf(ended)).toBe(verdict)
  expect(VERDICTS).toContain(verdict)
  if (UNSCORABLE_EXITS.includes(ended.exit)) expect(ended.reward).toBeNull()
})
