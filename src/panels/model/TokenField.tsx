/** A Hub token for gated and private repositories. It goes to the worker and nowhere else; the page keeps only that there is one. */

import { useId, useState } from 'react'
import { useModels, useStores } from '../../store/hooks'
import type { ModelView } from '../../store/model-store'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'

export const MAKE_TOKEN = 'https://huggingface.co/settings/tokens/new?tokenType=fineGrained'

export function TokenField() {
  const { controller } = useStores()
  const hasToken = useModels((s) => s.hasToken)
  const wanted = useModels(isWanted)
  const words = S.model.token
  return (
    <details data-testid="hub-token" open={wanted || undefined}>
      <summary>
        {words.title}
        {hasToken && <span className="note"> · {words.set}</span>}
      </summary>
      {hasToken ? (
        <div className="token-set">
          <p className="note">{words.kept}</p>
          <button type="button" className="button small" data-testid="forget-token" onClick={() => controller.model.setToken(null)}>
            {words.forget}
          </button>
        </div>
      ) : (
        <TokenForm />
      )}
      <p className="note">
        {words.why}{' '}
        <a href={MAKE_TOKEN} target="_blank" rel="noreferrer">
          {words.make}
        </a>
      </p>
    </details>
  )
}

/** The last answer was that a token is needed, or another one: the field opens by itself. */
function isWanted({ inspection }: ModelView): boolean {
  return inspection?.result?.ok === false && /token/i.test(`${inspection.result.error} ${inspection.result.advice}`)
}

/** Its words stand outside: what the token is for differs. */
export function TokenForm({ label = S.model.token.label }: { label?: string }) {
  const id = useId()
  const { controller } = useStores()
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState(false)
  const use = () => {
    const token = text.trim()
    const ok = /^hf_\w+$/.test(token)
    setWrong(!ok)
    if (!ok) return
    setText('')
    controller.model.setToken(token)
  }
  return (
    <form
      className="line-form"
      autoComplete="off"
      onSubmit={(e) => {
        e.preventDefault()
        use()
      }}
    >
      <span className="titled">
        <label htmlFor={id}>{label}</label>
        <Help of="model:token" name={S.model.token.title} />
      </span>
      <input
        id={id}
        type="password"
        data-testid="token-input"
        value={text}
        placeholder={S.model.token.form}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={wrong}
        aria-describedby={wrong ? `${id}-why` : undefined}
        onChange={(e) => setText(e.target.value)}
      />
      <button type="submit" className="button" data-testid="use-token">
        {S.model.token.use}
      </button>
      {wrong && (
        <p className="why" id={`${id}-why`} role="alert">
          {S.model.token.wrong}.
        </p>
      )}
    </form>
  )
}
