/** Keeps the rest of the page when one part fails to draw, and says what happened. */

import { Component, type ReactNode } from 'react'
import { describeError } from '../core/errors'
import { S } from './strings'

interface State {
  error: unknown
  failed: boolean
}

export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null, failed: false }

  static getDerivedStateFromError(error: unknown): State {
    return { error, failed: true }
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children
    return (
      <div className="crash" role="alert">
        <p>
          <strong>{S.crash.title}</strong> {describeError(this.state.error)}
        </p>
        <p>{S.crash.advice}</p>
        <button type="button" className="button" onClick={() => this.setState({ error: null, failed: false })}>
          {S.crash.retry}
        </button>
      </div>
    )
  }
}
