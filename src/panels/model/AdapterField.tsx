/** The LoRA that step 0 has: a fresh one, a repository on the Hub, or two files. */

import { useId, useState } from 'react'
import { describeError } from '../../core/errors'
import { useModels, useRun, useSetup, useStores } from '../../store/hooks'
import { writeReference } from '../../store/model-settings'
import { Help } from '../../ui/Help'
import { later } from '../../ui/later'
import { S } from '../../ui/strings'
import { useLoaded } from './ModelFacts'

const ReferenceForm = later(() => import('./ReferenceForm').then((part) => part.ReferenceForm))

type Kind = 'none' | 'hub' | 'file'
const KINDS: readonly Kind[] = ['none', 'hub', 'file']

/** `onRefused` hears whether the field for a LoRA of the Hub holds what cannot be read. */
export function AdapterField({ onRefused }: { onRefused: (refused: boolean) => void }) {
  const id = useId()
  const { controller } = useStores()
  const adapter = useSetup((s) => s.config.adapter)
  // A kind is chosen before there is an adapter of it.
  const [typing, setTyping] = useState<Kind | null>(null)
  const kind = typing ?? adapter?.kind ?? 'none'
  const choose = (text: string) => {
    const chosen = KINDS.find((k) => k === text) ?? 'none'
    setTyping(chosen === (adapter?.kind ?? 'none') ? null : chosen)
    if (chosen !== 'none') return
    setTyping(null)
    if (adapter) controller.model.setAdapter(null)
  }
  const use = (repo: string, revision: string) => {
    setTyping(null)
    controller.model.setAdapter({ kind: 'hub', repo, revision })
  }
  return (
    <div className="adapter">
      <div className="field">
        <label htmlFor={id}>{S.model.adapter.title}</label>
        <Help of="model:adapter" name={S.model.adapter.title} />
        <select id={id} data-testid="adapter-kind" value={kind} onChange={(e) => choose(e.target.value)}>
          {KINDS.map((k) => (
            <option key={k} value={k}>
              {S.model.adapter[k]}
            </option>
          ))}
        </select>
      </div>
      {kind === 'hub' && (
        <ReferenceForm
          key={JSON.stringify(adapter)}
          label={S.model.adapter.repo}
          initial={adapter?.kind === 'hub' ? writeReference(adapter.repo, adapter.revision) : ''}
          button={S.model.adapter.use}
          testId="adapter-reference"
          onRefused={onRefused}
          onUse={use}
        />
      )}
      {kind === 'file' && <Files onGiven={() => setTyping(null)} />}
      {kind !== 'none' && <Facts />}
    </div>
  )
}

function Files({ onGiven }: { onGiven: () => void }) {
  const id = useId()
  const { controller, models } = useStores()
  const [why, setWhy] = useState<string | null>(null)
  const take = async (files: readonly File[]) => {
    if (files.length === 0) return
    try {
      // Fetched now: who chooses no file needs no reader of PEFT's.
      const { readAdapterFiles } = await import('./adapter-files')
      const adapter = await readAdapterFiles(files, Object.keys(models.getState().givenAdapters))
      setWhy(null)
      onGiven()
      controller.model.giveAdapter(adapter)
    } catch (error) {
      setWhy(describeError(error))
    }
  }
  return (
    <div className="adapter-files">
      <label htmlFor={id} className="note">
        {S.model.adapter.files}
      </label>
      <input
        id={id}
        type="file"
        multiple
        accept=".json,.safetensors"
        data-testid="adapter-files"
        aria-invalid={why !== null}
        aria-describedby={why ? `${id}-why` : undefined}
        onChange={(e) => void take([...(e.target.files ?? [])])}
      />
      {why && (
        <p className="why" id={`${id}-why`} role="alert">
          {why}
        </p>
      )}
    </div>
  )
}

/** Rank, alpha and targets: of files at once, of the Hub when it is loaded. */
function Facts() {
  const adapter = useSetup((s) => s.config.adapter)
  const model = useSetup((s) => s.config.model)
  const given = useModels((s) => (adapter?.kind === 'file' ? s.givenAdapters[adapter.name] : undefined))
  const loaded = useLoaded()
  const engine = useRun((view) => view.engine?.lora ?? null)
  if (!adapter) return null
  const words = S.model.adapter
  const lora = (loaded ? engine : null) ?? given?.lora
  return (
    <p className="note" data-testid="adapter-facts">
      {adapter.kind === 'file' && `${adapter.name} `}
      {lora && words.facts(lora.r, lora.lora_alpha, lora.target_modules.join(', '))}
      {given?.base && given.base !== model && ` ${words.otherBase(given.base)}`}
    </p>
  )
}
