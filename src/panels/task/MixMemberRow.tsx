/** One of several environments: its name, its weight and share, its prompts, and the button that takes it out. */

import { useId, useState } from 'react'
import type { MixMember } from '../../core/environment-spec'
import { useConnected } from './useConnected'
import { Help } from '../../ui/Help'
import { KIND_STRINGS as W } from '../../ui/kind-strings'
import { readWeight } from './mix'

interface MixMemberRowProps {
  name: string
  member: MixMember
  /** Percent. */
  share: number
  /** The last one cannot be taken out. */
  alone: boolean
  onChange: (change: Partial<MixMember>) => void
  onRemove: () => void
}

export function MixMemberRow({ name, member, share, alone, onChange, onRemove }: MixMemberRowProps) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const wrong = typed !== null && readWeight(typed) === null
  const { environment, weight } = member
  return (
    <li className="mix-member" data-testid="mix-member">
      <div className="mix-line">
        <span className="mix-name" title={environment.kind === 'openenv' ? environment.url : undefined}>
          {name}
        </span>
        <button type="button" className="button small" data-testid="mix-remove" disabled={alone} aria-label={W.removeName(name)} onClick={onRemove}>
          {W.remove}
        </button>
      </div>
      <div className="mix-weight">
        <label htmlFor={id} className="note">
          {W.weight}
        </label>
        <input
          id={id}
          inputMode="decimal"
          data-testid="mix-weight"
          value={typed ?? String(weight)}
          aria-label={W.weightOf(name)}
          aria-invalid={wrong}
          aria-describedby={`${id}-share`}
          onChange={(e) => {
            setTyped(e.target.value)
            const next = readWeight(e.target.value)
            if (next !== null) onChange({ weight: next })
          }}
          onBlur={() => setTyped(null)}
        />
        <output id={`${id}-share`} htmlFor={id} className="mix-share">
          {W.share(share)}
        </output>
      </div>
      {wrong && (
        <p className="why" role="alert">
          {W.wrongWeight(typed)}
        </p>
      )}
      <MemberPrompts name={name} member={member} onChange={onChange} />
    </li>
  )
}

function MemberPrompts({ name, member, onChange }: Pick<MixMemberRowProps, 'name' | 'member' | 'onChange'>) {
  const id = useId()
  const own = useConnected()?.members?.find((each) => each.name === name)?.prompts
  const texts = ['system_prompt', ...(member.environment.kind === 'prompts' ? [] : (['user_prompt'] as const))] as const
  return (
    <details className="mix-prompts">
      <summary>{W.prompts}</summary>
      {texts.map((key) => (
        <div key={key} className="prompts">
          <span className="titled">
            <label htmlFor={`${id}-${key}`}>{W.promptNames[key]}</label>
            <Help of={W.promptNames[key]} text={W.promptHelp[key]} />
          </span>
          <textarea
            id={`${id}-${key}`}
            data-testid={`mix-${key}`}
            rows={key === 'system_prompt' ? 2 : 1}
            value={member[key]}
            placeholder={(member[key] === '' ? own?.[key === 'system_prompt' ? 'system' : 'user'] : '') || W.ownPrompt}
            onChange={(e) => onChange({ [key]: e.target.value })}
          />
        </div>
      ))}
    </details>
  )
}
