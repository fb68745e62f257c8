/** The bench: all functions on the episodes that are shown, with each one's reward, error and log, before a run is trained with them. */

import { useState } from 'react'
import { useStore } from 'zustand'
import { chosenNames } from '../../core/environment-spec'
import { hostsOf } from '../../core/network-hosts'
import { type CustomReward, type RewardFunc } from '../../core/reward-funcs'
import { useGuard, useSelectedStep, useSetup, useStores, useTokens } from '../../store/hooks'
import { isAllowed, pageSandbox } from '../../store/sandbox-store'
import type { EpisodeView } from '../../store/view'
import { number } from '../../ui/format'
import { NETWORK_STRINGS as N } from '../../ui/network-strings'
import { REWARD_STRINGS as W } from '../../ui/reward-strings'
import { useConnected } from '../task/useConnected'
import { useEnvironmentName } from './environment-name'
import { type Tried, type TriedEpisode, tryRewards } from './try-rewards'

const isCustom = (func: RewardFunc): func is CustomReward => func.name === 'custom'
/** More would be no bench but a table. */
const MOST_EPISODES = 16

const isTriable = ({ finished, exit }: EpisodeView) => finished && exit !== 'stopped'

/** Finished episodes that the page shows now, with their tokens: a change of settings may take the recorded run away. */
export function useTriable(): () => TriedEpisode[] {
  const step = useSelectedStep()
  const tokens = useTokens()
  return () => (step?.episodes ?? []).filter(isTriable).slice(0, MOST_EPISODES).map((view) => ({ view, tokens: [...tokens.read(view.step, view.index)] }))
}

/** `kept`: the episodes that were shown when the dialog opened; newer ones take their place. */
export function RewardBench({ kept }: { kept: readonly TriedEpisode[] }) {
  const { controller } = useStores()
  const sandbox = pageSandbox(controller.send)
  const { reward_funcs, reward_weights } = useSetup((s) => s.config.grpo)
  const hosts = useSetup((s) => hostsOf(s.config))
  const waiting = useStore(sandbox.store, (view) => reward_funcs.filter(isCustom).some((func) => !isAllowed(view, func, hosts)))
  const now = useTriable()
  const environment = useEnvironmentName()
  const members = useConnected()?.members ?? []
  const chosen = chosenNames(useSetup((s) => s.config.environment), members.map(({ name }) => name))
  const [tried, setTried] = useState<{ of: readonly RewardFunc[]; result: Tried; places: number[] } | 'trying' | null>(null)
  const shown = now()
  const episodes = shown.length > 0 ? shown : kept
  const step = episodes[0]?.view.step
  const dry = useGuard(({ report }) => report !== null)

  const start = () => {
    setTried('trying')
    const allowed = Promise.all(reward_funcs.filter(isCustom).map((func) => sandbox.allow(func, hosts)))
    void allowed.then(() => tryRewards(reward_funcs, reward_weights, episodes, environment, (...args) => sandbox.at(hosts).call(...args), chosen)).then((result) => setTried({ of: reward_funcs, result, places: episodes.map(({ view }) => view.index + 1) }))
  }
  const own = reward_funcs.some(isCustom)
  return (
    <section className="reward-bench" aria-labelledby="reward-bench-title">
      <h3 id="reward-bench-title">{W.bench}</h3>
      <p className="note">{step === undefined ? W.noEpisodes(dry) : W.benchLead(step, episodes.length)}</p>
      {own && (
        <p className={waiting ? 'why' : 'note'} data-testid="reward-consent">
          {waiting ? W.notAllowed : W.isAllowed}
        </p>
      )}
      {own && hosts.length > 0 && <p className="note network-words">{waiting ? N.asks(hosts) : N.reaches(hosts)}</p>}
      <button type="button" className="button" data-testid="try-rewards" disabled={tried === 'trying' || (episodes.length === 0 && !waiting)} onClick={start}>
        {tried === 'trying' ? W.trying : waiting ? W.allow(hosts.length > 0, episodes.length > 0) : W.try}
      </button>
      <div aria-live="polite">{tried !== null && tried !== 'trying' && tried.of === reward_funcs && <Results {...tried} />}</div>
    </section>
  )
}

function Results({ result: { names, columns, sums }, places }: { result: Tried; places: number[] }) {
  // Without one of its terms there is no sum.
  const isWhole = columns.every(({ error }) => error === null)
  return (
    <>
      {columns.map(({ error }, k) =>
        error === null ? null : (
          <p key={k} className="why" role="alert" data-testid="reward-error">
            {error}
          </p>
        ),
      )}
      {places.length > 0 && (
        <div className="reward-table">
          <table data-testid="reward-results">
            <thead>
              <tr>
                <th scope="col">{W.episode}</th>
                {names.map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
                {isWhole && <th scope="col">{W.sum}</th>}
              </tr>
            </thead>
            <tbody>
              {places.map((place, i) => (
                <tr key={place}>
                  <th scope="row">{place}</th>
                  {columns.map(({ rewards, error }, k) => (
                    <td key={k}>{error === null ? W.value(rewards[i] ?? null) : W.failed}</td>
                  ))}
                  {isWhole && <td>{W.value(sums[i] ?? null)}</td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {columns.map(({ metrics, logs, nan = 0 }, k) => (
        <div key={k}>
          {nan > 0 && (
            <p className="why" data-testid="reward-nan">
              {W.nan(names[k] ?? '', nan)}
            </p>
          )}
          {Object.entries(metrics).map(([name, value]) => (
            <p key={name} className="note">
              {W.metrics} {name}: {number(value)}
            </p>
          ))}
          {logs.length > 0 && (
            <pre className="reward-logs" aria-label={W.logs}>
              {logs.join('\n')}
            </pre>
          )}
        </div>
      ))}
    </>
  )
}
