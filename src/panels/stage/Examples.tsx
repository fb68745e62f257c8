/** The rows as tokens, targets tinted and the rest hatched, before anything is trained; and what became of the other rows. */

import { Fragment } from 'react'
import type { StageExample, StageLook } from '../../worker/protocol'
import { SHOWN_ROWS } from '../../store/stage-store'
import { Help } from '../../ui/Help'
import { STAGE_STRINGS as W } from '../../ui/stage-strings'
import { drawnText } from '../trajectory/token-text'
import { useStage, useStageActions } from './useStage'

/** What is seen of the prompt before the first target, pixels. */
const LINES_BEFORE = 48

export function Examples() {
  const look = useStage((view) => view.look)
  return (
    <section className="stage-examples" aria-label={W.tokens}>
      <div className="titled">
        <h3>{W.tokens}</h3>
        <Help of={W.tokens} text={W.tokensHelp} />
        <span className="legend">
          <span>
            <span className="swatch token-model" /> {W.target}
          </span>
          <span>
            <span className="swatch token-template" /> {W.masked}
          </span>
        </span>
      </div>
      {look ? <Found look={look} /> : <p className="empty">{W.lookFirst}</p>}
    </section>
  )
}

function Found({ look }: { look: StageLook }) {
  const { rows, tokens, targets, steps, shortened, mismatched, maxLength, problems, dropped, examples } = look
  return (
    <>
      <p data-testid="stage-says">{rows === 0 ? W.none : W.says(rows, tokens, targets, steps)}</p>
      {shortened > 0 && <p className="note">{W.shortened(shortened, maxLength)}</p>}
      {examples.some(trainsEmptyThought) && <p className="note" data-testid="stage-thought">{W.emptyThought}</p>}
      {mismatched > 0 && <p className="note">{W.mismatched(mismatched)}</p>}
      <Left title={W.problems(problems.count)} {...problems} />
      <Left title={W.dropped(dropped.count)} {...dropped} />
      {examples.map((example) => (
        <Row key={example.place} example={example} />
      ))}
      {rows > SHOWN_ROWS && <Pages look={look} />}
    </>
  )
}

/** Whether a think block with nothing in it is among the targets. */
const trainsEmptyThought = ({ parts }: StageExample): boolean =>
  parts.some(({ tokens }) => /<think>\s*<\/think>/.test(tokens.map(({ text, target }) => (target ? text : ' . ')).join('')))

function Left({ title, count, first }: StageLook['problems'] & { title: string }) {
  if (count === 0) return null
  return (
    <details className="stage-left" data-testid="stage-problems" open={count <= 3}>
      <summary>{title}</summary>
      <ul>
        {first.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
        {count > first.length && <li>{W.more(count - first.length)}</li>}
      </ul>
    </details>
  )
}

/** Behind a long prompt its first target is what one looks for. */
function toTarget(box: HTMLElement | null) {
  const first = box?.querySelector('[data-target="true"]')
  if (box && first) box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - LINES_BEFORE
}

function Row({ example: { place, parts } }: { example: StageExample }) {
  return (
    <div className="stage-row" data-testid="stage-row">
      {parts.map(({ tokens }, i) => (
        <div key={i} className="stage-part">
          <p className="note">
            {W.row(place)}
            {parts.length > 1 && `, ${W.parts[i] ?? ''}`} · {W.counts(tokens.filter(({ target }) => target).length, tokens.length)}
          </p>
          <div ref={toTarget} className="tokens" tabIndex={0} role="group" aria-label={`${W.row(place)} ${parts.length > 1 ? (W.parts[i] ?? '') : ''}`}>
            {tokens.map(({ text, author, target }, t) => (
              <Fragment key={t}>
                <span className={`token token-${author}${target ? '' : ' masked'}`} data-target={target}>
                  {drawnText(text, false)}
                </span>
                {text.endsWith('\n') && <br />}
              </Fragment>
            ))}
          </div>
        </div>
      ))}
    </div>
  )
}

function Pages({ look: { from, rows, examples } }: { look: StageLook }) {
  const stage = useStageActions()
  return (
    <nav className="stage-pages" aria-label={W.tokens}>
      <button type="button" className="button small" aria-label={W.previous} title={W.previous} disabled={from === 0} onClick={() => stage.look(Math.max(0, from - SHOWN_ROWS))}>
        ‹
      </button>
      <span>{W.rows(from + 1, from + examples.length, rows)}</span>
      <button type="button" className="button small" data-testid="stage-next" aria-label={W.next} title={W.next} disabled={from + examples.length >= rows} onClick={() => stage.look(from + SHOWN_ROWS)}>
        ›
      </button>
    </nav>
  )
}
