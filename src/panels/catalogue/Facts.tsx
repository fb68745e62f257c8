/** How an environment works, in sentences: observations, reward, patience, peculiarities, notes. */

import type { DiscoveredEnvironment } from '../../core/discovered'
import { CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'

interface FactsProps {
  of: Pick<DiscoveredEnvironment, 'observation' | 'reward' | 'stepSeconds' | 'quirks' | 'notes'>
  /** What stands before these facts: name and sentence. */
  first?: readonly (readonly [string, string])[]
}

export function Facts({ of: { observation, reward, stepSeconds, quirks, notes }, first = [] }: FactsProps) {
  const rows: (readonly [string, readonly string[]])[] = [
    ...first.map(([name, sentence]) => [name, [sentence]] as const),
    [C.observation, [observation]],
    [C.reward, [C.rewardIs(reward)]],
    [C.patience, stepSeconds === undefined ? [] : [C.seconds(stepSeconds)]],
    [C.peculiar, quirks.map(({ text }) => text)],
    [C.notes, notes],
  ]
  return (
    <dl className="environment-facts">
      {rows.map(
        ([name, sentences]) =>
          sentences.length > 0 && (
            <div key={name}>
              <dt>{name}</dt>
              {sentences.map((sentence) => (
                <dd key={sentence}>{sentence}</dd>
              ))}
            </div>
          ),
      )}
    </dl>
  )
}
