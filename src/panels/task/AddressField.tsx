/** The field for a server's address: takes every form, says in place what it understood, and connects by Enter or the button. */

import { useId, useState } from 'react'
import { describeAddress, readAddress } from '../../store/address'
import { type Stores, useRun, useSetup, useStores } from '../../store/hooks'
import { nameServer } from '../../store/server-name'
import { takeLostFocus } from '../../ui/focus'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { StartOver } from './StartOver'
import { useConnected } from './useConnected'
import { useConnecting } from './useConnecting'

/** What was typed last and not connected to: another environment may be looked at meanwhile. */
const typed = new WeakMap<Stores, string>()

export function AddressField() {
  const id = useId()
  const stores = useStores()
  const chosen = useSetup(({ config: { environment } }) => (environment.kind === 'openenv' ? environment.url : ''))
  const [shown, setShown] = useState(chosen)
  const [text, setText] = useState(() => chosen || (typed.get(stores) ?? ''))
  const [why, setWhy] = useState<string | null>(null)
  const connecting = useConnecting()
  // A link that was opened meanwhile names another server; remounting instead would lose the focus at every Enter.
  if (chosen !== shown) {
    setShown(chosen)
    setText(chosen)
    setWhy(null)
  }
  const understood = describeAddress(text, location.protocol)
  const connected = useConnected()
  // Only of the address that stands in the field.
  const read = readAddress(text, location.protocol)
  const to = connected?.spec.kind === 'openenv' ? connected.spec.url : null
  const isConnected = to !== null && !why && read.ok && read.value === to
  const failed = useRun(({ run }) => (run.state === 'failed' && run.kind === 'environment' ? run : null))
  const tried = useSetup(({ applied, turnedDown }) => {
    const spec = turnedDown ?? applied?.environment
    return spec?.kind === 'openenv' ? spec.url : null
  })
  const refused = failed && !why && read.ok && read.value === tried ? failed : null
  const submit = () => {
    const read = readAddress(text, location.protocol)
    setWhy(read.ok ? null : read.why)
    if (read.ok) connecting.connect({ kind: 'openenv', url: read.value })
  }
  const below = why ? `${id}-why` : understood ? `${id}-understood` : undefined
  return (
    <form
      className="address"
      onSubmit={(e) => {
        e.preventDefault()
        submit()
      }}
    >
      <span className="titled">
        <label htmlFor={id} className="note">
          {S.task.url}
        </label>
        <Help of="task:url" name={S.task.url} />
      </span>
      <input
        id={id}
        data-testid="url-input"
        value={text}
        placeholder={S.address.hint}
        inputMode="url"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        aria-invalid={why !== null || refused !== null}
        aria-describedby={below}
        onChange={(e) => {
          setText(e.target.value)
          typed.set(stores, e.target.value)
          setWhy(null)
          connecting.cancel()
        }}
      />
      {isConnected && (
        <p className="connected" role="status" data-testid="connected">
          <span aria-hidden="true">✓</span> {S.address.connected(nameServer(to), connected?.maxSessions ?? null)}
        </p>
      )}
      {!isConnected && !why && understood && (
        <p className="note understood" id={`${id}-understood`} data-testid="understood">
          {understood}
        </p>
      )}
      {why && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}
        </p>
      )}
      {refused && (
        <p className="why" data-testid="connect-failed">
          {refused.error} {refused.advice}
        </p>
      )}
      {connecting.asked === null && (
        <button type="submit" className="button" data-testid="connect" ref={connecting.answered ? takeLostFocus : null}>
          {isConnected ? S.address.again : S.address.connect}
        </button>
      )}
      <StartOver connecting={connecting} />
    </form>
  )
}
