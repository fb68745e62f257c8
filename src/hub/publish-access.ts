/** Whether a token can write where it should, as far as the Hub says so before anything is uploaded. */

import { z } from 'zod'
import type { PlaygroundError } from '../core/errors'
import { refusal } from './publish-errors'

const named = z.looseObject({ name: z.string() })

/** What of /api/whoami-v2 is read. The lists of a fine-grained token are not documented: a layout that is not this one is not judged. */
const whoAmISchema = z.looseObject({
  name: z.string(),
  orgs: z.array(named).optional().catch(undefined),
  auth: z
    .looseObject({
      accessToken: z
        .looseObject({
          role: z.string().optional(),
          fineGrained: z
            .looseObject({
              global: z.array(z.string()).optional(),
              scoped: z.array(z.looseObject({ entity: z.looseObject({ name: z.string().optional() }), permissions: z.array(z.string()) })),
            })
            .optional()
            .catch(undefined),
        })
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
})
export type WhoAmI = z.infer<typeof whoAmISchema>

/** Throws ZodError for what is no answer of the Hub. */
export function readWhoAmI(value: unknown): WhoAmI {
  return whoAmISchema.parse(value)
}

const same = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b.toLowerCase()

/**
 * Why this token cannot publish to owner/name; null where nothing speaks against it. What only the Hub can know
 * (a scope of an OAuth token, a policy of an organisation) is left to its answer.
 */
export function missingAccess(who: WhoAmI, repo: string, asPullRequest: boolean): PlaygroundError | null {
  const [namespace = ''] = repo.split('/')
  const token = who.auth?.accessToken
  if (token?.role === 'read') {
    const advice = 'Make one with the role write at https://huggingface.co/settings/tokens and paste it, or sign in.'
    return refusal('lasting', `This token of ${who.name} may only read: its role is “read”.`, advice)
  }
  if (token?.role === 'fineGrained' && token.fineGrained) {
    const { global = [], scoped } = token.fineGrained
    const has = (permission: string) => scoped.some(({ entity, permissions }) => permissions.includes(permission) && (same(entity.name, namespace) || same(entity.name, repo)))
    if (has('repo.write') || (asPullRequest && global.includes('discussion.write'))) return null
    // An entity without a name may be this very repository.
    if (scoped.some(({ entity, permissions }) => entity.name === undefined && permissions.includes('repo.write'))) return null
    const [permission, label] = asPullRequest
      ? ['discussion.write', '“Interact with discussions / Open pull requests”']
      : ['repo.write', `“Write access to contents/settings” of ${namespace}'s repositories or of ${repo}`]
    const advice = `Edit the token at https://huggingface.co/settings/tokens and tick ${label}.`
    return refusal('lasting', `This fine-grained token of ${who.name} lacks the permission ${permission} for ${asPullRequest ? repo : namespace}.`, advice)
  }
  if (asPullRequest || who.orgs === undefined || same(who.name, namespace) || who.orgs.some(({ name }) => same(name, namespace))) return null
  const places = [who.name, ...who.orgs.map(({ name }) => name)].join(', ')
  const advice = `Write to one of: ${places}. Or publish as a pull request; for an organisation, sign in again and tick its box.`
  return refusal('lasting', `The account ${who.name} may not write under “${namespace}”.`, advice)
}
