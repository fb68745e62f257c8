/** What a rollout function returned, checked: who wrote each token, by what generate has drawn and what env_mask says. */

import type { SampledToken } from '../../core/engine'
import { PlaygroundError } from '../../core/errors'
import { isRecord } from '../../core/records'
import type { Drawn } from './generate'

/** One completion. `tokens` has the drawn token where the model's own text trains, null elsewhere. */
export interface Returned {
  prompt_ids: number[]
  completion_ids: number[]
  tokens: (SampledToken | null)[]
  columns: Record<string, unknown>
}

const KNOWN = ['prompt_ids', 'completion_ids', 'logprobs', 'env_mask', 'logprob_token_ids']

function refuse(what: string, advice = 'TRL’s contract: prompt_ids, completion_ids and logprobs, a list for each prompt.'): never {
  throw new PlaygroundError('config', what, advice)
}

/** Checks what `called` returned for the episodes of these indices, a prompt each. Throws PlaygroundError('config') with what is wrong. */
export function readResult(called: string, value: unknown, indices: readonly number[], largestId: number, drawn: readonly Drawn[]): Returned[] {
  const count = indices.length
  if (!isRecord(value)) refuse(`${called} returned ${value === null ? 'nothing' : 'no object'}.`)
  const lists = (key: string): unknown[][] => {
    const list = value[key]
    if (!Array.isArray(list)) return refuse(`${called} returned no ${key}.`)
    if (list.length !== count) return refuse(`${called} returned ${list.length} ${key} for ${count} prompts.`)
    const bad = list.findIndex((one) => !Array.isArray(one))
    return bad >= 0 ? refuse(`${called} returned ${key} ${bad + 1}, which is no list.`) : (list as unknown[][])
  }
  const [prompts, completions, logprobs] = [lists('prompt_ids'), lists('completion_ids'), lists('logprobs')]
  const masks = value['env_mask'] === undefined || value['env_mask'] === null ? null : lists('env_mask')
  const columns = Object.entries(value).filter((entry): entry is [string, unknown[]] => !KNOWN.includes(entry[0]) && Array.isArray(entry[1]) && entry[1].length === count)
  return completions.map((completion, i) => {
    const nth = `of completion ${i + 1}`
    for (const [key, ids] of [['prompt_ids', prompts[i]], ['completion_ids', completion]] as const) {
      const bad = ids?.find((id) => typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > largestId)
      if (bad !== undefined) refuse(`${key} ${nth} hold ${JSON.stringify(bad)}, which is no token of this model.`)
    }
    const prompt_ids = prompts[i] as number[]
    const completion_ids = completion as number[]
    if (prompt_ids.length === 0) refuse(`prompt_ids ${nth} are empty.`)
    const given = logprobs[i] as unknown[]
    if (given.length !== completion.length) refuse(`${given.length} logprobs ${nth} do not fit its ${completion.length} tokens.`)
    const mask = masks?.[i] ?? null
    if (mask && mask.length !== completion.length) refuse(`${mask.length} values of env_mask ${nth} do not fit its ${completion.length} tokens.`)
    if (mask?.some((bit) => bit !== 0 && bit !== 1)) refuse(`env_mask ${nth} holds something else than 0 and 1.`)
    const wrong = given.find((logprob, at) => (mask?.[at] ?? 1) === 1 && (typeof logprob !== 'number' || !(logprob <= 1e-6)))
    if (wrong !== undefined) refuse(`logprobs ${nth} hold ${JSON.stringify(wrong)}; a log-prob is a number of at most 0.`)
    const written = writtenBy(prompt_ids, completion_ids, drawn.toSorted((a, b) => Number(b.index === indices[i]) - Number(a.index === indices[i])))
    const foreign = written.findIndex((token, at) => token === null && (mask?.[at] ?? 1) === 1)
    if (foreign >= 0) {
      const some = written.filter((token, at) => token === null && (mask?.[at] ?? 1) === 1).length
      const what = `${some} ${some === 1 ? 'token' : 'tokens'} ${nth}, from place ${foreign + 1} on, ${some === 1 ? 'was' : 'were'} not written by trainer.generate`
      if (!mask) refuse(`${what}, and ${called} returned no env_mask.`, 'Return env_mask: 1 for the model’s tokens, 0 for all others. Without it the model would be trained to write them.')
      refuse(`${what}, but env_mask says 1.`, 'Only tokens that the model drew in this very context can be trained.')
    }
    return {
      prompt_ids,
      completion_ids,
      tokens: written.map((token, at) => ((mask?.[at] ?? 1) === 1 ? token : null)),
      columns: Object.fromEntries(columns.map(([key, list]) => [key, list[i]])),
    }
  })
}

/** For each token of a completion what generate drew there, in exactly this context; null for what it did not. Of draws that are alike the first. */
function writtenBy(prompt: readonly number[], completion: readonly number[], drawn: readonly Drawn[]): (SampledToken | null)[] {
  const ids = [...prompt, ...completion]
  const out: (SampledToken | null)[] = []
  for (let at = prompt.length; at < ids.length; ) {
    const runs = drawn.filter((one) => one.ids.length === at && one.ids.every((id, i) => id === ids[i])).map(({ tokens }) => alike(tokens, ids, at))
    const run = runs.reduce<SampledToken[]>((best, each) => (each.length > best.length ? each : best), [])
    out.push(...(run.length > 0 ? run : [null]))
    at += Math.max(1, run.length)
  }
  return out
}

function alike(tokens: readonly SampledToken[], ids: readonly number[], at: number): SampledToken[] {
  const other = tokens.findIndex(({ id }, i) => id !== ids[at + i])
  return tokens.slice(0, other < 0 ? undefined : other)
}
