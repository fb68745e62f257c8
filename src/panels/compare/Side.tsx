/** One side of a comparison: how it ended, its scenes, and every token, coloured by what the LoRA changed. */

import { type FocusEvent, type KeyboardEvent, lazy, type MouseEvent, Suspense, useMemo, useRef, useState } from 'react'
import type { ComparedEpisode } from '../../core/examination'
import { useDisplay } from '../../store/hooks'
import type { Scale } from '../../ui/colors'
import { number, percent } from '../../ui/format'
import { S } from '../../ui/strings'
import { useNarrow } from '../../ui/useNarrow'
import { heatColor, heatText } from '../trajectory/heat'
import { segmentsOf } from '../trajectory/segments'
import type { TokenFacts } from '../trajectory/token-facts'
import { drawnText, spokenText, visibleText } from '../trajectory/token-text'
import { TurnPictures } from '../trajectory/TurnPictures'
import { useRoving } from '../trajectory/useRoving'
import { changesOf } from './difference'
import { Outcome } from './Verdict'

const C = S.compare
const TokenTip = lazy(() => import('../trajectory/TokenTip'))

interface SideProps {
  who: 'base' | 'lora'
  title: string
  episode: ComparedEpisode
  scale: Scale
  /** From here on the two differ; null: nowhere. */
  parting: number | null
}

/** The token that an event is inside of. */
function tokenOf(target: EventTarget): { element: HTMLElement; position: number } | null {
  const element = target instanceof Element ? target.closest<HTMLElement>('[data-position]') : null
  return element && { element, position: Number(element.dataset['position']) }
}

export function Side({ who, title, episode, scale, parting }: SideProps) {
  const { ids, texts, authors, mask, promptLength, turns, scene } = episode
  const blanks = useDisplay((d) => d.blanks)
  const narrow = useNarrow()
  const surface = useRef<HTMLDivElement>(null)
  const [pointed, setPointed] = useState<ReturnType<typeof tokenOf>>(null)
  const changes = useMemo(() => changesOf(episode, who), [episode, who])
  const segments = useMemo(() => segmentsOf(loggedAuthors(episode), promptLength).filter(({ turn }) => turn !== null), [episode, promptLength])
  const roving = useRoving(surface, promptLength, ids.length - 1, segments)
  const tabStop = roving.active ?? promptLength

  const press = (event: KeyboardEvent<HTMLElement>) => {
    const from = tokenOf(event.target)?.position
    if (from === undefined) return
    if (event.key === 'Escape') return setPointed(null)
    const to = roving.target(event, from)
    if (to === null) return
    roving.focus(to)
    event.preventDefault()
  }
  const point = (event: MouseEvent | FocusEvent) => {
    const found = tokenOf(event.target)
    setPointed(found)
    if (found && event.type === 'focus') roving.setActive(found.position)
  }

  const drawn = (position: number) => {
    const change = changes[position] ?? null
    const background = heatColor(scale, change)
    const place = parting === null || position < parting ? 'common' : position === parting ? 'parting' : ''
    return (
      <span
        key={position}
        role="button"
        className={`token token-${authors[position]} ${mask[position] === 1 ? '' : 'masked'} ${place}`}
        data-testid="compared-token"
        data-position={position}
        aria-label={labelOf(texts[position] ?? '', authors[position] ?? 'template', change, place === 'parting')}
        tabIndex={position === tabStop ? 0 : -1}
        style={background === undefined ? undefined : { background }}
      >
        {drawnText(texts[position] ?? '', blanks)}
      </span>
    )
  }

  const tipped = pointed?.element.isConnected ? pointed : null
  return (
    <section className="compare-side" aria-label={title} data-testid={`compare-${who}`}>
      <h3>{title}</h3>
      <p className="compare-outcome">
        <Outcome of={episode} />
      </p>
      <div
        ref={surface}
        className="compare-tokens"
        role="group"
        aria-label={C.tokens(title)}
        onMouseOver={point}
        onMouseLeave={() => setPointed(null)}
        onFocus={point}
        onBlur={() => setPointed(null)}
        onKeyDown={press}
      >
        {segments.map(({ turn, start, end }, i) => (
          <div key={turn} className="compare-turn">
            <p className="said">
              <span className="segment-name">{S.trajectory.turn(i + 1)}</span>
              {turns[i]?.reward !== null && turns[i]?.reward !== undefined && (
                <span>
                  {S.trajectory.reward} {number(turns[i]?.reward)}
                </span>
              )}
            </p>
            <div className="tokens">{Array.from({ length: end - start }, (_, k) => drawn(start + k))}</div>
          </div>
        ))}
      </div>
      <TurnPictures scene={turns.findLast((turn) => turn.scene !== undefined)?.scene ?? scene} />
      {tipped && (
        <Suspense>
          <TokenTip at={tipped.element} facts={factsOfCompared(episode, who, tipped.position, changes[tipped.position] ?? null)} heat={narrow ? 'author' : 'change'} />
        </Suspense>
      )}
    </section>
  )
}

/** Turns are told apart by who wrote. */
function loggedAuthors({ ids, texts, authors, mask }: ComparedEpisode) {
  return ids.map((id, i) => ({ id, text: texts[i] ?? '', author: authors[i] ?? 'template', mask: mask[i] ?? 0, logprob: null, trainLogprob: null, entropy: null, top: null }))
}

function labelOf(text: string, author: ComparedEpisode['authors'][number], change: number | null, parts: boolean): string {
  const masked = change === null ? `, ${S.authors[author]}, ${S.trajectory.maskedShort}` : `, ${heatText('change', change)}`
  return `${spokenText(text)}${parts ? `, ${C.first}` : ''}${masked}`
}

function factsOfCompared({ ids, texts, authors, logprobs, otherLogprobs, alternatives }: ComparedEpisode, who: 'base' | 'lora', position: number, change: number | null): TokenFacts {
  const [own, other] = [Math.exp(logprobs[position] ?? 0), Math.exp(otherLogprobs[position] ?? 0)]
  const [base, lora] = who === 'base' ? [own, other] : [other, own]
  const rows: TokenFacts['rows'] =
    change === null
      ? [{ label: S.token.mask, value: `0, ${S.trajectory.masked}` }]
      : [
          { label: C.underBase, value: percent(base) },
          { label: C.underLora, value: percent(lora) },
          { label: C.change, value: heatText('change', change), heat: 'change' },
        ]
  return {
    title: visibleText(texts[position] ?? ''),
    position: S.token.position(position + 1, ids.length),
    author: S.authors[authors[position] ?? 'template'],
    rows,
    alternatives: (alternatives[position] ?? []).map(({ id, prob, text }) => ({ text: visibleText(text ?? `#${id}`), probability: prob, sampled: id === ids[position] })),
  }
}
