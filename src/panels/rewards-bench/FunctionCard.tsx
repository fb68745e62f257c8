/** One reward function: its weight, its parameters, and the code where it is the person's own. */

import { useCallback, useId, useState } from 'react'
import { ENVIRONMENT_TAKES, LONGEST_CODE, readRewards, type RewardFunc } from '../../core/reward-funcs'
import { readNumber } from '../../core/typed-number'
import { functionProblems } from '../../env/custom/class-source'
import { useSetup, useStores } from '../../store/hooks'
import { withChanged, withoutFunction, withWeight } from '../../store/reward-settings'
import { Help } from '../../ui/Help'
import { REWARD_STRINGS as W } from '../../ui/reward-strings'
import { EditorLater } from '../code/editor-later'
import { JudgesField } from './JudgesField'

export function FunctionCard({ func, at, last }: { func: RewardFunc; at: number; last: boolean }) {
  const { controller } = useStores()
  const weight = useSetup((s) => s.config.grpo.reward_weights?.[at] ?? 1)
  const change = (next: RewardFunc) => controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...withChanged(config.grpo, at, next) } }))
  return (
    <li className="reward-card" data-testid={`reward-card-${at}`}>
      <div className="reward-head">
        <strong>{W.names[func.name]}</strong> <Help of={W.names[func.name]} text={W.about[func.name]} />
        <NumberField label={W.weight} value={weight} check={(value) => Math.abs(value) <= 1e6} onChange={(value) => controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...withWeight(config.grpo, at, value) } }))} />
        <button type="button" className="button small" disabled={last} onClick={() => controller.edit((config) => ({ ...config, grpo: { ...config.grpo, ...withoutFunction(config.grpo, at) } }))}>
          {W.remove}
        </button>
      </div>
      {func.name === 'environment' ? (
        <label className="reward-param">
          {W.take}
          <select value={func.take} onChange={(e) => change({ ...func, take: ENVIRONMENT_TAKES.find((take) => take === e.target.value) ?? 'own' })}>
            {ENVIRONMENT_TAKES.map((take) => (
              <option key={take}>{take}</option>
            ))}
          </select>
        </label>
      ) : func.name === 'custom' ? (
        <Code func={func} change={change} />
      ) : (
        <div className="reward-params">
          {Object.entries(func).map(([key, value]) =>
            typeof value === 'number' ? (
              <NumberField key={key} label={key} value={value} check={(next) => readRewards([{ ...func, [key]: next }], null) !== null} onChange={(next) => change({ ...func, [key]: next })} />
            ) : null,
          )}
        </div>
      )}
      <JudgesField func={func} at={at} change={change} />
    </li>
  )
}

/** What was typed stays until it is a number that the function takes. */
function NumberField({ label, value, check, onChange }: { label: string; value: number; check: (value: number) => boolean; onChange: (value: number) => void }) {
  const [typed, setTyped] = useState<string | null>(null)
  const isRight = (text: string) => !Number.isNaN(readNumber(text)) && check(readNumber(text))
  return (
    <label className="reward-param">
      {label}
      <input
        inputMode="decimal"
        autoComplete="off"
        aria-invalid={typed !== null && !isRight(typed)}
        value={typed ?? String(value)}
        onChange={(e) => {
          setTyped(e.target.value)
          if (isRight(e.target.value)) onChange(readNumber(e.target.value))
        }}
        onBlur={() => setTyped(null)}
      />
    </label>
  )
}

type Custom = Extract<RewardFunc, { name: 'custom' }>

function Code({ func, change }: { func: Custom; change: (next: RewardFunc) => void }) {
  const id = useId()
  const [name, setName] = useState(func.called)
  const wrong = readRewards([{ ...func, called: name }], null) === null
  const check = useCallback((code: string) => functionProblems(code, func.called), [func.called])
  return (
    <div className="reward-code">
      <label className="reward-param">
        {W.called}
        <input
          value={name}
          spellCheck={false}
          autoComplete="off"
          aria-invalid={wrong}
          aria-describedby={wrong ? `${id}-why` : undefined}
          onChange={(e) => {
            setName(e.target.value)
            const next = { ...func, called: e.target.value }
            if (readRewards([next], null)) change(next)
          }}
        />
      </label>
      {wrong && (
        <p className="why" id={`${id}-why`} role="alert">
          {W.badName}
        </p>
      )}
      <div className="code-reserve">
        <EditorLater code={func.code} label={W.code} onChange={(code) => code.length <= LONGEST_CODE && change({ ...func, code })} check={check} testId="reward-code" />
      </div>
    </div>
  )
}
