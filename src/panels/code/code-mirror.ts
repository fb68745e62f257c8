/** The code editor itself: CodeMirror with JavaScript's colours in the page's own, problems at their line, and a Tab key that leaves it. */

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { javascript } from '@codemirror/lang-javascript'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { CodeProblem } from '../../env/custom/class-source'

export interface OpenEditor {
  /** Takes the code where it is another. */
  show(code: string): void
  /** Asks for the problems again: what they depend on has changed. */
  check(): void
  /** Moves the cursor to a place and gives the editor the focus. */
  goTo(offset: number): void
  relabel(label: string, described: string): void
  close(): void
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.self], color: 'var(--accent)' },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: 'var(--success)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warning)' },
  { tag: [tags.comment], color: 'var(--muted)' },
  { tag: [tags.definition(tags.className), tags.definition(tags.function(tags.variableName)), tags.definition(tags.propertyName)], fontWeight: '600' },
  { tag: tags.invalid, color: 'var(--failure)' },
])

const LOOK = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--ground)', border: '1px solid var(--rule-strong)', borderRadius: 'var(--radius)', fontSize: '12px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', minHeight: 'var(--code-least, 140px)', maxHeight: 'var(--code-most, 420px)', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--faint)', color: 'var(--muted)', borderInlineEnd: '1px solid var(--rule)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--faint) 60%, transparent)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--environment)', outline: '1px solid var(--rule-strong)' },
  '.cm-tooltip': { backgroundColor: 'var(--ground)', color: 'var(--ink)', border: '1px solid var(--rule-strong)', maxWidth: 'min(460px, 80vw)' },
  '.cm-diagnostic': { fontFamily: 'var(--sans)', whiteSpace: 'pre-wrap' },
})

const diagnostic = ({ from, to, message, warning }: CodeProblem, length: number): Diagnostic => ({ from: Math.min(from, length), to: Math.min(to, length), severity: warning ? 'warning' : 'error', message })

/** An editor in `parent`. `problems` is asked some moments after each change; `onChange` is told every one at once. */
export function openEditor(parent: HTMLElement, code: string, on: { change(code: string): void; problems(code: string): readonly CodeProblem[] }): OpenEditor {
  const labels = new Compartment()
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: code,
      extensions: [
        lineNumbers(),
        lintGutter(),
        history(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        EditorState.tabSize.of(2),
        javascript(),
        syntaxHighlighting(COLOURS),
        LOOK,
        labels.of([]),
        linter(({ state: { doc } }) => on.problems(doc.toString()).map((problem) => diagnostic(problem, doc.length)), { delay: 300 }),
        // Tab is not taken: it leads on to the next control.
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) on.change(update.state.doc.toString())
        }),
      ],
    }),
  })
  return {
    show(next) {
      const { doc } = view.state
      if (doc.toString() !== next) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } })
    },
    check: () => forceLinting(view),
    goTo(offset) {
      view.dispatch({ selection: { anchor: Math.min(offset, view.state.doc.length) }, scrollIntoView: true })
      view.focus()
    },
    relabel(label, described) {
      view.dispatch({ effects: labels.reconfigure(EditorView.contentAttributes.of({ 'aria-label': label, 'aria-describedby': described, spellcheck: 'false', autocapitalize: 'off' })) })
    },
    close: () => view.destroy(),
  }
}
