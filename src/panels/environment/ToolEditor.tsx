/** Renames, describes, narrows, leaves out and tests one tool. What is refused stays in its control and says why. */

import { type ReactNode, useId, useState } from 'react'
import type { ToolEdit } from '../../core/tool-edits'
import type { JsonSchema, Tool } from '../../core/tools'
import { readNumber } from '../../core/typed-number'
import { usePlay, useSetup, useStores } from '../../store/hooks'
import { findEdit, withEdit, withoutEdit } from '../../store/tool-edits'
import { S } from '../../ui/strings'
import { type DraftTool, whyNot } from './draft'
import { narrowingOf, readValues, type Scalar } from './fields'
import { ObservationView } from './ObservationView'
import { ToolForm } from './ToolForm'

const E = S.environment

/** Makes an edit, or takes it back where `wanted` is false; returns why it was refused. */
type Change = (edit: ToolEdit, wanted: boolean) => string | null

export function ToolEditor({ draft, tools }: { draft: DraftTool; tools: readonly Tool[] }) {
  const { controller } = useStores()
  const edits = useSetup((state) => state.config.tool_edits)
  const { id, own, tool } = draft
  const { name, description, parameters } = own.function
  const change: Change = (edit, wanted) => {
    const next = wanted ? withEdit(edits, edit) : withoutEdit(edits, edit)
    const why = whyNot(tools, next)
    if (why === null) controller.edit((config) => ({ ...config, tool_edits: next }))
    return why
  }
  const hide: ToolEdit = { kind: 'hide', tool: id }
  return (
    <div className="tool-editor" data-testid={`tool-editor-${id}`}>
      <TextEdit
        label={E.name}
        testId="tool-name"
        value={findEdit(edits, 'rename', id)?.name ?? name}
        onChange={(text) => change({ kind: 'rename', tool: id, name: text }, text !== name)}
        note={tool && tool.function.name !== name ? E.originally(name) : ''}
      />
      <TextEdit
        label={E.description}
        testId="tool-description"
        value={findEdit(edits, 'describe', id)?.description ?? description}
        onChange={(text) => change({ kind: 'describe', tool: id, description: text }, text !== description)}
        long
      />
      {Object.entries(parameters.properties ?? {}).map(([parameter, schema]) => (
        <Parameter key={parameter} tool={id} parameter={parameter} schema={schema} edits={edits} change={change} />
      ))}
      <Hide hidden={findEdit(edits, 'hide', id) !== undefined} onChange={(hidden) => change(hide, hidden)} />
      {edits.some((edit) => edit.tool === id) && (
        <button
          type="button"
          className="link"
          onClick={() => controller.edit((config) => ({ ...config, tool_edits: config.tool_edits.filter((edit) => edit.tool !== id) }))}
        >
          {E.undo}
        </button>
      )}
      {tool && <Test id={id} tool={tool} />}
    </div>
  )
}

interface TextEditProps {
  label: ReactNode
  testId: string
  value: string
  onChange: (text: string) => string | null
  note?: string
  long?: boolean
}

/** Shows what was typed while a person is at it, or it was refused; else the value. */
function TextEdit({ label, testId, value, onChange, note = '', long = false }: TextEditProps) {
  const id = useId()
  const [typed, setTyped] = useState<{ text: string; why: string | null } | null>(null)
  const why = typed?.why ?? null
  const change = (text: string) => setTyped({ text, why: onChange(text) })
  const common = {
    id,
    'data-testid': testId,
    value: typed?.text ?? value,
    spellCheck: false,
    'aria-invalid': why !== null,
    'aria-describedby': `${id}-note`,
    onBlur: () => why === null && setTyped(null),
  }
  return (
    <div className={why === null ? 'tool-field' : 'tool-field invalid'}>
      <label htmlFor={id}>{label}</label>
      {long ? (
        <textarea {...common} rows={2} onChange={(e) => change(e.target.value)} />
      ) : (
        <input {...common} autoComplete="off" autoCapitalize="off" onChange={(e) => change(e.target.value)} />
      )}
      <span className="tool-hint" id={`${id}-note`}>
        {why !== null ? (
          <span className="why" role="alert">
            {why}
          </span>
        ) : (
          note && <span className="note">{note}</span>
        )}
      </span>
    </div>
  )
}

interface ParameterProps {
  tool: string
  parameter: string
  schema: JsonSchema
  edits: readonly ToolEdit[]
  change: Change
}

function Parameter({ tool, parameter, schema, edits, change }: ParameterProps) {
  const restricted = findEdit(edits, 'restrict', tool, parameter)
  const described = findEdit(edits, 'describe', tool, parameter)
  const own = schema.description ?? ''
  const restrict = (to: { enum?: Scalar[]; minimum?: number; maximum?: number }) =>
    change({ kind: 'restrict', tool, parameter, ...to }, Object.keys(to).length > 0)
  const narrowing = narrowingOf(schema)
  return (
    <fieldset className="tool-parameter">
      <legend>
        <code>{parameter}</code>
      </legend>
      <TextEdit
        label={E.parameter.describe}
        testId={`describe-${parameter}`}
        value={described?.description ?? own}
        onChange={(text) => change({ kind: 'describe', tool, parameter, description: text }, text !== own)}
      />
      {narrowing?.kind === 'values' && <Values name={parameter} all={narrowing.all} chosen={restricted?.enum ?? narrowing.all} onChange={restrict} />}
      {narrowing?.kind === 'limits' && <Limits name={parameter} restricted={restricted} onChange={restrict} />}
      {narrowing?.kind === 'list' && (
        <TextEdit
          label={E.parameter.list}
          testId={`values-${parameter}`}
          value={restricted?.enum?.join(', ') ?? ''}
          onChange={(text) => {
            const values = readValues(text, schema)
            return restrict(values.length > 0 ? { enum: values } : {})
          }}
        />
      )}
    </fieldset>
  )
}

interface ValuesProps {
  name: string
  all: readonly Scalar[]
  chosen: readonly Scalar[]
  onChange: (to: { enum?: Scalar[] }) => string | null
}

function Values({ name, all, chosen, onChange }: ValuesProps) {
  const [why, setWhy] = useState<string | null>(null)
  const toggle = (value: Scalar) => {
    const next = all.filter((each) => (each === value) !== chosen.includes(each))
    setWhy(onChange(next.length === all.length ? {} : { enum: next }))
  }
  return (
    <div className="tool-values" role="group" aria-label={`${name}: ${E.parameter.values}`}>
      {all.map((value) => (
        <label key={JSON.stringify(value)}>
          <input type="checkbox" data-testid={`value-${name}-${String(value)}`} checked={chosen.includes(value)} onChange={() => toggle(value)} />{' '}
          {String(value)}
        </label>
      ))}
      {why && (
        <p className="why" role="alert">
          {why}
        </p>
      )}
    </div>
  )
}

interface LimitsProps {
  name: string
  restricted: { minimum?: number; maximum?: number } | undefined
  onChange: (to: { minimum?: number; maximum?: number }) => string | null
}

function Limits({ name, restricted, onChange }: LimitsProps) {
  const set = (which: 'minimum' | 'maximum', text: string) => {
    const { minimum, maximum } = restricted ?? {}
    const value = text.trim() === '' ? undefined : readNumber(text)
    if (Number.isNaN(value)) return E.noNumber(text)
    const next = { minimum, maximum, [which]: value }
    return onChange({ ...(next.minimum === undefined ? {} : { minimum: next.minimum }), ...(next.maximum === undefined ? {} : { maximum: next.maximum }) })
  }
  return (
    <div className="tool-limits">
      {(['minimum', 'maximum'] as const).map((which) => (
        <TextEdit
          key={which}
          label={E.parameter[which]}
          testId={`${which}-${name}`}
          value={restricted?.[which] === undefined ? '' : String(restricted[which])}
          onChange={(text) => set(which, text)}
        />
      ))}
    </div>
  )
}

function Hide({ hidden, onChange }: { hidden: boolean; onChange: (hidden: boolean) => string | null }) {
  const [why, setWhy] = useState<string | null>(null)
  return (
    <div className="tool-hide">
      <label>
        <input type="checkbox" data-testid="tool-hide" checked={hidden} onChange={(e) => setWhy(onChange(e.target.checked))} /> {E.hide}
      </label>
      {why && (
        <p className="why" role="alert">
          {why}
        </p>
      )}
    </div>
  )
}

/** One reset and one call. */
function Test({ id, tool }: { id: string; tool: Tool }) {
  const { play } = useStores()
  const seed = useSetup((state) => state.config.grpo.seed)
  const idle = usePlay((view) => view.busy === null)
  const test = usePlay((view) => view.tests[id])
  return (
    <div className="tool-test" data-testid={`tool-test-${id}`}>
      <h4>{E.test}</h4>
      <ToolForm
        key={JSON.stringify(tool)}
        tool={tool}
        action={E.test}
        hint={E.testHint}
        disabled={!idle}
        testId={`test-tool-${id}`}
        onCall={(call) => play.test(id, call, seed)}
      />
      <div role="status">
        {test?.outcome === null && <p className="note">{E.testing}</p>}
        {test?.outcome?.ok && <ObservationView observation={test.outcome.observation} />}
        {test?.outcome?.ok === false && <p className="play-failed">{test.outcome.error}</p>}
      </div>
    </div>
  )
}
