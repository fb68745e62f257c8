/** Where a class is written and tried before a run is trained with it. */

import { type ReactNode, useCallback, useMemo } from 'react'
import type { PageFunction } from '../../core/environment-spec'
import { LONGEST_PAGE_CODE, pageFunctionSchema } from '../../core/environment-spec-schema'
import { hostsKey, hostsOf } from '../../core/network-hosts'
import { type CodeProblem, lastClass, readClass } from '../../env/custom/class-source'
import { CLASS_EXAMPLES } from '../../env/custom/examples'
import { useSetup } from '../../store/hooks'
import { CODE_STRINGS as W } from '../../ui/code-strings'
import { Modal } from '../../ui/Modal'
import { NETWORK_STRINGS as N } from '../../ui/network-strings'
import { EditorLater } from './editor-later'
import { NetworkField } from './NetworkField'
import { TryClass } from './TryClass'

interface ClassDialogProps {
  code: string
  onCode: (code: string) => void
  onUse: (func: PageFunction) => void
  onClose: () => void
  /** What is asked before the class is used, in place of the button that was pressed; null mostly. */
  question: ReactNode
}

/** What keeps code from being an environment, and then what it hardly means. */
export function classProblems(code: string): readonly CodeProblem[] {
  const whole = (message: string): CodeProblem[] => [{ message, line: 1, column: 0, from: 0, to: 0 }]
  if (code.length > LONGEST_PAGE_CODE) return whole(W.tooLong(code.length, LONGEST_PAGE_CODE))
  const called = lastClass(code)
  if (called !== null && !pageFunctionSchema.safeParse({ called, code }).success) return whole(W.badName(called))
  // Without a class the parser's own complaint, or that there is none.
  const { problems, warnings } = readClass(code, called ?? W.anyClass)
  return [...problems, ...warnings]
}

export function ClassDialog({ code, onCode, onUse, onClose, question }: ClassDialogProps) {
  const called = useMemo(() => lastClass(code), [code])
  const problems = useMemo(() => classProblems(code), [code])
  const facts = useMemo(() => (called === null ? null : readClass(code, called).facts), [code, called])
  const check = useCallback(classProblems, [])
  const hosts = useSetup((s) => hostsOf(s.config))
  const ready = called !== null && facts !== null && problems.every(({ warning }) => warning)
  const example = CLASS_EXAMPLES.find((each) => each.code === code)?.called ?? ''
  return (
    <Modal id="class-editor" title={W.title} lead={W.lead} close={W.close} onClose={onClose}>
      <div className="class-editor">
        <label className="code-examples">
          {W.example}
          <select data-testid="class-example" value={example} onChange={(e) => onCode(CLASS_EXAMPLES.find((each) => each.called === e.target.value)?.code ?? code)}>
            <option value="" disabled>
              {W.own}
            </option>
            {CLASS_EXAMPLES.map((each) => (
              <option key={each.called} value={each.called}>
                {each.called}
              </option>
            ))}
          </select>
        </label>
        <p className="note">{W.plays}</p>
        <div className="code-reserve">
          <EditorLater code={code} label={W.code} onChange={onCode} check={check} testId="class-code" />
        </div>
        <NetworkField />
        {question ?? (
          <>
            <button type="button" className="button primary" data-testid="use-class" disabled={!ready} onClick={() => called !== null && onUse({ called, code })}>
              {called === null ? W.useNone : W.use(called, hosts.length > 0)}
            </button>
            <p className="note network-words" data-testid="allow-words">
              {N.allows(hosts)}
            </p>
          </>
        )}
        {ready && <TryClass key={`${hostsKey(hosts)} ${code}`} func={{ called, code }} facts={facts} />}
      </div>
    </Modal>
  )
}
