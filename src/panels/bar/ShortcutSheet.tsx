/** The sheet of the page's keys, drawn from their table, with the switch that turns them off. */

import { Modal } from '../../ui/Modal'
import { type Shortcut, SHORTCUT_PARTS, SHORTCUTS } from '../../ui/shortcuts'
import { S } from '../../ui/strings'
import { Switch } from '../../ui/Switch'

const K = S.controls.keys

export interface ShortcutSheetProps {
  on: boolean
  onChange: (on: boolean) => void
  onClose: () => void
}

export function ShortcutSheet({ on, onChange, onClose }: ShortcutSheetProps) {
  return (
    <Modal id="keys" title={K.title} lead={on ? K.lead : K.off} close={K.close} onClose={onClose} head={<Switch id="keys-on" label={K.on} on={on} onChange={onChange} />}>
      {SHORTCUT_PARTS.map((part) => (
        <section key={part} className="keys-part">
          <h3>{K.parts[part]}</h3>
          <dl className={on ? 'keys' : 'keys off'}>
            {SHORTCUTS.filter((each) => each.part === part).map((each) => (
              <Line key={each.id} keys={keysOf(each)} words={K.words[each.id]} />
            ))}
            {part === 'look' && <Line keys={['← → ↑ ↓']} words={K.arrows} />}
            {part === 'page' && <Line keys={['Esc']} words={K.escape} />}
          </dl>
        </section>
      ))}
    </Modal>
  )
}

function Line({ keys, words }: { keys: readonly string[]; words: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{words}</dd>
    </div>
  )
}

/** The key caps that are pressed together. */
function keysOf({ key, shift }: Shortcut): string[] {
  return [...(shift ? [K.shift] : []), key === ' ' ? K.space : key.toUpperCase()]
}
