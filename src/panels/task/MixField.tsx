/** Several environments of one run: its members with their shares and prompts, how one is added, and who chooses whose turn a prompt is. */

import { useState } from 'react'
import type { EnvironmentSpec } from '../../core/environment-spec'
import { isSame } from '../../core/same'
import { useSetup, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { KIND_STRINGS as W } from '../../ui/kind-strings'
import '../../ui/mix.css'
import { Segmented } from '../../ui/Segmented'
import type { KindFieldProps } from './kinds'
import { PromptsField } from './member-fields'
import { changeMember, lacksJudge, memberNames, shares, withDataset, withJudge, withMember, withoutMember } from './mix'
import { MixAdd } from './MixAdd'
import { MixMemberRow } from './MixMemberRow'
import { StartOver } from './StartOver'
import { useConnecting } from './useConnecting'

const CHOOSERS = ['weight', 'column'] as const

export function MixField({ spec, choose }: KindFieldProps) {
  const { controller } = useStores()
  const connecting = useConnecting()
  const grpo = useSetup(({ config }) => config.grpo)
  const used = useSetup(({ applied, config }) => isSame(applied?.environment, config.environment))
  const mix = spec?.kind === 'mix' ? spec : null
  const [rows, setRows] = useState(false)
  if (!mix) return null
  const names = memberNames(mix.members)
  const parts = shares(mix.members)
  const byColumn = rows || mix.dataset !== null
  const addJudge = () => controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...withJudge(config.grpo) } }))
  const takeRows = (next: EnvironmentSpec) => next.kind === 'prompts' && choose(withDataset(mix, next.dataset))
  return (
    <div className="mix" data-testid="mix-field">
      <div className="titled">
        <span className="mix-title">{W.members}</span>
        <Help of={W.members} text={W.membersHelp} />
      </div>
      <ul className="mix-members">
        {mix.members.map((member, i) => (
          <MixMemberRow
            key={i}
            name={names[i] ?? ''}
            member={member}
            share={parts[i] ?? 0}
            alone={mix.members.length === 1}
            onChange={(change) => choose(changeMember(mix, i, change))}
            onRemove={() => choose(withoutMember(mix, i))}
          />
        ))}
      </ul>
      <MixAdd
        mix={mix}
        onAdd={(environment) => {
          choose(withMember(mix, environment))
          if (environment.kind === 'prompts') addJudge()
        }}
      />
      {lacksJudge(mix, grpo) && (
        <p className="why">
          {W.noJudge}{' '}
          <button type="button" className="button small" data-testid="mix-judge" onClick={addJudge}>
            {W.addJudge}
          </button>
        </p>
      )}
      <div className="titled">
        <span className="mix-title">{W.chooser}</span>
        <Help of={W.chooser} text={W.chooserHelp} />
        <Segmented
          id="mix-chooser"
          label={W.chooser}
          options={CHOOSERS}
          names={W.choosers}
          value={byColumn ? 'column' : 'weight'}
          onChange={(next) => {
            setRows(next === 'column')
            if (next === 'weight' && mix.dataset) choose(withDataset(mix, null))
          }}
        />
      </div>
      {byColumn && <p className="note">{W.columnNote(names)}</p>}
      {byColumn && <PromptsField spec={mix.dataset && { kind: 'prompts', dataset: mix.dataset }} choose={takeRows} within />}
      {!used && connecting.asked === null && (
        <button type="button" className="button" data-testid="mix-use" onClick={() => connecting.connect(mix)}>
          {W.useMix}
        </button>
      )}
      <StartOver connecting={connecting} />
    </div>
  )
}
