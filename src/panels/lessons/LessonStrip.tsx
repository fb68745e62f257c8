/** The open lesson below the bar: a card's text, its question, and the frame around what it speaks of. On a phone a sheet at the foot of the window. */

import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import { useDisplay, useProgress, useStores } from '../../store/hooks'
import { type LessonId } from '../../store/lessons'
import { LESSON_STRINGS as L, LESSON_TITLES } from '../../ui/lesson-strings'
import { bringIntoView, findTarget, Spotlight, useBox } from '../tour/Spotlight'
import type { Card, Cover } from './card'
import { lessonById } from './lessons.data'
import { QuestionForm } from './QuestionForm'
import { useLook, useScene, useWants } from './useScene'
import { type Progress, settingsInWords, withWants } from './wants'

export function LessonStrip({ id }: { id: LessonId }) {
  const { lessons } = useStores()
  const { cards } = lessonById(id)
  const at = useDisplay((d) => Math.min(Math.max(1, d.card), cards.length))
  const answers = useProgress((progress) => progress[id])
  const [folded, setFolded] = useState(false)
  const strip = useRef<HTMLElement>(null)
  useEffect(() => strip.current?.focus({ preventScroll: true }), [id])
  const card = cards[at - 1] as Card
  return (
    <section ref={strip} tabIndex={-1} className={folded ? 'lesson folded' : 'lesson'} aria-label={`${L.lesson}: ${LESSON_TITLES[id]}`} data-testid="lesson" data-lesson={id} data-card={card.id}>
      <header className="lesson-head">
        <h2>{LESSON_TITLES[id]}</h2>
        <ol className="lesson-dots" aria-hidden="true">
          {cards.map(({ id: name }, i) => (
            <li key={name} className={[i === at - 1 && 'now', answers?.[name] && 'done'].filter(Boolean).join(' ')} />
          ))}
        </ol>
        <span className="note">{L.card(at, cards.length)}</span>
        <span className="lesson-moves">
          <button type="button" className="button small" data-testid="lesson-back" disabled={at === 1} onClick={() => lessons.goTo(at - 1)}>
            {L.back}
          </button>
          <button type="button" className="button small" data-testid="lesson-next" disabled={at === cards.length} onClick={() => lessons.goTo(at + 1)}>
            {L.next}
          </button>
          <button type="button" className="button small lesson-fold" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
            {folded ? L.unfold : L.fold}
          </button>
          <button type="button" className="button small" data-testid="lesson-close" title={L.closeHint} onClick={lessons.close}>
            {L.close}
          </button>
        </span>
      </header>
      <Body key={card.id} id={id} card={card} folded={folded} />
    </section>
  )
}

function Body({ id, card, folded }: { id: LessonId; card: Card; folded: boolean }) {
  const { progress } = useStores()
  const scene = useScene(id)
  const wants = useWants(card)
  const ready = wants === null || wants.state === 'met'
  useLook(id, card, ready)
  const answered = useProgress((p) => p[id]?.[card.id])
  const box = useBox(card.show ?? null)
  useEffect(() => {
    const element = card.show === undefined ? null : findTarget(card.show)
    if (element) bringIntoView(element)
  }, [card, ready])
  const { text, question } = card.draw(scene)
  useCovers(question && !answered ? card.covers : undefined)
  return (
    <>
      <Spotlight box={box} />
      {!folded && (
        <div className="lesson-body">
          <div className="lesson-text" aria-live="polite">
            <p data-testid="lesson-text">{ready || question ? text : L.wants.later}</p>
            {wants && !answered && <WantsLine card={card} progress={wants} />}
          </div>
          {question && (
            <QuestionForm
              question={question}
              answered={answered}
              waits={!ready ? L.wants.short : question.answer === null ? L.gone : null}
              onAnswer={(answer) => progress.answer(id, card.id, answer)}
              onAgain={() => progress.forget(id, card.id)}
            />
          )}
        </div>
      )}
    </>
  )
}

/** The page covers what it is told: these parts are drawn by panels that know of no lesson. */
function useCovers(covers: readonly Cover[] = []): void {
  const names = covers.join(' ')
  useLayoutEffect(() => {
    const { dataset } = document.documentElement
    if (names) dataset['covered'] = names
    return () => {
      delete dataset['covered']
    }
  }, [names])
}

/** What is to be pressed, where the answer must be trained first. */
function WantsLine({ card, progress }: { card: Card; progress: Progress }) {
  const { controller } = useStores()
  const { wants } = card
  if (!wants || progress.state === 'met') return null
  const environment = wants.environment === 'echo' ? ['echo'] : []
  const settings = settingsInWords(wants)
  return (
    <p className="lesson-wants" role="status" data-testid="lesson-wants" data-state={progress.state}>
      {progress.state === 'set' && (
        <>
          {L.wants.set([...environment, ...(settings ? [settings] : [])].join(', '))}{' '}
          <button type="button" className="button small" data-testid="lesson-set" onClick={() => controller.edit((config) => withWants(config, wants))}>
            {L.wants.setButton}
          </button>
        </>
      )}
      {progress.state === 'reset' && L.wants.reset}
      {progress.state === 'loading' && L.wants.loading}
      {progress.state === 'running' && L.wants.running(progress.steps, progress.done)}
      {progress.state === 'press' && (progress.steps === 1 ? L.wants.step : L.wants.train(progress.steps, progress.done))}
    </p>
  )
}
