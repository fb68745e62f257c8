/** One panel of the page: a numbered heading, one line on what it shows, and room for controls beside the heading. */

import type { ReactNode } from 'react'
import { ErrorBoundary } from './ErrorBoundary'
import type { PanelId } from './explainers'
import { Help } from './Help'
import { Hideable } from './Hideable'

interface PanelProps {
  id: PanelId
  title: string
  lead: string
  /** Place in the loop. */
  number?: number
  aside?: ReactNode
  children: ReactNode
}

/** Not there where a teacher hid it: its name there is its id. */
export function Panel(props: PanelProps) {
  return (
    <Hideable part={props.id}>
      <Shown {...props} />
    </Hideable>
  )
}

function Shown({ id, title, lead, number, aside, children }: PanelProps) {
  return (
    <section className={`panel panel-${id}`} aria-labelledby={`${id}-title`} data-testid={`panel-${id}`}>
      <header className="panel-head">
        <div className="panel-line">
          <div className="titled">
            <h2 id={`${id}-title`}>
              {number !== undefined && <span className="panel-number">{number}</span>}
              {title}
            </h2>
            <Help of={`panel:${id}`} name={title} />
          </div>
          {aside}
        </div>
        <p className="lead">{lead}</p>
      </header>
      <div className="panel-body">
        <ErrorBoundary>{children}</ErrorBoundary>
      </div>
    </section>
  )
}
