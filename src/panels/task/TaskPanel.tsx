/** Column 1: the task as the model meets it, and the settings; on a phone the controls move into a sheet. */

import { useRef } from 'react'
import { useReplay, useSelectedEpisode, useSetup, useStores } from '../../store/hooks'
import { hasChanges } from '../../store/setup-store'
import { Help } from '../../ui/Help'
import { Hideable } from '../../ui/Hideable'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'
import { useNarrow } from '../../ui/useNarrow'
import { ToolList } from '../environment/ToolList'
import { ModelSection, ModelSummary } from '../model/ModelSection'
import { Changed } from './Changed'
import { EnvironmentPicker } from './EnvironmentPicker'
import { LinkedConsent } from './linked-consent'
import { LinkedServer } from './LinkedServer'
import { isDrawn } from './scene'
import { SceneView } from './SceneView'
import { Settings } from './Settings'

const Discovered = later(() => import('../catalogue/Discovered').then((part) => part.Discovered))

export function TaskPanel() {
  const narrow = useNarrow()
  return (
    <Panel id="task" number={1} title={S.task.title} lead={S.task.lead}>
      {narrow ? (
        <>
          <LinkedServer />
          <LinkedRest />
          <Sheet />
        </>
      ) : (
        <Hideable part="environment">
          <EnvironmentPicker />
        </Hideable>
      )}
      <AnyChanged />
      <Hideable part="scene">
        <CurrentScene />
      </Hideable>
      <Hideable part="prompts">{narrow ? <PromptsRead /> : <PromptsEdit />}</Hideable>
      <Hideable part="tools">
        <ToolList />
      </Hideable>
      <Discovered />
      <Hideable part="model">{narrow ? <ModelSummary /> : <ModelSection />}</Hideable>
      {!narrow && (
        <Hideable part="settings">
          <Settings />
        </Hideable>
      )}
    </Panel>
  )
}

/** What a link names besides a server waits for a word here too. */
function LinkedRest() {
  const waits = useSetup((s) => s.awaitsConsent && (s.config.environment.kind !== 'openenv' || s.config.rollout_func !== undefined))
  return waits ? <LinkedConsent /> : null
}

function Sheet() {
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button type="button" className="button wide" data-testid="open-setup" onClick={() => dialog.current?.showModal()}>
        {S.task.open}
      </button>
      <dialog
        ref={dialog}
        className="sheet"
        aria-label={S.task.open}
        onClick={(e) => e.target === dialog.current && dialog.current.close()}
      >
        <div className="sheet-head">
          <h2>{S.task.open}</h2>
          <button type="button" className="button" data-testid="close-setup" onClick={() => dialog.current?.close()}>
            {S.task.close}
          </button>
        </div>
        <div className="sheet-body">
          <Hideable part="environment">
            <EnvironmentPicker />
          </Hideable>
          <AnyChanged />
          <Hideable part="prompts">
            <PromptsEdit />
          </Hideable>
          <Hideable part="model">
            <ModelSection />
          </Hideable>
          <Hideable part="settings">
            <Settings />
          </Hideable>
        </div>
      </dialog>
    </>
  )
}

function AnyChanged() {
  return useSetup(hasChanges) && <Changed testId="settings-changed" undoId="undo-changes" />
}

function CurrentScene() {
  const episode = useSelectedEpisode()
  const scene = episode?.answers.findLast((a) => a.scene !== undefined)?.scene ?? episode?.scene
  const coming = useReplay(({ state }) => state === 'coming')
  const drawn = useSetup(({ config: { environment } }) => (environment.kind === 'builtin' && isDrawn(environment.name) ? environment.name : null))
  if (scene !== undefined) return <SceneView scene={scene} />
  // Its place is kept, so that nothing below is pushed away when the recording or the first episode comes.
  const kept = coming ? 'lane' : drawn
  return kept && <div className={`scene coming ${kept}`}>{!coming && <p className="note">{S.task.sceneComes}</p>}</div>
}

function PromptsEdit() {
  const several = useSetup((s) => s.config.environment.kind === 'mix')
  return several ? <p className="note">{S.task.severalPrompts}</p> : <OnePromptsEdit />
}

function OnePromptsEdit() {
  const { controller } = useStores()
  const system = useSetup((s) => s.config.system_prompt)
  // The user's message is the row's prompt.
  const rows = useSetup((s) => s.config.environment.kind === 'prompts')
  return (
    <div className="prompts">
      <span className="titled">
        <label htmlFor="system-prompt">{S.task.systemPrompt}</label>
        <Help of="system_prompt" name={S.task.systemPrompt} />
      </span>
      <textarea
        id="system-prompt"
        data-testid="system-prompt"
        rows={2}
        value={system}
        placeholder={S.task.noPrompt}
        onChange={(e) => controller.edit((config) => ({ ...config, system_prompt: e.target.value }))}
      />
      {!rows && <UserPrompt />}
    </div>
  )
}

function UserPrompt() {
  const { controller } = useStores()
  const user = useSetup((s) => s.config.user_prompt)
  return (
    <>
      <span className="titled">
        <label htmlFor="user-prompt">{S.task.userPrompt}</label>
        <Help of="user_prompt" name={S.task.userPrompt} />
      </span>
      <textarea
        id="user-prompt"
        data-testid="user-prompt"
        rows={1}
        value={user}
        placeholder={S.task.noPrompt}
        onChange={(e) => controller.edit((config) => ({ ...config, user_prompt: e.target.value }))}
      />
      <p className="note">{S.task.observationFollows}</p>
    </>
  )
}

function PromptsRead() {
  const system = useSetup((s) => s.config.system_prompt)
  const user = useSetup((s) => s.config.user_prompt)
  const several = useSetup((s) => s.config.environment.kind === 'mix')
  if (several) return <p className="note">{S.task.severalPrompts}</p>
  return (
    <dl className="prompts-read">
      <dt>{S.task.systemPrompt}</dt>
      <dd>{system || S.task.noPrompt}</dd>
      {user && <dt>{S.task.userPrompt}</dt>}
      {user && <dd>{user}</dd>}
    </dl>
  )
}
