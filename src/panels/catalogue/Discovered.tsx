/** What discovery found out about the connected server, folded beneath its tools; what the server needs stays in view. */

import type { DiscoveredEnvironment } from '../../core/discovered'
import { CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'
import { useConnected } from '../task/useConnected'

/** Nothing for built-in environments, and while no server is connected. */
export function Discovered() {
  const found = useConnected()?.discovered
  return found ? <Found found={found} /> : null
}

function Found({ found }: { found: DiscoveredEnvironment }) {
  const { title, recognised, evidence, observation, reward, stepSeconds, quirks, notes, needs } = found
  const facts: [string, readonly string[]][] = [
    [C.recognised, [recognised]],
    [C.evidence, [C.evidenceWhy[evidence]]],
    [C.observation, [observation]],
    [C.reward, [C.rewardIs(reward)]],
    [C.patience, stepSeconds === undefined ? [] : [C.seconds(stepSeconds)]],
    [C.peculiar, quirks.map(({ text }) => text)],
    [C.notes, notes],
  ]
  return (
    <div className="discovered" data-testid="discovered">
      {needs.length > 0 && (
        <p className="needs" data-testid="discovered-needs">
          {C.needs(needs)}
        </p>
      )}
      <details>
        <summary>
          {C.about}: {title}
        </summary>
        <dl>
          {facts.map(
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
      </details>
    </div>
  )
}
