/** The environment that a person writes: which class it is, its tools, and the doors to its editor and to Allow. */

import { useId, useMemo, useState } from 'react'
import type { PageFunction } from '../../core/environment-spec'
import { readClass } from '../../env/custom/class-source'
import { EMERGENCY, NUMBER_GAME } from '../../env/custom/examples'
import { TINY_NUMBERS_MODEL } from '../../env/presets'
import { useRun, useSetup } from '../../store/hooks'
import { CODE_STRINGS as W } from '../../ui/code-strings'
import { Help } from '../../ui/Help'
import { NETWORK_STRINGS as N } from '../../ui/network-strings'
import type { KindFieldProps } from '../task/kinds'
import { StartOver } from '../task/StartOver'
import { useConnecting } from '../task/useConnecting'
import { useClassDraft } from './class-draft'
import { ClassDialog } from './ClassDialog'
import { useAllowed } from './use-allowed'

export function ClassField({ spec, choose, within }: KindFieldProps) {
  const id = useId()
  const chosen = spec?.kind === 'custom' ? spec : null
  const [open, setOpen] = useState(false)
  const draft = useClassDraft(chosen, within === true)
  // One that the model can play: what is pressed first should show something.
  const example = useSetup((s) => (s.config.model === TINY_NUMBERS_MODEL ? NUMBER_GAME : EMERGENCY))
  const code = draft.code ?? chosen?.code ?? example.code
  const { hosts, allowed, allow } = useAllowed(chosen)
  const connecting = useConnecting()
  const failed = useRun(({ run }) => (run.state === 'failed' && (run.kind === 'environment' || run.kind === 'config') ? run : null))
  const tools = useMemo(() => chosen && readClass(chosen.code, chosen.called).facts?.tools.map(({ tool }) => tool.function.name), [chosen])
  const use = (func: PageFunction) =>
    void allow(func).then(() => {
      if (within) choose({ kind: 'custom', ...func })
      else if (!connecting.connect({ kind: 'custom', ...func })) return
      setOpen(false)
    })
  /** Asked where the press was: in the dialog as long as that is open, which every answer closes. */
  const inDialog = {
    ...connecting,
    confirm: () => {
      setOpen(false)
      connecting.confirm()
    },
    cancel: () => {
      setOpen(false)
      connecting.cancel()
    },
  }
  const write = (next: string) => {
    // The question is about the code that was there.
    connecting.cancel()
    draft.write(next)
  }
  return (
    <div className="class-field" data-testid="class-field">
      <span className="titled">
        <span id={id}>{chosen ? W.chosen(chosen.called) : draft.called !== null ? W.written(draft.called) : W.none}</span>
        <Help of={W.title} text={W.help} />
      </span>
      {tools && <p className="note">{W.tools(tools)}</p>}
      <div className="class-doors">
        <button type="button" className="button small" data-testid="write-class" aria-describedby={id} onClick={() => setOpen(true)}>
          {chosen ? W.change : W.write}
        </button>
        {chosen && !allowed && (
          <button type="button" className="button small" data-testid="allow-class" onClick={() => use({ called: chosen.called, code: chosen.code })}>
            {W.allow}
          </button>
        )}
      </div>
      {chosen && !allowed && <p className="why">{W.notAllowed}</p>}
      {chosen && hosts.length > 0 && (
        <p className="note network-words" data-testid="class-network">
          {allowed ? N.reaches(hosts) : N.asks(hosts)}
        </p>
      )}
      {chosen && allowed && failed && !within && (
        <p className="why" data-testid="class-failed">
          {failed.error} {failed.advice}
        </p>
      )}
      {!open && <StartOver connecting={connecting} />}
      {open && (
        <ClassDialog code={code} onCode={write} onUse={use} onClose={inDialog.cancel} question={connecting.asked === null ? null : <StartOver connecting={inDialog} />} />
      )}
    </div>
  )
}
