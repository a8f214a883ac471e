/** link-status.tsx: the state of the connection, shown above the composer unless the connection is live. Source: SPEC PG29, PG79. */

import type { VNode } from "preact"
import type { LinkState } from "../net/socket-link.ts"
import { connectionText } from "../words/page-text.ts"

interface LinkStatusProps {
  readonly link: LinkState
  readonly isOnline: boolean
  /** The conversation was loaded before, so if it is gone, it was deleted. */
  readonly wasLoaded: boolean
  /** The connection was live before. */
  readonly wasLive: boolean
  /** What the page says while the server refuses more requests; otherwise null. */
  readonly holdText: string | null
}

export function LinkStatus({ link, isOnline, wasLoaded, wasLive, holdText }: LinkStatusProps): VNode | null {
  if (!isOnline && link !== "outdated" && link !== "gone") return <OfflineStatus />
  switch (link) {
    case "live":
      return holdText === null ? null : <QuietStatus text={holdText} />
    case "connecting":
    case "waiting":
      return (
        <QuietStatus
          text={holdText ?? (wasLive ? connectionText.reconnecting : connectionText.connecting)}
          link={link}
        />
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
  return <QuietStatus text={connectionText.offline} />
}

export function QuietStatus({ text, link = "" }: { readonly text: string; readonly link?: string }): VNode {
  return (
    <p class={`link ${link}`} role="status">
      {text}
    </p>
  )
}
