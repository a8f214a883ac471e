/**
 * link-status.tsx: the connection status, shown above the composer unless the connection is live. Source: SPEC PG29,
 * PG79, PG89, PG93, PG94, PF14.
 */

import type { VNode } from "preact"
import type { RequestHold } from "../net/request-hold.ts"
import type { LinkState } from "../net/socket-link.ts"
import { missingModules } from "../ui/deferred-module.ts"
import { connectionText } from "../words/page-text.ts"
import { unsentText } from "../words/unsent-text.ts"

interface LinkStatusProps {
  readonly link: LinkState
  readonly hold: RequestHold
  readonly isOnline: boolean
  /** True if the conversation was loaded before. If it is gone now, it was deleted. */
  readonly wasLoaded: boolean
  /** True if the connection was live before. */
  readonly wasLive: boolean
  /** Connects at once. */
  readonly onRetry: () => void
}

export function LinkStatus({ link, hold, isOnline, wasLoaded, wasLive, onRetry }: LinkStatusProps): VNode | null {
  if (link === "outdated") return <ReloadStatus text={connectionText.outdated} />
  if (link === "gone") {
    return (
      <p class="link" role="alert">
        {wasLoaded ? connectionText.deleted : connectionText.notFound} <a href="#/">{connectionText.startNew}</a>
      </p>
    )
  }
  if (!isOnline) return <OfflineStatus onRetry={onRetry} />
  if (missingModules.value > 0) return <MissingCodeStatus />
  // A server that rate-limits requests says how long to wait, so there is no button.
  if (link === "live" || hold.text.value !== "") return <HoldStatus hold={hold} />
  const text = wasLive ? connectionText.reconnecting : connectionText.connecting
  return <QuietStatus text={text} onRetry={link === "waiting" ? onRetry : undefined} />
}

function ReloadStatus({ text }: { readonly text: string }): VNode {
  return (
    <p class="link" role="alert">
      {text}{" "}
      <button type="button" onClick={() => location.reload()}>
        {connectionText.reload}
      </button>
    </p>
  )
}

/**
 * Says that code couldn't be loaded. Either the server failed, or a newer version has replaced this version's files.
 */
export function MissingCodeStatus(): VNode {
  return <ReloadStatus text={connectionText.codeMissing} />
}

export function OfflineStatus({ onRetry }: Pick<LinkStatusProps, "onRetry">): VNode {
  return <QuietStatus text={connectionText.offline} onRetry={onRetry} />
}

/** Says that the page is waiting because the server is rate-limiting it. Source: SPEC LI6. */
export function HoldStatus({ hold }: Pick<LinkStatusProps, "hold">): VNode | null {
  return hold.text.value === "" ? null : <QuietStatus text={hold.text.value} />
}

interface QuietStatusProps {
  readonly text: string
  /** Absent if there is nothing to retry. */
  readonly onRetry?: (() => void) | undefined
}

export function QuietStatus({ text, onRetry }: QuietStatusProps): VNode {
  return (
    <p class="link" role="status">
      {text}
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {unsentText.retry}
        </button>
      )}
    </p>
  )
}
