/** An episode as a chat: the prompt and the turns, what each side said token by token, and what the environment showed beside it. */

import { memo, type ReactNode } from 'react'
import type { LoggedToken } from '../../store/token-log'
import type { AnswerView, EpisodeView } from '../../store/view'
import { number } from '../../ui/format'
import { S } from '../../ui/strings'
import { type Block, blocksOf, type TextSize } from './blocks'
import { type Message, messagesOf, type Role, type Segment } from './segments'
import { FarBlock, TokenBlock, type TokenLook } from './TokenBlock'
import { TurnPictures } from './TurnPictures'

interface TurnsProps {
  episode: EpisodeView
  tokens: readonly LoggedToken[]
  segments: readonly Segment[]
  /** Tokens from here on are not drawn. */
  end: number
  promptOpen: boolean
  onTogglePrompt: () => void
  look: TokenLook
  revision: number
  selected: number | null
  tabStop: number
  /** Of a long episode: blocks that are far from the window are left out. null: all are drawn. */
  size: TextSize | null
  /** Who wrote in the model's place, if not the model. */
  writer?: string | undefined
}

export function Turns({ episode, tokens, segments, end, promptOpen, onTogglePrompt, writer, selected, tabStop, ...drawing }: TurnsProps) {
  const messages = (segment: Segment, head: ReactNode) =>
    messagesOf(tokens, segment).map((message, i) => (
      <Said key={message.start} message={message} end={end} writer={writer} head={i === 0 ? head : null}>
        <Tokens
          tokens={tokens}
          {...drawing}
          start={message.start}
          end={Math.min(message.end, end)}
          selected={within(selected, message)}
          tabStop={within(tabStop, message)}
        />
      </Said>
    ))
  return segments
    .filter((segment) => segment.turn === null || segment.start < end)
    .map((segment) =>
      segment.turn === null ? (
        <div key="prompt" className="segment">
          <div className="messages">
            <p className="said">
              <span className="segment-name">{S.trajectory.prompt}</span>
              <button type="button" className="link" data-testid="toggle-prompt" aria-expanded={promptOpen} onClick={onTogglePrompt}>
                {promptOpen ? S.trajectory.hidePrompt(segment.end) : S.trajectory.showPrompt(segment.end)}
              </button>
            </p>
            {promptOpen && messages(segment, null)}
          </div>
          <TurnPictures scene={episode.scene} />
        </div>
      ) : (
        <div key={segment.turn} className="segment">
          <div className="messages">{messages(segment, <TurnHead answer={answerTo(episode, segment.turn)} turn={segment.turn} />)}</div>
          <TurnPictures scene={answerTo(episode, segment.turn)?.scene} />
        </div>
      ),
    )
}

/** What the environment said after this turn. */
function answerTo(episode: EpisodeView, turn: number): AnswerView | undefined {
  return episode.answers.findLast((a) => a.turn === turn)
}

function TurnHead({ turn, answer }: { turn: number; answer: AnswerView | undefined }) {
  const reward = answer?.reward ?? null
  return (
    <>
      <span className="segment-name">{S.trajectory.turn(turn + 1)}</span>
      {reward !== null && (
        <span className="segment-reward">
          {S.trajectory.reward} {number(reward)}
        </span>
      )}
    </>
  )
}

/** One side's words under its role. */
function Said({ message, end, head, writer, children }: { message: Message; end: number; head: ReactNode; writer: string | undefined; children: ReactNode }) {
  if (message.start >= end) return null
  return (
    <div className={`message message-${sideOf(message.role)}`}>
      <p className="said">
        {head}
        <span className="role">{message.role === 'model' && writer ? writer : S.trajectory.roles[message.role]}</span>
      </p>
      <div className="tokens">{children}</div>
    </div>
  )
}

const sideOf = (role: Role) => (role === 'model' || role === 'assistant' ? 'model' : role === 'environment' || role === 'tool' ? 'environment' : 'template')

/** A position if it is in [start, end): a change elsewhere then changes nothing here. */
const within = (position: number | null, { start, end }: Block) => (position !== null && position >= start && position < end ? position : null)

interface TokensProps extends Pick<TurnsProps, 'tokens' | 'look' | 'revision' | 'selected' | 'size'>, Block {
  tabStop: number | null
}

/** In blocks, so that a change of one token draws few of them again. */
const Tokens = memo(function Tokens({ tokens, start, end, look, revision, selected, tabStop, size }: TokensProps) {
  return blocksOf(tokens, start, end).map((block) => {
    const drawing = { ...look, ...block, tokens, revision, selected: within(selected, block), tabStop: within(tabStop, block) }
    if (size === null) return <TokenBlock key={block.start} {...drawing} />
    return <FarBlock key={block.start} {...drawing} size={size} wanted={drawing.selected !== null || drawing.tabStop !== null} />
  })
})
