/** One entry of the list: what it is, its tools, what its server needs, and its recorded episode where there is one. */

import { useState } from 'react'
import type { Entry } from '../../env/openenv/catalogue'
import { ABOUT, CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'
import { S } from '../../ui/strings'
import { Facts } from './Facts'
import { RecordedEpisode } from './RecordedEpisode'

/** 'move(direction)'. */
function toolNames({ tools, offers = [] }: Entry): string[] {
  const own = tools.map(({ tool: { function: f } }) => `${f.name}(${Object.keys(f.parameters.properties ?? {}).join(', ')})`)
  return own.length > 0 ? own : offers.map((name) => `${name}(…)`)
}

export function KnownEnvironment({ entry }: { entry: Entry }) {
  const [looking, setLooking] = useState(false)
  const { id, title, observation, needs, unsupported, unrecorded, hosts, recording, family } = entry
  const tools = toolNames(entry)
  return (
    <>
      <h4>{title}</h4>
      <p>{ABOUT[id] ?? observation}</p>
      <p className="note">
        {S.task.tools}: {tools.length > 0 ? <code>{tools.join(' · ')}</code> : family === 'mcp' && unsupported === null ? C.ownTools : C.noTools}
      </p>
      {unsupported !== null && (
        <p className="needs">
          {C.cannot} {unsupported}
        </p>
      )}
      {needs.length > 0 && <p className="needs">{C.needs(needs)}</p>}
      {hosts.length > 0 && <p className="note">{C.hosts(hosts)}</p>}
      {unsupported === null && (
        <details>
          <summary>{C.more}</summary>
          <Facts of={entry} />
        </details>
      )}
      {recording === null ? (
        <p className="note">{C.noRecording(unrecorded)}</p>
      ) : (
        <button type="button" className="link" data-testid={`look-${id}`} aria-expanded={looking} onClick={() => setLooking(!looking)}>
          {looking ? C.hide : C.look}
        </button>
      )}
      {looking && recording !== null && <RecordedEpisode entry={entry} path={recording} />}
    </>
  )
}
