/** The bench of a class: reset it, call its tools by a form, and read what came back, its rewards and its log. */

import { useEffect, useId, useMemo, useRef, useState } from 'react'
import type { EnvironmentSession, Observation } from '../../core/environment'
import type { PageFunction } from '../../core/environment-spec'
import { describeError } from '../../core/errors'
import type { ToolCall } from '../../core/tools'
import { readWhole } from '../../core/typed-number'
import type { ClassFacts } from '../../env/custom/class-source'
import { customEnvironment } from '../../env/custom/environment'
import { isSeed } from '../../store/display'
import { CODE_STRINGS as W } from '../../ui/code-strings'
import { ToolForm } from '../environment/ToolForm'
import { useAllowed } from './use-allowed'

const SPLITS = ['train', 'heldout'] as const

interface Entry {
  what: string
  text: string
  reward: number | null
  done: boolean
  logs: readonly string[]
  failed?: true
}

const entryOf = (what: string, { text, reward, done, metadata, toolError }: Observation): Entry => ({
  what,
  text,
  reward,
  done,
  logs: Array.isArray(metadata['console']) ? metadata['console'].map(String) : [],
  ...(toolError && { failed: true as const }),
})

/** To be drawn anew for another code and for other hosts. */
export function TryClass({ func, facts }: { func: PageFunction; facts: ClassFacts }) {
  const id = useId()
  const { sandbox, hosts, allowed, allow } = useAllowed(func)
  const environment = useMemo(() => customEnvironment(func, () => sandbox.at(hosts)), [func, sandbox, hosts])
  const session = useRef<EnvironmentSession | null>(null)
  const [seed, setSeed] = useState('0')
  const [split, setSplit] = useState<'train' | 'heldout'>('train')
  const [entries, setEntries] = useState<readonly Entry[]>([])
  const [busy, setBusy] = useState(false)
  const [playing, setPlaying] = useState(false)
  useEffect(() => () => void environment.close(), [environment])

  const add = (entry: Entry) => setEntries((before) => [...before, entry])
  const act = (what: string, does: () => Promise<Entry>) => {
    setBusy(true)
    does()
      .then(add, (error: unknown) => {
        setPlaying(false)
        add({ what, text: describeError(error), reward: null, done: false, logs: [], failed: true })
      })
      .finally(() => setBusy(false))
  }
  const reset = () => {
    setEntries([])
    act(W.reset, async () => {
      await allow(func)
      await session.current?.close()
      if (session.current === null) await environment.connect()
      session.current = await environment.open()
      const seen = await session.current.reset({ seed: readWhole(seed), episode_id: 'bench', split })
      setPlaying(!seen.done)
      return entryOf('reset', seen)
    })
  }
  const call = (made: ToolCall) => {
    const what = `${made.name}(${JSON.stringify(made.arguments)})`
    act(what, async () => {
      const seen = await (session.current as EnvironmentSession).step(made)
      if (seen.done) setPlaying(false)
      return entryOf(what, seen)
    })
  }
  const judge = () =>
    act('get_reward', async () => {
      const reward = await (session.current as EnvironmentSession).finalReward?.()
      return { what: 'get_reward', text: reward === null || reward === undefined ? W.unscorable : W.judged, reward: reward ?? null, done: false, logs: [] }
    })
  const badSeed = !isSeed(readWhole(seed))
  return (
    <section className="try-class" aria-labelledby={id}>
      <h3 id={id}>{W.bench}</h3>
      <div className="try-reset">
        <label>
          {W.seed} <input data-testid="try-seed" inputMode="numeric" autoComplete="off" value={seed} aria-invalid={badSeed} onChange={(e) => setSeed(e.target.value)} />
        </label>
        <label>
          {W.split}{' '}
          <select value={split} onChange={(e) => setSplit(e.target.value === 'heldout' ? 'heldout' : 'train')}>
            {SPLITS.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        <button type="button" className="button small" data-testid="try-class" disabled={busy || badSeed} onClick={reset}>
          {allowed ? W.reset : W.allowReset(hosts.length > 0)}
        </button>
        {facts.hasReward && (
          <button type="button" className="button small" data-testid="try-reward" disabled={busy || entries.length === 0 || session.current === null} onClick={judge}>
            {W.judge}
          </button>
        )}
      </div>
      {!facts.hasReward && (
        <p className={facts.givesReward ? 'note' : 'why'} data-testid="try-no-reward">
          {W.noJudge(facts.name, facts.givesReward)}
        </p>
      )}
      {facts.tools.map(({ tool }) => (
        <div key={tool.function.name} className="try-tool">
          <code>{tool.function.name}</code> <span className="note">{tool.function.description}</span>
          <ToolForm tool={tool} action={W.call} disabled={busy || !playing} testId={`try-${tool.function.name}`} onCall={call} />
        </div>
      ))}
      <ol className="try-entries" aria-live="polite" data-testid="try-entries">
        {entries.map(({ what, text, reward, done, logs, failed }, i) => (
          <li key={i}>
            <code>{what}</code>
            <p className={failed ? 'why' : undefined}>{text === '' ? W.nothing : text}</p>
            <p className="note">{W.outcome(reward, done)}</p>
            {logs.length > 0 && (
              <pre className="reward-logs" aria-label={W.logs}>
                {logs.join('\n')}
              </pre>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}
