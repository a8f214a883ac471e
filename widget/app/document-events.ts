/** document-events.ts: listens to events of the site's document, as the page does. Loaded after the initial render. */

import type { SessionRouter } from "../../client/session/session-router.ts"
import type { WidgetEnvironment } from "./widget-environment.ts"

export interface DocumentContext {
  readonly router: SessionRouter
  readonly environment: WidgetEnvironment
  readonly isOnline: { value: boolean }
  /** The element in which the conversation is rendered. */
  readonly box: HTMLElement
  /** Opens the conversation that a link such as `#/s/<id>` names. */
  onOpen(hash: string): void
}

/** Listens until the signal is aborted. */
export function listenToDocument(context: DocumentContext, signal: AbortSignal): void {
  const { router, environment, isOnline, box, onOpen } = context
  const noteOnline = (isNowOnline: boolean): void => {
    isOnline.value = isNowOnline
    router.checkConnections()
  }
  addEventListener("online", () => noteOnline(true), { signal })
  addEventListener("offline", () => noteOnline(false), { signal })
  addEventListener("pagehide", () => router.flushDrafts(), { signal })
  const onVisibility = (): void => {
    if (document.hidden) return router.flushDrafts()
    router.checkConnections()
    environment.loadSettings()
  }
  document.addEventListener("visibilitychange", onVisibility, { signal })
  const onClick = (event: MouseEvent): void => openLink(event, onOpen)
  box.addEventListener("click", onClick, { signal })
  box.addEventListener("auxclick", onClick, { signal })
}

/** Opens a link to a conversation without following it, because the site's URL must not change. */
function openLink(event: MouseEvent, onOpen: DocumentContext["onOpen"]): void {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null
  if (link === null) return
  event.preventDefault()
  const hash = link.getAttribute("href") ?? ""
  if (hash.startsWith("#/")) onOpen(hash)
}
