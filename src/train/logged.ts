/** What reward functions log with log_metric: as in TRL the mean of all values of a step, under the name that was given unless the run has that name itself. */

import type { Metrics } from '../core/events'
import { isOwnMetric } from '../rl'

/** Values by name, of any number of calls. */
export class Logged {
  private readonly parts = new Map<string, { mean: number; count: number }[]>()

  /** Means of one call, and of how many values each is; of one where that is not told. */
  add(means: Metrics, counts: Readonly<Record<string, number>> = {}): void {
    for (const [name, mean] of Object.entries(means)) {
      if (mean !== null) this.of(name).push({ mean, count: (Object.hasOwn(counts, name) && counts[name]) || 1 })
    }
  }

  join(other: Logged): void {
    for (const [name, parts] of other.parts) this.of(name).push(...parts)
  }

  means(): Metrics {
    return Object.fromEntries(
      [...this.parts].map(([name, parts]) => {
        const [only, second] = parts
        const count = parts.reduce((sum, part) => sum + part.count, 0)
        return [name, only && !second ? only.mean : parts.reduce((sum, part) => sum + part.mean * part.count, 0) / count]
      }),
    )
  }

  private of(name: string): { mean: number; count: number }[] {
    const parts = this.parts.get(name) ?? []
    this.parts.set(name, parts)
    return parts
  }
}

/** What was logged, as it stands beside a run's own metrics: where a name is `taken` by one of those, log_metric/ comes before it. */
export function besideOwn(logged: Metrics, own: Metrics): { metrics: Metrics; taken: string[] } {
  const taken = Object.keys(logged).filter((name) => isOwnMetric(name) || Object.hasOwn(own, name))
  return { metrics: Object.fromEntries(Object.entries(logged).map(([name, value]) => [taken.includes(name) ? apart(name) : name, value])), taken }
}

const apart = (name: string): string => `log_metric/${name}`

/** Says under which names it stands. */
export const toldApart = (names: readonly string[]): string =>
  `What log_metric gave as ${names.join(', ')} stands under ${names.map(apart).join(', ')}: the run has ${names.length === 1 ? 'a metric' : 'metrics'} of its own called so.`
