/** What was said: questions, and answers with the author of every piece. Text is drawn as text. */

import { useLayoutEffect, useRef } from 'react'
import type { ChatAnswer, ChatEntry } from '../../store/chat-store'
import { useChat } from '../../store/hooks'
import { S } from '../../ui/strings'
import { HeatLegend } from '../trajectory/Legend'
import { type Part, partsOf, spoken } from './parts'

/** Pixels from the end within which the transcript follows what is written. */
const NEAR_END = 40

export function Transcript({ all }: { all: boolean }) {
  const entries = useChat((view) => view.entries)
  const box = useRef<HTMLDivElement>(null)
  const follows = useRef(true)
  useLayoutEffect(() => {
    const { current } = box
    if (current && follows.current) current.scrollTop = current.scrollHeight
  }, [entries])
  const look = () => {
    const { current } = box
    if (current) follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_END
  }
  return (
    <>
      {entries.length === 0 ? (
        <p className="empty">{S.chat.empty}</p>
      ) : (
        <>
          <div className="transcript" ref={box} onScroll={look} tabIndex={0} role="log" aria-live="off" aria-label={S.chat.title} data-testid="transcript">
            {entries.map((entry, i) => (
              <Entry key={entry.id} entry={entry} all={all} divided={entry.begins && i > 0} />
            ))}
          </div>
          <HeatLegend scale={null} authors={all ? ['model', 'environment', 'template'] : ['model', 'environment']} />
        </>
      )}
      <Announcement />
    </>
  )
}

/** For screen readers: who answers, and the answer when it is there; not every token. */
function Announcement() {
  const text = useChat(({ entries }) => {
    const answers = entries.at(-1)?.answers ?? []
    const writing = answers.find((answer) => answer.ended === null)
    if (writing) return S.chat.answering(S.chat.adapters[writing.adapter])
    return answers.map((answer) => `${S.chat.adapters[answer.adapter]}: ${spoken(answer.tokens)} ${answer.ended?.error ?? ''}`).join(' ')
  })
  return (
    <p className="sr-only" role="status" data-testid="chat-status">
      {text}
    </p>
  )
}

function Entry({ entry, all, divided }: { entry: ChatEntry; all: boolean; divided: boolean }) {
  const { question, answers } = entry
  const present = answers.findIndex((answer) => answer.ended === null)
  return (
    <>
      {divided && <p className="chat-divider">{S.chat.begins}</p>}
      <div className="segment chat-question">
        <span className="segment-name">{S.chat.you}</span>
        {question === '' ? <p className="note">{S.chat.silence}</p> : <p className="chat-said">{question}</p>}
      </div>
      <div className={answers.length > 1 ? 'chat-answers both' : 'chat-answers'}>
        {answers.map((answer, i) => (
          <Answer key={answer.adapter} answer={answer} all={all} state={answer.ended ? null : i === present ? 'writing' : 'queued'} />
        ))}
      </div>
    </>
  )
}

function Answer({ answer, all, state }: { answer: ChatAnswer; all: boolean; state: 'writing' | 'queued' | null }) {
  const parts = partsOf(answer.tokens, all)
  const { reason, error } = answer.ended ?? { reason: null, error: '' }
  const why = reason === null ? '' : error || S.chat.ends[reason]
  return (
    <div className="segment" data-testid="chat-answer" data-adapter={answer.adapter} data-ended={reason ?? ''}>
      <span className="segment-name">{S.chat.adapters[answer.adapter]}</span>
      <div className={all ? 'chat-parts all' : 'chat-parts'}>
        {parts.map((part, i) => (
          <PartView key={i} part={part} writing={state === 'writing' && i === parts.length - 1} />
        ))}
        {state && parts.length === 0 && <p className="note">{S.chat[state]}</p>}
        {why && <p className={reason === 'failed' ? 'chat-failed' : 'note'}>{why}</p>}
      </div>
    </div>
  )
}

function PartView({ part, writing }: { part: Part; writing: boolean }) {
  if (part.kind === 'thought') {
    return (
      <details className="thought">
        <summary>
          {S.chat.thought(part.tokens)}
          {part.open && writing && ` · ${S.chat.writing}`}
        </summary>
        <p className="chat-text token-model">{part.text}</p>
      </details>
    )
  }
  return (
    <p className="chat-part">
      <span className={`chat-text token-${part.author}${part.author === 'model' ? '' : ' masked'}`} data-author={part.author}>
        {part.text}
      </span>
    </p>
  )
}
