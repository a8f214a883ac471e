/** link-status.tsx: the state of the connection, shown above the composer unless the connection is live. Source: SPEC PG29, PG79. */

import type { VNode } from "preact"
import { holdText } from "../net/request-hold.ts"
import type { LinkState } from "../net/socket-link.ts"
import { connectionText } from "../words/page-text.ts"

interface LinkStatusProps {
  readonly link: LinkState
  readonly isOnline: boolean
  /** The conversation was loaded before, so if it is gone, it was deleted. */
  readonly wasLoaded: boolean
  /** The connection was live before. */
  readonly wasLive: boolean
}

export function LinkStatus({ link, isOnline, wasLoaded, wasLive }: LinkStatusProps): VNode | null {
  if (!isOnline && link !== "outdated" && link !== "gone") return <OfflineStatus />
  switch (link) {
    case "live":
      return <HoldStatus />
    case "connecting":
    case "waiting":
      if (holdText.value !== "") return <HoldStatus />
      return (
        <p class={`link ${link}`} role="status">
          {wasLive ? connectionText.reconnecting : connectionText.connecting}
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

export function OfflineStatus(): VNode {
  return (
    <p class="link" role="status">
      {connectionText.offline}
    </p>
  )
}

/** Says that the page waits, because the server refuses more requests. Source: SPEC LI6. */
export function HoldStatus(): VNode | null {
  const text = holdText.value
  return text === "" ? null : (
    <p class="link" role="status">
      {text}
    </p>
  )
}
