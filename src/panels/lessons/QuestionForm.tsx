/** Predict, then reveal: a choice or numbers, judged against what the run on the page says. */

import { type FormEvent, useId, useState } from 'react'
import type { Answer, AnswerValue } from '../../store/lesson-progress'
import { plain } from '../../ui/format'
import { LESSON_STRINGS as L } from '../../ui/lesson-strings'
import type { Question } from './card'
import { judge, readNumbers } from './check'

interface QuestionFormProps {
  question: Question
  /** What was predicted and revealed before. */
  answered: Answer | undefined
  /** Why it cannot be revealed yet. */
  waits: string | null
  onAnswer: (answer: Answer) => void
  onAgain: () => void
}

export function QuestionForm({ question, answered, waits, onAnswer, onAgain }: QuestionFormProps) {
  const [texts, setTexts] = useState<readonly string[]>([])
  const [choice, setChoice] = useState<string | null>(null)
  const [why, setWhy] = useState('')
  /** A result that was wrong. */
  const [missed, setMissed] = useState<number[] | null>(null)
  const exact = question.kind === 'numbers' && question.exact
  if (answered) return <Revealed question={question} answered={answered} onAgain={onAgain} />
  const filled = question.kind === 'choice' ? choice !== null : question.labels.every((_, i) => (texts[i] ?? '').trim() !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const said: AnswerValue | null = question.kind === 'choice' ? choice : readNumbers(question.labels.map((_, i) => texts[i] ?? ''))
    if (said === null) {
      setWhy(L.notNumber)
      return
    }
    if (waits !== null || question.answer === null || question.reveal === null) return
    if (exact && typeof said !== 'string' && judge(question, said) !== 'right') setMissed(said)
    else tell(said)
  }
  const tell = (said: AnswerValue) => {
    if (question.answer === null || question.reveal === null) return
    const was = typeof question.answer === 'string' ? question.answer : [...question.answer, ...((question.kind === 'numbers' && question.more) || [])]
    onAnswer({ said, was, words: question.reveal })
  }
  return (
    <form className="question" onSubmit={submit} data-testid="question">
      <fieldset>
        <legend>{question.ask}</legend>
        {question.kind === 'choice' ? (
          <Choices question={question} value={choice} onChange={setChoice} />
        ) : (
          <Numbers
            question={question}
            texts={texts}
            onChange={(i, text) => {
              setWhy('')
              setMissed(null)
              setTexts(question.labels.map((_, j) => (j === i ? text : (texts[j] ?? ''))))
            }}
          />
        )}
      </fieldset>
      <div className="question-foot">
        <button type="submit" className="button small primary" data-testid="reveal" disabled={!filled || waits !== null || question.answer === null}>
          {exact ? L.check : L.reveal}
        </button>
        {missed ? (
          <>
            <span role="status" data-testid="missed">
              <strong className="judged off">✗ {L.notYet}</strong> {L.tryAgain}
            </span>
            <button type="button" className="link" data-testid="tell" onClick={() => tell(missed)}>
              {L.tell}
            </button>
          </>
        ) : (
          <span className={why ? 'why' : 'note'} role="status">
            {why || (filled ? (waits ?? '') : exact ? L.first.exact : L.first.guess)}
          </span>
        )}
      </div>
    </form>
  )
}

function Choices({ question, value, onChange }: { question: Extract<Question, { kind: 'choice' }>; value: string | null; onChange: (id: string) => void }) {
  const name = useId()
  return question.options.map(({ id, text }) => (
    <label key={id} className="choice">
      <input type="radio" name={name} value={id} checked={value === id} onChange={() => onChange(id)} data-testid={`option-${id}`} /> {text}
    </label>
  ))
}

function Numbers({ question, texts, onChange }: { question: Extract<Question, { kind: 'numbers' }>; texts: readonly string[]; onChange: (i: number, text: string) => void }) {
  return (
    <div className="question-numbers">
      {question.labels.map((label, i) => (
        <label key={label}>
          {label} <input inputMode="text" autoComplete="off" spellCheck={false} size={7} value={texts[i] ?? ''} data-testid={`answer-${i}`} onChange={(e) => onChange(i, e.target.value)} />
        </label>
      ))}
    </div>
  )
}

function Revealed({ question, answered, onAgain }: { question: Question; answered: Answer; onAgain: () => void }) {
  const known = { ...question, answer: typeof answered.was === 'string' ? answered.was : answered.was.slice(0, question.kind === 'numbers' ? question.labels.length : undefined) } as Question
  const verdict = judge(known, answered.said)
  const said = question.kind === 'choice' ? (question.options.find(({ id }) => id === answered.said)?.text ?? String(answered.said)) : [answered.said].flat().map((value) => (typeof value === 'number' ? plain(Number(value.toPrecision(4))) : value)).join(', ')
  return (
    <div className="question revealed" role="status" data-testid="revealed" data-verdict={verdict}>
      <p className="question-ask">{question.ask}</p>
      <p>
        {L.said(question.kind === 'choice' ? `“${said}”` : said)} <strong className={`judged ${verdict}`}>{verdict === 'right' ? '✓' : verdict === 'near' ? '≈' : '✗'} {L.verdict[verdict]}.</strong> {answered.words}
      </p>
      <button type="button" className="link" data-testid="again" onClick={onAgain}>
        {L.again}
      </button>
    </div>
  )
}
