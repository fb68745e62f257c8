/** A field for code: the editor, and below it what is wrong, each with a button that leads to its line. */

import { useEffect, useId, useLayoutEffect, useMemo, useRef } from 'react'
import type { CodeProblem } from '../../env/custom/class-source'
import { CODE_STRINGS as W } from '../../ui/code-strings'
import { type OpenEditor, openEditor } from './code-mirror'

interface CodeEditorProps {
  code: string
  label: string
  onChange: (code: string) => void
  /** What is wrong with it; a pure function that changes only when what it depends on does. */
  check: (code: string) => readonly CodeProblem[]
  testId: string
}

export default function CodeEditor({ code, label, onChange, check, testId }: CodeEditorProps) {
  const id = useId()
  const room = useRef<HTMLDivElement>(null)
  const editor = useRef<OpenEditor | null>(null)
  const latest = useRef({ onChange, check, code })
  useLayoutEffect(() => {
    latest.current = { onChange, check, code }
  })
  useEffect(() => {
    if (!room.current) return
    const opened = openEditor(room.current, latest.current.code, {
      change: (next) => {
        if (next !== latest.current.code) latest.current.onChange(next)
      },
      problems: (text) => latest.current.check(text),
    })
    editor.current = opened
    return () => {
      editor.current = null
      opened.close()
    }
  }, [])
  useEffect(() => editor.current?.show(code), [code])
  useEffect(() => editor.current?.relabel(label, `${id}-keys`), [label, id])
  useEffect(() => editor.current?.check(), [check])
  const problems = useMemo(() => check(code), [check, code])
  return (
    <div className="code-editor" data-testid={testId}>
      <div className="code-room" ref={room} />
      <p className="note" id={`${id}-keys`}>
        {W.keys}
      </p>
      <div role="status">
        {problems.length > 0 && (
          <ul className="code-problems" data-testid={`${testId}-problems`}>
            {problems.map(({ message, line, from, warning }, i) => (
              <li key={i} className={warning ? 'why warned' : 'why'}>
                <button type="button" className="link" onClick={() => editor.current?.goTo(from)}>
                  {warning ? W.warningAt(line) : W.line(line)}
                </button>{' '}
                {message}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  )
}
