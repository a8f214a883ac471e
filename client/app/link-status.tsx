/**
 * link-status.tsx: the connection status, shown above the composer unless the connection is live. Source: SPEC PG29, PG79.
 */

import type { VNode } from "preact"
import type { RequestHold } from "../net/request-hold.ts"
import type { LinkState } from "../net/socket-link.ts"
import { connectionText } from "../words/page-text.ts"

interface LinkStatusProps {
  readonly link: LinkState
  readonly hold: RequestHold
  readonly isOnline: boolean
  /** True if the conversation was loaded before. If it is gone now, it was deleted. */
  readonly wasLoaded: boolean
  /** True if the connection was live before. */
  readonly wasLive: boolean
}

export function LinkStatus({ link, hold, isOnline, wasLoaded, wasLive }: LinkStatusProps): VNode | null {
  if (!isOnline && link !== "outdated" && link !== "gone") return <OfflineStatus />
  switch (link) {
    case "live":
      return <HoldStatus hold={hold} />
    case "connecting":
    case "waiting":
      return (
        <QuietStatus text={hold.text.value || (wasLive ? connectionText.reconnecting : connectionText.connecting)} />
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

/** Says that the page is waiting because the server is rate limiting it. Source: SPEC LI6. */
export function HoldStatus({ hold }: Pick<LinkStatusProps, "hold">): VNode | null {
  return hold.text.value === "" ? null : <QuietStatus text={hold.text.value} />
}

function QuietStatus({ text }: { readonly text: string }): VNode {
  return (
    <p class="link" role="status">
      {text}
    </p>
  )
}
