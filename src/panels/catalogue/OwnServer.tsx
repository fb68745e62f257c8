/** Write your own environment: the smallest server, as the very file that the tests play, and how to start it. */

import code from '../../../e2e/openenv/minimal/guess.py?raw'
import { CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'

export function OwnServer() {
  return (
    <details className="own-server" data-testid="own-server">
      <summary>{C.own.title}</summary>
      <p className="note">{C.own.lead}</p>
      <pre tabIndex={0} aria-label={C.own.file}>
        <code>{code}</code>
      </pre>
      <ol>
        {C.own.steps.map(([what, command]) => (
          <li key={what}>
            {what} <code>{command}</code>
          </li>
        ))}
      </ol>
      <ul className="note">
        {C.own.rules.map((rule) => (
          <li key={rule}>{rule}</li>
        ))}
      </ul>
    </details>
  )
}
