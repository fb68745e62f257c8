/** The '?' beside a control: a button that opens one paragraph of explanation and its source, by mouse, touch or keyboard. */

import { useId, useState } from 'react'
import type { HelpKey } from './explainers'
import { S } from './strings'

type Found = NonNullable<ReturnType<(typeof import('./explainers'))['explain']>> | null
type HelpProps =
  /** `name`: what stands above the paragraph, where the key is not the name itself. */
  | { of: HelpKey; name?: string; text?: undefined }
  /** Words that stand nowhere but here. */
  | { of: string; name?: undefined; text: string }

/** The texts are no part of the first paint; a pointer or the focus fetches them before the press. */
const fetchTexts = () => import('./explainers')
const prefetch = () => void fetchTexts().catch(() => {})

/** What a person reads as the name of a key. */
const nameOf = (key: string) => key.replace(/^metric:/, '')

/** Uses the browser's popover: it closes on Escape and on a click elsewhere, gives the focus back, and is never clipped by its column. */
export function Help(props: HelpProps) {
  const id = useId()
  const anchor = `--help${id.replace(/\W/g, '')}`
  const name = props.name ?? nameOf(props.of)
  const [found, setFound] = useState<Found | 'failed'>()
  const load = () => {
    if (props.text !== undefined || (found && found !== 'failed')) return
    fetchTexts().then(
      ({ explain }) => setFound(explain(props.of) ?? null),
      () => setFound('failed'),
    )
  }
  return (
    <>
      <button
        type="button"
        className="help"
        aria-label={S.explain(name)}
        data-help={props.text === undefined ? props.of : 'text'}
        popoverTarget={id}
        style={{ anchorName: anchor }}
        onClick={load}
        onPointerEnter={props.text === undefined ? prefetch : undefined}
        onFocus={props.text === undefined ? prefetch : undefined}
      >
        ?
      </button>
      <span id={id} popover="auto" role="note" aria-label={name} className="help-text" style={{ positionAnchor: anchor }}>
        <strong>{name}</strong>
        {props.text ?? <Explanation found={found} />}
      </span>
    </>
  )
}

function Explanation({ found }: { found: Found | 'failed' | undefined }) {
  if (found === 'failed') return <>{S.help.failed}</>
  if (found === undefined) return <>{S.help.loading}</>
  if (found === null) return <>{S.help.missing}</>
  return (
    <>
      {found.text}
      <a href={found.url} target="_blank" rel="noopener noreferrer" title={S.help.newTab}>
        {S.help.source(found.title)}
      </a>
    </>
  )
}
