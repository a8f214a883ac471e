/** link-status.tsx: the state of the connection, above the composer. Nothing while it is live. */

import type { VNode } from "preact"
import type { LinkState } from "../net/socket-link.ts"
import { connectionText } from "../words/page-text.ts"

interface LinkStatusProps {
  readonly link: LinkState
  readonly isOnline: boolean
  /** The conversation was loaded before, so if it is gone, it was deleted. */
  readonly wasLoaded: boolean
}

export function LinkStatus({ link, isOnline, wasLoaded }: LinkStatusProps): VNode | null {
  if (!isOnline && link !== "outdated" && link !== "gone") {
    return (
      <p class="link" role="status">
        {connectionText.offline}
      </p>
    )
  }
  switch (link) {
    case "live":
      return null
    case "connecting":
    case "waiting":
      return (
        <p class={`link ${link}`} role="status">
          {wasLoaded ? connectionText.reconnecting : connectionText.connecting}
        </p>
      )
    case "outdated":
      return (
        <p class="link" role="alert">
          {connectionText.outdated}{" "}
          <button type="button" onClick={() => location.reload()}>
            {connectionText.reload}
          </button>
        </p>
      )
    case "gone":
      return (
        <p class="link" role="alert">
          {wasLoaded ? connectionText.deleted : connectionText.notFound} <a href="#/">{connectionText.startNew}</a>
        </p>
      )
  }
}
