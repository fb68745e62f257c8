/** The dialog of known environments, to be searched. Nothing in it connects to anything. */

import { useId, useState } from 'react'
import { CATALOGUE, type Entry } from '../../env/openenv/catalogue'
import { ABOUT, CATALOGUE_STRINGS as C } from '../../ui/catalogue-strings'
import { Modal } from '../../ui/Modal'
import { KnownEnvironment } from './KnownEnvironment'
import { OwnServer } from './OwnServer'

/** Whether an entry's words hold every word of `text`. */
function speaksOf({ id, title, tools, offers = [], needs }: Entry, text: string): boolean {
  const words = [id, title, ABOUT[id] ?? '', ...tools.map(({ tool }) => tool.function.name), ...offers, ...needs].join(' ').toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => words.includes(word))
}

export function KnownList({ onClose }: { onClose: () => void }) {
  const id = useId()
  const [text, setText] = useState('')
  const shown = CATALOGUE.filter((entry) => speaksOf(entry, text.trim()))
  return (
    <Modal
      id="known"
      help="dialog:known"
      title={C.title}
      lead={C.lead}
      close={C.close}
      onClose={onClose}
      head={
        <div className="known-find">
          <label htmlFor={`${id}-find`}>{C.find}</label>
          <input
            id={`${id}-find`}
            type="search"
            data-testid="find-known"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(e) => setText(e.target.value)}
          />
        </div>
      }
    >
      {text.trim() === '' && <OwnServer />}
      {shown.length === 0 && <p className="empty">{C.none(text.trim())}</p>}
      {(['played', 'source'] as const).map((evidence) => (
        <Group key={evidence} evidence={evidence} entries={shown.filter((entry) => entry.evidence === evidence)} />
      ))}
    </Modal>
  )
}

function Group({ evidence, entries }: { evidence: keyof typeof C.groups; entries: readonly Entry[] }) {
  const [title, why] = C.groups[evidence]
  if (entries.length === 0) return null
  return (
    <section className="known-group" data-testid={`known-${evidence}`}>
      <h3>{title}</h3>
      <p className="note">{why}</p>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id} className="known-entry" data-testid={`known-entry-${entry.id}`}>
            <KnownEnvironment entry={entry} />
          </li>
        ))}
      </ul>
    </section>
  )
}
