/** The colour of an episode's tokens: its scale, or the sentence why there is none; asks the model where a colour needs that. */

import { useEffect, useMemo } from 'react'
import type { Heat } from '../../store/display'
import { useAskedExamination, useDisplay, useReplay, useSelectedStep, useShown, useShownGrpo, useStores, useTokens } from '../../store/hooks'
import type { LoggedToken } from '../../store/token-log'
import { type EpisodeView, isActive } from '../../store/view'
import type { Scale } from '../../ui/colors'
import { S } from '../../ui/strings'
import { advantageBound } from '../rewards/advantage-scale'
import { heatScale, needsExamination, type Source, whyWithout } from './heat'

export interface HeatView {
  heat: Heat
  scale: Scale | null
  /** Instead of a scale; null where there is one or none is wanted. */
  why: string | null
  /** Of which state of the adapter the values are, where that is not plain. */
  asOf: string | null
  /** A pause of the run would bring the values. */
  pauseHelps: boolean
}

function useSource(): Source {
  const replay = useReplay((view) => view.state === 'on')
  const recording = useShown((view) => view.recording !== null)
  return replay ? 'replay' : recording ? 'recording' : 'live'
}

/** `asks` false: of an episode that no model stands behind. */
export function useHeat(episode: EpisodeView, tokens: readonly LoggedToken[], asks: boolean): HeatView {
  const { examinations } = useStores()
  const heat = useDisplay((d) => d.heat)
  const step = useSelectedStep()
  const source = useSource()
  const asked = useAskedExamination(episode.step, episode.index)
  const run = useShown((view) => view.run)
  const hasModel = useShown((view) => view.engine !== null)
  const version = useShown((view) => view.history.at(-1)?.version ?? 0)
  const { num_iterations } = useShownGrpo()
  const { revision } = useTokens()
  const { length } = tokens
  const finished = step?.finished ?? false

  const bound = advantageBound(step)
  const { advantage } = episode
  const scale = useMemo(
    () => heatScale(tokens, heat, advantage, bound),
    // The array grows in place, and its tokens get their scores in place.
    [tokens, length, revision, heat, advantage, bound],
  )

  const changes = heat === 'change'
  const live = asks && source === 'live'
  const idle = hasModel && (run.state === 'ready' || run.state === 'paused' || run.state === 'finished')
  const lacking = live && finished && (needsExamination(tokens, heat) || (changes && asked?.version !== version))
  const ask = lacking && idle
  useEffect(() => {
    if (ask) examinations.ask(episode.step, episode.index)
  }, [ask, asked, version, examinations, episode.step, episode.index])

  if (heat === 'author' || scale !== null) {
    const asOf = changes && live && asked?.state === 'done' ? S.trajectory.asOf(asked.version) : null
    return { heat, scale, why: null, asOf, pauseHelps: false }
  }
  const asking = asked?.state === 'failed' ? { failed: asked.error } : !hasModel ? 'no-model' : isActive(run) ? 'busy' : 'computing'
  const why = whyWithout(tokens, heat, {
    scored: step?.groups !== null,
    finished,
    num_iterations,
    source: asks ? source : 'recording',
    asking,
  })
  return { heat, scale, why, asOf: null, pauseHelps: lacking && asking === 'busy' && run.state === 'running' }
}
