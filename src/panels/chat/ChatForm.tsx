/** Where a person writes, and what a question is asked with: model, thinking, tools, temperature, length. */

import { type FormEvent, useId, useState } from 'react'
import { TINY_MODEL } from '../../env/presets'
import { useChat, useRun, useSetup, useStores } from '../../store/hooks'
import { specName } from '../../core/environment-spec'
import { readNumber } from '../../core/typed-number'
import { occupied } from '../../store/occupied'
import type { RunView } from '../../store/view'
import { Help } from '../../ui/Help'
import { S } from '../../ui/strings'
import { submitOnEnter } from '../../ui/submit'

export function ChatForm() {
  const { chat } = useStores()
  const { tools } = useChat((view) => view.settings)
  const busy = useChat((view) => view.busy)
  const why = useRun(occupied)
  const [text, setText] = useState('')
  const ready = why === null && !busy && (text.trim() !== '' || tools)

  const send = (ask: (text: string) => void) => {
    if (!ready) return
    ask(text.trim())
    setText('')
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send(chat.ask)
  }
  return (
    <form className="chat-form" onSubmit={submit}>
      <Choices />
      <OnlyPlays />
      <div className="chat-line">
        <textarea
          aria-label={S.chat.message}
          data-testid="chat-text"
          rows={2}
          value={text}
          placeholder={tools ? S.chat.placeholderTools : S.chat.placeholder}
          onChange={(e) => setText(e.target.value)}
          onKeyDown={submitOnEnter}
        />
        <div className="chat-buttons">
          {busy ? (
            <button key="stop" type="button" className="button" data-testid="chat-stop" onClick={chat.stop}>
              {S.chat.stop}
            </button>
          ) : (
            <button key="send" type="submit" className="button primary" data-testid="chat-send" disabled={!ready}>
              {S.chat.send}
            </button>
          )}
          <button
            type="button"
            className="button"
            data-testid="chat-both"
            title={S.chat.askBothHint}
            disabled={!ready}
            onClick={() => send(chat.askBoth)}
          >
            {S.chat.askBoth}
          </button>
        </div>
      </div>
      {why && (
        <p className="note" data-testid="chat-refusal">
          {S.chat[why]}
        </p>
      )}
    </form>
  )
}

/** A person greets the first model that they meet; the shipped one was taught no language but its games'. */
function OnlyPlays() {
  const shipped = useSetup(({ applied, config }) => (applied ?? config).model === TINY_MODEL)
  const tools = useChat((view) => view.settings.tools)
  const name = useRun(environmentName)
  if (!shipped || tools) return null
  return (
    <p className="note" data-testid="chat-shipped">
      {name === null ? S.chat.shippedAlone : S.chat.shipped(S.chat.tools(name))}
    </p>
  )
}

const ADAPTERS = ['current', 'off'] as const

function Choices() {
  const { chat } = useStores()
  const settings = useChat((view) => view.settings)
  const name = useRun(environmentName)
  return (
    <div className="chat-choices">
      <fieldset className="segmented" data-testid="chat-adapter">
        <legend className="sr-only">{S.chat.who}</legend>
        {ADAPTERS.map((adapter) => (
          <label key={adapter} className={adapter === settings.adapter ? 'chosen' : ''}>
            <input
              type="radio"
              name="chat-adapter"
              className="sr-only"
              checked={adapter === settings.adapter}
              onChange={() => chat.set({ adapter })}
            />
            {S.chat.adapters[adapter]}
          </label>
        ))}
      </fieldset>
      <label title={S.chat.thinkingHint}>
        <input
          type="checkbox"
          data-testid="chat-thinking"
          checked={settings.enable_thinking}
          onChange={(e) => chat.set({ enable_thinking: e.target.checked })}
        />{' '}
        {S.chat.thinking}
      </label>
      {name !== null && (
        <label title={S.chat.toolsHint}>
          <input type="checkbox" data-testid="chat-tools" checked={settings.tools} onChange={(e) => chat.set({ tools: e.target.checked })} />{' '}
          {S.chat.tools(name)}
        </label>
      )}
      <span className="chat-numbers">
        <NumberChoice
          name="temperature"
          value={settings.temperature}
          accepts={(n) => n >= 0 && n <= 10}
          refusal={S.chat.temperatureRefused}
          onChange={(temperature) => chat.set({ temperature })}
        />
        <NumberChoice
          name="max_new_tokens"
          value={settings.max_new_tokens}
          accepts={(n) => Number.isInteger(n) && n >= 1}
          refusal={S.chat.lengthRefused}
          onChange={(max_new_tokens) => chat.set({ max_new_tokens })}
        />
        <Help of="chat:settings" name={S.chat.settings} />
      </span>
    </div>
  )
}

/** null where it has no tools. */
function environmentName({ environment }: RunView): string | null {
  return environment && environment.tools.length > 0 ? specName(environment.spec) : null
}

interface NumberChoiceProps {
  name: string
  value: number
  accepts: (value: number) => boolean
  refusal: string
  onChange: (value: number) => void
}

/** What is refused stays in the control and says what is accepted. */
function NumberChoice({ name, value, accepts, refusal, onChange }: NumberChoiceProps) {
  const id = useId()
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? String(value)
  const read = (input: string): number | null => {
    const number = readNumber(input)
    return accepts(number) ? number : null
  }
  const ok = read(text) !== null
  const change = (input: string) => {
    setTyped(input)
    const number = read(input)
    if (number !== null) onChange(number)
  }
  return (
    <span className={ok ? 'chat-number' : 'chat-number invalid'}>
      <label htmlFor={id}>
        <code>{name}</code>
      </label>
      <input
        id={id}
        data-testid={`chat-${name}`}
        inputMode="decimal"
        autoComplete="off"
        value={text}
        aria-invalid={!ok}
        aria-describedby={ok ? undefined : `${id}-why`}
        onChange={(e) => change(e.target.value)}
        onBlur={() => ok && setTyped(null)}
      />
      {!ok && (
        <span className="why" id={`${id}-why`} role="alert">
          {refusal}.
        </span>
      )}
    </span>
  )
}
