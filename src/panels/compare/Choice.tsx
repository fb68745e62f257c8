/** Which episode is compared: split, seed, and how its tokens are chosen. */

import { useId, useState } from 'react'
import { readWhole } from '../../core/typed-number'
import { isSeed } from '../../store/display'
import { useDisplay, useStores } from '../../store/hooks'
import { Help } from '../../ui/Help'
import { Segmented } from '../../ui/Segmented'
import { S } from '../../ui/strings'
import type { ComparisonView } from './useComparison'

const C = S.compare
const SPLITS = ['heldout', 'train'] as const
const WAYS = ['greedy', 'sampled'] as const

export function Choice({ recorded, hasSplits }: Pick<ComparisonView, 'recorded' | 'hasSplits'>) {
  const { display } = useStores()
  const choice = useDisplay((d) => d.compare)
  const set = (change: Partial<typeof choice>) => display.setState({ compare: { ...choice, ...change } })
  return (
    <div className="compare-choice">
      {hasSplits && <Segmented id="compare-split" label={C.scenario} options={SPLITS} names={C.splits} hints={C.splitHints} value={choice.split} onChange={(split) => set({ split })} />}
      <Seed seed={choice.seed} among={recorded?.seeds ?? null} onChange={(seed) => set({ seed })} />
      <Segmented
        id="compare-way"
        label={C.how}
        options={WAYS}
        names={C.ways}
        hints={C.wayHints}
        value={choice.greedy ? 'greedy' : 'sampled'}
        onChange={(way) => set({ greedy: way === 'greedy' })}
      />
      <Help of="view:compare" name={C.choice} />
    </div>
  )
}

/** `among`: the only ones that there are. */
function Seed({ seed, among, onChange }: { seed: number; among: readonly number[] | null; onChange: (seed: number) => void }) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? String(seed)
  const read = (value: string) => (isSeed(readWhole(value)) ? readWhole(value) : null)
  const ok = read(text) !== null
  const change = (value: string) => {
    setTyped(value)
    const next = read(value)
    if (next !== null) onChange(next)
  }
  const before = among ? among.findLast((one) => one < seed) : seed - 1
  const after = among ? among.find((one) => one > seed) : seed + 1
  const button = (name: string, testid: string, sign: string, to: number | undefined) => (
    <button
      type="button"
      className="button small"
      aria-label={name}
      title={name}
      data-testid={testid}
      disabled={to === undefined || !isSeed(to)}
      onClick={() => {
        setTyped(null)
        if (to !== undefined) onChange(to)
      }}
    >
      {sign}
    </button>
  )
  return (
    <span className="compare-seed">
      <label htmlFor={id}>{C.seed}</label>
      {button(C.previous, 'compare-previous', '‹', before)}
      <input
        id={id}
        data-testid="compare-seed"
        inputMode="numeric"
        autoComplete="off"
        value={text}
        aria-invalid={!ok}
        aria-describedby={ok ? undefined : `${id}-why`}
        onChange={(event) => change(event.target.value)}
        onBlur={() => ok && setTyped(null)}
      />
      {button(C.next, 'compare-next', '›', after)}
      {!ok && (
        <span className="why" id={`${id}-why`} role="alert">
          {C.seedRefused}.
        </span>
      )}
    </span>
  )
}
