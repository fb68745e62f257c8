/** The raw frames of the play session, newest first: direction, time, size, text, and a button that copies the text. */

import { useState } from 'react'
import { usePlay, useRun } from '../../store/hooks'
import { copyText } from '../../ui/clipboard'
import { bytes } from '../../ui/format'
import { S } from '../../ui/strings'
import type { PlayFrame } from '../../worker/protocol'

const E = S.environment

export function Frames() {
  const frames = usePlay((view) => view.frames)
  const isServer = useRun((view) => view.environment?.spec.kind === 'openenv')
  if (!isServer) return <p className="note">{E.noFrames}</p>
  return (
    <details className="play-details" data-testid="play-frames">
      <summary>{E.frames(frames.length)}</summary>
      {frames.length === 0 ? (
        <p className="note">{E.noFramesYet}</p>
      ) : (
        <>
          <p className="note">{E.frameNote}</p>
          <ol className="frames">
            {frames.toReversed().map((frame) => (
              <FrameRow key={frame.id} frame={frame} />
            ))}
          </ol>
        </>
      )}
    </details>
  )
}

/** '14:03:07.250', local time. */
function clockTime(ms: number): string {
  const time = new Date(ms)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

function FrameRow({ frame }: { frame: PlayFrame }) {
  const { direction, text, time, hidden = false } = frame
  const isCut = !hidden && new TextEncoder().encode(text).length < frame.bytes
  return (
    <li className="frame" data-direction={direction}>
      <div className="frame-head">
        <span>
          <span aria-hidden="true">{direction === 'sent' ? '→' : '←'}</span> {E[direction]}
        </span>
        <span className="note">
          {clockTime(time)} · {bytes(frame.bytes)}
          {hidden && ` · ${E.frameHidden}`}
        </span>
        <CopyButton text={text} />
      </div>
      <pre className="play-text" tabIndex={0}>
        {text}
        {isCut && E.cut(text.length)}
      </pre>
    </li>
  )
}

function CopyButton({ text }: { text: string }) {
  const [said, setSaid] = useState<string | null>(null)
  const copy = () => {
    copyText(text).then(
      () => setSaid(E.copied),
      () => setSaid(E.copyFailed),
    )
  }
  return (
    <button type="button" className="link" onClick={copy} onBlur={() => setSaid(null)}>
      {said ?? E.copy}
    </button>
  )
}
