/** Adds an environment to several: a game of the page at once, a server, prompts or a class once its field is filled in. */

import { useId, useState } from 'react'
import { BUILTIN_NAMES, type SingleSpec } from '../../core/environment-spec'
import { readAddress } from '../../store/address'
import { Help } from '../../ui/Help'
import { KIND_STRINGS as W } from '../../ui/kind-strings'
import { S } from '../../ui/strings'
import { ClassField, PromptsField } from './member-fields'
import { isFull, type MixSpec } from './mix'

type Asked = 'openenv' | 'prompts' | 'custom'
const ASKED: readonly Asked[] = ['openenv', 'prompts', 'custom']

export function MixAdd({ mix, onAdd }: { mix: MixSpec; onAdd: (environment: SingleSpec) => void }) {
  const id = useId()
  const [asked, setAsked] = useState<Asked | null>(null)
  if (isFull(mix)) return <p className="note">{W.full(mix.members.length)}</p>
  const add = (environment: SingleSpec) => {
    setAsked(null)
    onAdd(environment)
  }
  const pick = (value: string) => {
    const name = BUILTIN_NAMES.find((each) => each === value)
    const kind = ASKED.find((each) => each === value)
    if (name) add({ kind: 'builtin', name })
    else setAsked(kind ?? null)
  }
  return (
    <div className="mix-add">
      <span className="titled">
        <label htmlFor={id} className="note">
          {W.add}
        </label>
        <Help of={W.add} text={W.addHelp} />
      </span>
      <select id={id} data-testid="mix-add" value={asked ?? ''} onChange={(e) => pick(e.target.value)}>
        <option value="">{W.choose}</option>
        {BUILTIN_NAMES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
        {ASKED.map((kind) => (
          <option key={kind} value={kind}>
            {W.kinds[kind]}
          </option>
        ))}
      </select>
      {asked === 'openenv' && <ServerForm onAdd={add} />}
      {asked === 'prompts' && <PromptsField spec={null} choose={(next) => next.kind === 'prompts' && add(next)} within />}
      {asked === 'custom' && <ClassField spec={null} choose={(next) => next.kind === 'custom' && add(next)} within />}
    </div>
  )
}

function ServerForm({ onAdd }: { onAdd: (environment: SingleSpec) => void }) {
  const id = useId()
  const [text, setText] = useState('')
  const [why, setWhy] = useState<string | null>(null)
  return (
    <form
      className="address"
      onSubmit={(e) => {
        e.preventDefault()
        const read = readAddress(text, location.protocol)
        setWhy(read.ok ? null : read.why)
        if (read.ok) onAdd({ kind: 'openenv', url: read.value })
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
        data-testid="mix-url"
        value={text}
        placeholder={S.address.hint}
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
      {why !== null && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}
        </p>
      )}
      <button type="submit" className="button small" data-testid="mix-add-server">
        {W.addServer}
      </button>
    </form>
  )
}
