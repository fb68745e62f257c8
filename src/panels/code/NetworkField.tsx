/** The hosts that the run's own code may reach, beside that code: none at first, one list for all code of the run. */

import { type FormEvent, useId, useRef, useState } from 'react'
import { hostsOf, MOST_HOSTS, withHosts } from '../../core/network-hosts'
import { readHost } from '../../core/read-host'
import { useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { NETWORK_STRINGS as W } from '../../ui/network-strings'

export function NetworkField() {
  const id = useId()
  const { controller } = useStores()
  const hosts = useSetup((s) => hostsOf(s.config))
  const [text, setText] = useState('')
  const [why, setWhy] = useState<string | null>(null)
  const input = useRef<HTMLInputElement>(null)
  const change = (next: readonly string[]) => controller.edit((config) => withHosts(config, next))
  const remove = (host: string) => {
    change(hosts.filter((each) => each !== host))
    // The button goes, and the focus with it.
    input.current?.focus()
  }
  const add = (event: FormEvent) => {
    event.preventDefault()
    const read = readHost(text)
    setWhy(read.ok ? null : read.why)
    if (!read.ok) return
    if (!hosts.includes(read.value)) change([...hosts, read.value])
    setText('')
  }
  return (
    <section className="network-field" aria-labelledby={`${id}-title`} data-testid="network-field">
      <span className="titled">
        <h3 id={`${id}-title`}>{W.title}</h3>
        <Help of={W.title} text={W.help} />
      </span>
      <p className="note" role="status" data-testid="network-state">
        {hosts.length === 0 ? W.off : W.on}
      </p>
      {hosts.length > 0 && (
        <ul className="network-hosts">
          {hosts.map((host) => (
            <li key={host}>
              <code>{host}</code>
              <button type="button" className="button small" aria-label={W.removeHost(host)} onClick={() => remove(host)}>
                {W.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
      {hosts.length >= MOST_HOSTS ? (
        <p className="note">{W.full(MOST_HOSTS)}</p>
      ) : (
        <form className="network-add" onSubmit={add}>
          <label htmlFor={id}>{W.host}</label>
          <input
            id={id}
            ref={input}
            data-testid="network-host"
            value={text}
            placeholder={W.hint}
            inputMode="url"
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            aria-invalid={why !== null}
            aria-describedby={why === null ? undefined : `${id}-why`}
            onChange={(e) => {
              setText(e.target.value)
              setWhy(null)
            }}
          />
          <button type="submit" className="button small" data-testid="network-add">
            {W.add}
          </button>
        </form>
      )}
      {why !== null && (
        <p className="why" role="alert" id={`${id}-why`}>
          {why}
        </p>
      )}
      {hosts.length > 0 && <p className="note">{W.again}</p>}
    </section>
  )
}
