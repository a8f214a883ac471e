/**
 * error-boundary.tsx: catches exceptions thrown by the views inside it, so that the rest of the page keeps working.
 * SPEC PF5.
 */

import { Component, type ComponentChildren } from "preact"

interface ErrorBoundaryProps {
  /** The data that the children render. After a failure, the children are rendered again when the data changes. */
  readonly of: unknown
  /** Rendered instead of the children. It must not throw. */
  readonly renderFallback: () => ComponentChildren
  readonly children: ComponentChildren
}

interface ErrorBoundaryState {
  readonly failedOf: unknown
  readonly hasFailed: boolean
}

export class ErrorBoundary extends Component<ErrorBoundaryProps, ErrorBoundaryState> {
  override state: ErrorBoundaryState = { failedOf: undefined, hasFailed: false }

  override componentDidCatch(error: unknown): void {
    console.error(error)
    this.setState({ failedOf: this.props.of, hasFailed: true })
  }

  override render({ of, renderFallback, children }: ErrorBoundaryProps, state: ErrorBoundaryState): ComponentChildren {
    return state.hasFailed && state.failedOf === of ? renderFallback() : children
  }
}
