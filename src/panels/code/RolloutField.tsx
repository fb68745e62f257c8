/** The rollout function of the settings: none, or the person's own, with its editor and Allow. */

import { useCallback, useMemo, useState } from 'react'
import { LONGEST_PAGE_CODE } from '../../core/environment-spec-schema'
import { type CodeProblem, functionProblems } from '../../env/custom/class-source'
import { OWN_LOOP } from '../../env/custom/examples'
import { useSetup, useStores } from '../../store/hooks'
import { CODE_STRINGS as C } from '../../ui/code-strings'
import { Help } from '../../ui/Help'
import { Modal } from '../../ui/Modal'
import { NETWORK_STRINGS as N } from '../../ui/network-strings'
import { ROLLOUT_STRINGS as W } from '../../ui/rollout-strings'
import { EditorLater } from './editor-later'
import { NetworkField } from './NetworkField'
import { useAllowed } from './use-allowed'

export function RolloutField() {
  const { controller } = useStores()
  const func = useSetup((s) => s.config.rollout_func) ?? null
  const { hosts, allowed, allow } = useAllowed(func)
  const [open, setOpen] = useState(false)
  // What was typed outlives the dialog.
  const [draft, setDraft] = useState<string | null>(null)
  const code = draft ?? func?.code ?? OWN_LOOP.code
  const called = func?.called ?? OWN_LOOP.called
  const use = (next: string) =>
    void allow({ called, code: next }).then(() => {
      controller.edit((config) => ({ ...config, rollout_func: { called, code: next } }))
      setDraft(null)
      setOpen(false)
    })
  const remove = () => controller.edit(({ rollout_func: _, ...config }) => config)
  return (
    <div className="field reward-funcs" data-testid="rollout-field">
      <code>{W.key}</code>
      <Help of={W.key} text={W.help} />
      <span className="class-doors">
        <button type="button" className="button small" data-testid="edit-rollout" aria-label={`${W.key}: ${func ? C.change : C.write}`} onClick={() => setOpen(true)}>
          {func ? W.change : W.write}
        </button>
        {func && (
          <button type="button" className="button small" data-testid="remove-rollout" onClick={remove}>
            {W.remove}
          </button>
        )}
        {func && !allowed && (
          <button type="button" className="button small" data-testid="allow-rollout" onClick={() => use(func.code)}>
            {C.allow}
          </button>
        )}
      </span>
      <p className={func && !allowed ? 'why' : 'note'}>{func ? (allowed ? W.used(func.called) : C.notAllowed) : W.none}</p>
      {func && hosts.length > 0 && <p className="note network-words">{allowed ? N.reaches(hosts) : N.asks(hosts)}</p>}
      {open && (
        <Modal id="rollout-editor" title={W.title} lead={W.lead} close={C.close} onClose={() => setOpen(false)}>
          <RolloutEditor code={code} called={called} hosts={hosts} onCode={setDraft} onUse={use} />
        </Modal>
      )}
    </div>
  )
}

function RolloutEditor({ code, called, hosts, onCode, onUse }: { code: string; called: string; hosts: readonly string[]; onCode: (code: string) => void; onUse: (code: string) => void }) {
  const check = useCallback(
    (text: string): readonly CodeProblem[] =>
      text.length > LONGEST_PAGE_CODE ? [{ message: C.tooLong(text.length, LONGEST_PAGE_CODE), line: 1, column: 0, from: 0, to: 0 }] : functionProblems(text, called),
    [called],
  )
  const problems = useMemo(() => check(code), [check, code])
  return (
    <div className="class-editor">
      <div className="code-reserve">
        <EditorLater code={code} label={W.code} onChange={onCode} check={check} testId="rollout-code" />
      </div>
      <NetworkField />
      <button type="button" className="button primary" data-testid="use-rollout" disabled={problems.length > 0} onClick={() => onUse(code)}>
        {C.use(called, hosts.length > 0)}
      </button>
      <p className="note network-words">{N.allows(hosts)}</p>
      <dl className="rollout-terms">
        {W.terms.map(([term, what]) => (
          <div key={term}>
            <dt>
              <code>{term}</code>
            </dt>
            <dd className="note">{what}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
