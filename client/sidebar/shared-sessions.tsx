/**
 * shared-sessions.tsx: the conversations that others share with the user, above the user's own.
 *
 * GET /v1/sessions/shared → list.shared → sidebar. Source: SPEC SH12.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { SharedSession, SharedSessionPage } from "../../shared/protocol/http-body.ts"
import { createParser, hasShape, isListOf, isNumber, isString } from "../../shared/protocol/shape-check.ts"
import { isShared } from "../net/api.ts"
import { parseBody } from "../net/http-request.ts"
import { formatTitle, toSessionRef } from "../session/session-list.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { sharingText } from "../words/sharing-text.ts"
import { MenuButton } from "./menu-button.tsx"
import type { SessionActions } from "./sidebar.tsx"

/** Interval at which the list is reloaded while the page is visible, in milliseconds. */
const REFRESH_MS = 60_000

const parseSharedPage = createParser<SharedSessionPage>({
  sessions: isListOf(hasShape<SharedSession>({ id: isString, owner: isString, title: isString, since: isNumber })),
  next: (value) => value === null || isString(value),
})

interface SharedSessionsProps {
  readonly router: SessionRouter
  readonly openId: string | null
  readonly actions: SessionActions
}

export function SharedSessions({ router, openId, actions }: SharedSessionsProps): VNode | null {
  const { shared, sessions, isLoaded } = router.sessionList
  const { hasMore, loadMore } = useSharedList(router)
  if (shared.value.length === 0) return null
  const isOpen = (openId !== null && isShared(openId)) || (isLoaded.value && sessions.value.length === 0)
  return (
    <details class="shared" open={isOpen}>
      <summary>
        <h2>{sharingText.shared}</h2>
      </summary>
      <ul>
        {shared.value.map((session) => {
          const ref = toSessionRef(session)
          const name = formatTitle(session.title)
          const isCurrent = ref === openId
          return (
            <li key={ref} data-session={ref} data-current={isCurrent ? "" : undefined}>
              <a href={`#/s/${ref}`} aria-current={isCurrent ? "page" : undefined} title={name}>
                <span class="title" dir="auto">
                  {name}
                </span>
                <bdi class="by">{sharingText.by(session.owner)}</bdi>
              </a>
              <MenuButton id={ref} name={name} {...actions} />
            </li>
          )
        })}
      </ul>
      {hasMore && (
        <button type="button" class="more-sessions" onClick={loadMore}>
          {sharingText.more}
        </button>
      )}
    </details>
  )
}

/** Loads the list periodically, with as many pages as the user has requested. */
function useSharedList({ api, sessionList }: SessionRouter) {
  const pages = useSignal(1)
  const hasMore = useSignal(false)
  const loadShared = async (): Promise<void> => {
    const found: SharedSession[] = []
    let next: string | null = ""
    for (let page = 0; page < pages.peek() && next !== null; page++) {
      const query: string = next === "" ? "" : `?after=${encodeURIComponent(next)}`
      const listed: SharedSessionPage = await parseBody(
        await api.fetchAuthorized(`/v1/sessions/shared${query}`),
        parseSharedPage,
      )
      found.push(...listed.sessions)
      next = listed.next
    }
    hasMore.value = next !== null
    sessionList.shared.value = found
  }
  useEffect(() => {
    const loadIfVisible = (): void => {
      // A failure is ignored, because the next periodic reload tries again.
      if (!document.hidden) loadShared().catch(() => {})
    }
    loadIfVisible()
    const timer = setInterval(loadIfVisible, REFRESH_MS)
    document.addEventListener("visibilitychange", loadIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener("visibilitychange", loadIfVisible)
    }
  }, [])
  const loadMore = (): void => {
    pages.value++
    loadShared().catch(() => {})
  }
  return { hasMore: hasMore.value, loadMore }
}
