/** The chat, one line high until it is opened: talk to the model as it is now. */

import { useState } from 'react'
import { useChat, useOpen, useStores } from '../../store/hooks'
import { later } from '../../ui/later'
import { Panel } from '../../ui/Panel'
import { S } from '../../ui/strings'

const ChatForm = later(() => import('./ChatForm').then((part) => part.ChatForm))
const Transcript = later(() => import('./Transcript').then((part) => part.Transcript))

export function ChatPanel() {
  const { chat } = useStores()
  const begun = useChat((view) => view.entries.length > 0)
  const [open, setOpen] = useOpen('chat')
  const [all, setAll] = useState(false)
  const aside = (
    <div className="panel-aside">
      {open && begun && (
        <>
          <button
            type="button"
            className="button small"
            data-testid="chat-all"
            title={all ? undefined : S.chat.allTokensHint}
            onClick={() => setAll(!all)}
          >
            {all ? S.chat.onlySaid : S.chat.allTokens}
          </button>
          <button type="button" className="button small" data-testid="chat-restart" title={S.chat.restartHint} onClick={chat.restart}>
            {S.chat.restart}
          </button>
        </>
      )}
      <button type="button" className="button small" data-testid="chat-open" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? S.chat.close : S.chat.open}
      </button>
    </div>
  )
  return (
    <Panel id="chat" title={S.chat.title} lead={S.chat.lead} aside={aside}>
      {open && (
        <>
          <Transcript all={all} />
          <ChatForm />
        </>
      )}
    </Panel>
  )
}
