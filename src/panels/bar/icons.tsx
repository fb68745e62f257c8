/** The four signs of the controls and those of the page buttons, drawn on a 16-unit grid. */

import type { ReactNode } from 'react'

function Icon({ children }: { children: ReactNode }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      {children}
    </svg>
  )
}

export const IconPlay = () => (
  <Icon>
    <path d="M4 2.5v11l9-5.5z" />
  </Icon>
)
export const IconPause = () => (
  <Icon>
    <path d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z" />
  </Icon>
)
export const IconStep = () => (
  <Icon>
    <path d="M3 2.5v11l7.5-5.5zM11.5 2.5h2v11h-2z" />
  </Icon>
)
export const IconReset = () => (
  <Icon>
    <path className="stroke" d="M3.2 6.2A5.2 5.2 0 1 1 2.8 9M3 2.5v3.9h3.9" />
  </Icon>
)
export const IconLink = () => (
  <Icon>
    <path
      className="stroke"
      d="M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7L8 4.3M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.3 9A2.6 2.6 0 0 0 7 12.7l1-1"
    />
  </Icon>
)
export const IconTeach = () => (
  <Icon>
    <path className="stroke" d="M1.5 6 8 3l6.5 3L8 9zM4 7.5v3.6c1 .9 2.4 1.4 4 1.4s3-.5 4-1.4V7.5M14.2 6.3v4" />
  </Icon>
)
export const IconTheme = () => (
  <Icon>
    <circle className="stroke" cx="8" cy="8" r="5.5" />
    <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" />
  </Icon>
)
export const IconSun = () => (
  <Icon>
    <circle cx="8" cy="8" r="3" />
    <path className="stroke" d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6 13 13M3 13l1.4-1.4M11.6 4.4 13 3" />
  </Icon>
)
export const IconMoon = () => (
  <Icon>
    <path d="M6.2 2.2a6 6 0 1 0 7.6 7.6 5 5 0 0 1-7.6-7.6z" />
  </Icon>
)
export const IconRuns = () => (
  <Icon>
    <path className="stroke" d="M2.5 4h1M2.5 8h1M2.5 12h1M6 4h7.5M6 8h7.5M6 12h7.5" />
  </Icon>
)
export const IconTakeAway = () => (
  <Icon>
    <path className="stroke" d="M8 2.2v7.6M4.8 6.8 8 10l3.2-3.2M2.5 11v2.5h11V11" />
  </Icon>
)
export const IconKeys = () => (
  <Icon>
    <path className="stroke" d="M1.8 4h12.4v8H1.8zM4.4 6.6h.1M7 6.6h.1M9.6 6.6h.1M12 6.6h.1M5 9.6h6" />
  </Icon>
)
