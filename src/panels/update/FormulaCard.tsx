/** The loss in use as a formula, with the numbers of the selected token in place, or the step's means where none is selected. */

import { lazy, type ReactNode, Suspense, useMemo } from 'react'
import { LOSS_FORMULAS, TERM_OF } from '../../rl'
import { useSelectedEpisode, useSelectedStep, useSelection, useShown, useShownGrpo, useStores, useTokens } from '../../store/hooks'
import type { LoggedToken } from '../../store/token-log'
import type { EpisodeView, StepView } from '../../store/view'
import { afterFirstDraw } from '../../ui/first-draw'
import { signed } from '../../ui/format'
import { S } from '../../ui/strings'
import { visibleText } from '../trajectory/token-facts'
import { type Explanation, explainToken, type LossSettings, stepLoss, stepMeans, type TokenNumbers, type WhichUpdate } from './explain'
import { isNoise, lossTex, meansTex, tokenTex } from './formula-tex'
import { Symbols } from './Symbols'

const Tex = lazy(afterFirstDraw(() => import('../../ui/Tex')))

export function FormulaCard() {
  const settings = useShownGrpo()
  const formula = LOSS_FORMULAS[settings.loss_type]
  return (
    <section className="formula" aria-label={S.formula.title} data-testid="formula" data-loss={settings.loss_type} data-kl={settings.beta !== 0}>
      <div className="formula-loss">
        <p className="formula-head">
          <code>{S.formula.lossType(settings.loss_type)}</code>
          <a className="note" href={formula.source.url} target="_blank" rel="noreferrer">
            {formula.source.title}, {formula.source.section}
          </a>
        </p>
        <Maths tex={lossTex(settings)} />
        <p className="note">{S.formula.averages[settings.loss_type]}</p>
        <Symbols settings={settings} />
      </div>
      <div className="formula-numbers">
        <Numbers settings={settings} />
      </div>
    </section>
  )
}

function Maths({ tex }: { tex: string }) {
  return (
    <div className="formula-math">
      <Suspense fallback={<p className="note">{S.formula.loading}</p>}>
        <Tex tex={tex} />
      </Suspense>
    </div>
  )
}

function Numbers({ settings }: { settings: LossSettings }) {
  const position = useSelection((s) => s.token)
  const step = useSelectedStep()
  const episode = useSelectedEpisode()
  const log = useTokens()
  if (position === null) return <Means settings={settings} />
  const token = step && episode ? log.read(step.step, episode.index)[position] : undefined
  if (!step || !episode || !token) {
    return <Frame title={null} math={null} words={[step?.finished === false || !step ? S.formula.notWritten : S.formula.gone]} />
  }
  return <OfToken token={token} position={position} step={step} episode={episode} settings={settings} />
}

interface OfTokenProps {
  token: LoggedToken
  position: number
  step: StepView
  episode: EpisodeView
  settings: LossSettings
}

function OfToken({ token, position, step, episode, settings }: OfTokenProps) {
  const log = useTokens()
  const loss = useMemo(() => stepLoss(step, log, settings), [step, log, settings])
  const found = explainToken(token, position, episode, loss, step.finished, settings)
  const title = (
    <>
      <code>{visibleText(token.text)}</code>
      <span className="note">{S.token.position(position + 1, episode.length)}</span>
    </>
  )
  return <Frame title={title} math={mathOf(found, settings)} words={wordsOf(found, settings)} kind={found.kind === 'numbers' ? (found.term.clip?.branch ?? settings.loss_type) : found.kind} />
}

function mathOf(found: Explanation, settings: LossSettings) {
  if (found.kind === 'numbers') return <Maths tex={tokenTex(found, settings)} />
  if (found.kind !== 'masked') return null
  return (
    <div className="formula-math">
      <p className="formula-zero">{S.formula.contributes0}</p>
    </div>
  )
}

/** The sentences under the numbers. */
function wordsOf(found: Explanation, settings: LossSettings): string[] {
  switch (found.kind) {
    case 'masked':
      return [S.formula.masked[found.why]]
    case 'waiting':
      return [found.advantage === null ? S.formula.waiting : S.formula.waitingAdvantage(signed(found.advantage))]
    case 'unrecorded':
      return [S.formula.unrecorded]
    case 'divided':
      return [S.formula.divided(settings.steps_per_generation)]
    case 'numbers':
      return [branchWords(found, settings), ...factorWords(found, settings), pushWords(found.derivative), updateWords(found.update, settings), ...(found.klMissing ? [S.formula.klMissing] : [])]
  }
}

function branchWords({ term, advantage, sequence }: TokenNumbers, settings: LossSettings): string {
  if (term.clip) return term.clip.branch === 'equal' && advantage === 0 ? S.formula.branch.noAdvantage : S.formula.branch[term.clip.branch]
  if (settings.loss_type === 'cispo') return term.bound === null ? S.formula.soft.cispo : S.formula.soft.cispoCapped
  return settings.loss_type === 'vespo' ? S.formula.soft.vespo(sequence.phi) : S.formula.soft.sapo
}

/** Why the policy term counts more or less than once. */
function factorWords({ term, sequence }: TokenNumbers, settings: LossSettings): string[] {
  if (isNoise(term.factor)) return []
  if (!sequence.kept) return [S.formula.factorWords.offPolicy]
  if (term.factor === 0 && settings.top_entropy_quantile < 1) return [S.formula.factorWords.decided]
  return [term.factor === 0 ? S.formula.factorWords.mismatched : S.formula.factorWords.corrected(term.factor)]
}

/** Descent goes against the derivative. */
function pushWords(derivative: number): string {
  if (derivative === 0) return S.formula.push.none
  return derivative < 0 ? S.formula.push.up(derivative) : S.formula.push.down(derivative)
}

function updateWords(update: WhichUpdate, { num_iterations }: LossSettings): string {
  return update === 'only' || update === 'ahead' ? S.formula.update[update] : S.formula.update[update](num_iterations)
}

/** The step that is looked at; while it is being played, the one before it. */
function Means({ settings }: { settings: LossSettings }) {
  const selected = useSelection((s) => s.step)
  const step = useShown((view) => view.steps.findLast((s) => s.finished && (selected === null || s.step === selected)) ?? null)
  const log = useTokens()
  const means = useMemo(() => step && stepMeans(step, log, settings), [step, log, settings])
  if (!step || !means) return <Frame title={null} math={null} words={[!step ? S.formula.none : settings.steps_per_generation > 1 ? S.formula.divided(settings.steps_per_generation) : S.formula.unrecorded]} />
  const words = [
    S.formula.noneMeans(step.step),
    ...boundWords(means.clipped, settings),
    updateWords(means.update, settings),
    ...(means.klMissing ? [S.formula.klMissing] : []),
  ]
  return <Frame title={null} math={<Maths tex={meansTex(means, settings)} />} words={words} kind="means" />
}

/** What the bounds of the ratio did to the step's tokens; nothing for losses without any. */
function boundWords(share: number, { loss_type }: LossSettings): string[] {
  const family = TERM_OF[loss_type]
  if (family === 'clip') return [S.formula.clippedShare(share)]
  return family === 'cispo' ? [S.formula.cappedShare(share)] : []
}

interface FrameProps {
  title: ReactNode
  math: ReactNode
  words: readonly string[]
  kind?: string
}

/** The same places whatever stands in them. */
function Frame({ title, math, words, kind }: FrameProps) {
  const { selection } = useStores()
  const release = useSelection((s) => s.token !== null)
  return (
    <div data-testid="formula-numbers" data-kind={kind}>
      <p className="formula-token">
        {title}
        {release && (
          <button type="button" className="button small" aria-label={S.formula.release} title={S.formula.release} onClick={() => selection.setState({ token: null })}>
            ×
          </button>
        )}
      </p>
      {math ?? <div className="formula-math" />}
      <div className="formula-words">
        {words.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
      </div>
    </div>
  )
}
