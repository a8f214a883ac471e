/**
 * more-sessions-button.tsx: the button at the end of the list. Loads the next page when the button comes into view,
 * when it is pressed, or to find the open session, which may also be in the archive.
 *
 * Source: SPEC PG75.
 */

import type { RefObject, VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { MoreSessions, SessionList } from "../session/session-list.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { sessionActionText } from "../words/session-action-text.ts"
import { findArchived } from "./organizing/archived-sessions.ts"

/** How close the end of the list must be to its visible part for the next page to be loaded. */
const NEAR_MARGIN = "400px"
/** Maximum number of pages loaded to find a session. */
const MAX_SEARCHED_PAGES = 10
/** Delay before the search, in milliseconds. Gives the list time to include a new session. */
const SEARCH_DELAY_MS = 500

interface MoreSessionsButtonProps {
  readonly router: SessionRouter
  /** The session to look for; null for none. */
  readonly searchedId: string | null
}

export function MoreSessionsButton({ router, searchedId }: MoreSessionsButtonProps): VNode | null {
  const { sessionList } = router
  const button = useRef<HTMLButtonElement>(null)
  const more = sessionList.more.value
  useLoadNearEnd(button, sessionList, more)
  useRefresh(router, searchedId)
  useSearch(sessionList, searchedId, more)
  useArchiveSearch(router, searchedId, more)
  if (more === "none") return null
  return (
    <button
      type="button"
      class="more-sessions"
      ref={button}
      aria-disabled={more === "loading"}
      onClick={(event) => void loadAndFocus(sessionList, event.currentTarget)}
    >
      {sessionActionText[MORE_LABELS[more]]}
    </button>
  )
}

const MORE_LABELS = {
  available: "more",
  loading: "loadingMore",
  failed: "moreFailed",
} as const

/** Loads the next page when the end of the list is near. After a failure, the user decides when to try again. */
function useLoadNearEnd(button: RefObject<HTMLElement | null>, sessionList: SessionList, more: MoreSessions): void {
  useEffect(() => {
    if (button.current === null || more !== "available") return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) void sessionList.loadMore()
      },
      { root: button.current.closest("nav"), rootMargin: NEAR_MARGIN },
    )
    observer.observe(button.current)
    return () => observer.disconnect()
    // The observer is renewed after each page, because a new observer reports immediately whether the end is still
    // near.
  }, [more])
}

/**
 * Loads the list again for a session that was opened after the list was loaded, because the session may be newer than
 * the list: a branch, or a session created on another device.
 */
function useRefresh({ controller, sessionList }: SessionRouter, searchedId: string | null): void {
  // The list was loaded after the page's first conversation was opened.
  const firstId = useRef(controller.peek()?.id)
  const isListLoaded = sessionList.isLoaded.value
  useEffect(() => {
    if (searchedId === null || searchedId === firstId.current || !isListLoaded) return undefined
    const timer = setTimeout(() => void sessionList.refresh(), SEARCH_DELAY_MS)
    return () => clearTimeout(timer)
  }, [searchedId, isListLoaded])
}

/** Loads pages until the session is listed, but at most MAX_SEARCHED_PAGES. */
function useSearch(sessionList: SessionList, searchedId: string | null, more: MoreSessions): void {
  const search = useRef({ id: searchedId, pages: 0 })
  useEffect(() => {
    if (searchedId === null || more !== "available") return undefined
    if (search.current.id !== searchedId) search.current = { id: searchedId, pages: 0 }
    if (search.current.pages >= MAX_SEARCHED_PAGES) return undefined
    const timer = setTimeout(
      () => {
        search.current.pages++
        void sessionList.loadMore()
      },
      search.current.pages === 0 ? SEARCH_DELAY_MS : 0,
    )
    return () => clearTimeout(timer)
  }, [searchedId, more])
}

/** Looks for the session in the archive if the list doesn't contain it. */
function useArchiveSearch(router: SessionRouter, searchedId: string | null, more: MoreSessions): void {
  const isDone = more === "none" && router.sessionList.isLoaded.value
  useEffect(() => {
    if (searchedId === null || !isDone) return undefined
    const timer = setTimeout(() => void findArchived(router, searchedId).catch(() => {}), SEARCH_DELAY_MS)
    return () => clearTimeout(timer)
  }, [searchedId, isDone])
}

/** Loads the next page. If the button then disappears, the focus moves to the first session that was added. */
async function loadAndFocus(sessionList: SessionList, button: HTMLElement): Promise<void> {
  const list = button.closest("nav")
  const listed = list?.querySelectorAll("[data-session]").length ?? 0
  await sessionList.loadMore()
  setTimeout(() => {
    if (!button.isConnected) list?.querySelectorAll<HTMLElement>("[data-session] > a")[listed]?.focus()
  })
}
