/**
 * sidebar-rows.tsx: the list of sessions, most recently active first, each with its time or running mark and a menu button.
 *
 * Source: SPEC PG31, PG75, PG76.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { formatTitle, type SessionList } from "../session/session-list.ts"
import { sessionActions } from "./deferred-actions.tsx"
import { groupByDate, formatRelativeTime } from "../words/format/relative-time.ts"
import { sidebarText } from "../words/page-text.ts"
import { MenuButton } from "./menu-button.tsx"
import type { SessionActions } from "./sidebar.tsx"

/** How often the relative times are updated, in milliseconds. */
const TICK_MS = 30_000

interface SessionRowsProps {
  readonly sessionList: SessionList
  /** Explains a list that is empty. */
  readonly emptyText: string
  /** The open session, or the one from which an agent's session was opened. */
  readonly currentId: string | null
  readonly isCurrentOpen: boolean
  /** The open session, if the list doesn't contain it yet. */
  readonly unlistedId: string | null
  /** True while the pointer is over the list. Rows must not move under it. */
  readonly isPointerInside: boolean
  readonly actions: SessionActions
  /** `title` is null if it didn't change. `byKeyboard`: the user finished with a key, so the focus must be moved. */
  readonly onRenamed: (id: string, title: string | null, byKeyboard: boolean) => void
}

export function SessionRows(props: SessionRowsProps): VNode {
  const { sessionList, emptyText, actions, isPointerInside, unlistedId } = props
  const now = useTickingTime()
  const rows = sessionList.sessions.value
  // If the rename field moved in the list, it would lose the focus and its text.
  const orderedRows = useHeldOrder(rows, isPointerInside || actions.renamingId.value !== null)
  if (rows.length === 0) return <p class="none">{describeEmpty(sessionList, emptyText)}</p>
  // Activity since the last tick must not appear to be in the future.
  const latestTime = rows.reduce((latest, { active }) => Math.max(latest, active), now)
  const LoadedMoreButton = sessionActions.module.value?.MoreSessionsButton
  const rowsById = new Map(rows.map((row) => [row.id, row]))
  return (
    <>
      {groupByDate(orderedRows, latestTime).map((group) => (
        <section key={group.name}>
          <h2>{group.name}</h2>
          <ul>
            {group.sessions.map((session) => (
              <SessionItem key={session.id} {...props} session={rowsById.get(session.id) ?? session} now={latestTime} />
            ))}
          </ul>
        </section>
      ))}
      {LoadedMoreButton !== undefined && <LoadedMoreButton sessionList={sessionList} searchedId={unlistedId} />}
    </>
  )
}

function describeEmpty({ isLoaded, isUnreachable, shared }: SessionList, emptyText: string): string {
  if (isUnreachable.value) return sidebarText.unreachable
  return isLoaded.value && shared.value.length === 0 ? emptyText : ""
}

/**
 * Returns the rows, most recently active first. While `isHeld`, the rows keep the order that they had when it became true.
 */
function useHeldOrder(rows: readonly SessionSummary[], isHeld: boolean): readonly SessionSummary[] {
  const heldActive = useRef<ReadonlyMap<string, number> | null>(null)
  if (!isHeld) heldActive.current = null
  else heldActive.current ??= new Map(rows.map(({ id, active }) => [id, active]))
  const held = heldActive.current
  if (held === null) return rows
  return rows.map((row) => ({ ...row, active: held.get(row.id) ?? row.active })).sort((a, b) => b.active - a.active)
}

/** Returns the current time, and re-renders every TICK_MS. */
function useTickingTime(): number {
  const now = useSignal(Date.now())
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now()
    }, TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return now.value
}

interface SessionItemProps extends Omit<SessionRowsProps, "sessionList" | "isPointerInside" | "unlistedId"> {
  readonly session: SessionSummary
  readonly now: number
}

function SessionItem(props: SessionItemProps): VNode {
  const { session, now, currentId, isCurrentOpen, actions, onRenamed } = props
  const { id, title } = session
  const isCurrent = id === currentId
  const LoadedRenameField = sessionActions.module.value?.RenameField
  const item = useRef<HTMLLIElement>(null)
  useLayoutEffect(() => {
    if (isCurrent && item.current !== null) scrollListTo(item.current)
  }, [isCurrent])
  return (
    <li ref={item} data-session={id} data-current={isCurrent ? "" : undefined}>
      {actions.renamingId.value === id && LoadedRenameField !== undefined ? (
        <LoadedRenameField title={title} onDone={(newTitle, byKeyboard) => onRenamed(id, newTitle, byKeyboard)} />
      ) : (
        <SessionRow
          session={session}
          now={now}
          current={isCurrent ? (isCurrentOpen ? "page" : "true") : undefined}
          actions={actions}
        />
      )}
    </li>
  )
}

/** If the row isn't fully visible, scrolls the list, and nothing around it, until the row is in the middle. */
function scrollListTo(row: HTMLElement): void {
  const list = row.closest("nav")
  if (list === null) return
  const [rowBox, listBox] = [row.getBoundingClientRect(), list.getBoundingClientRect()]
  if (rowBox.top >= listBox.top && rowBox.bottom <= listBox.bottom) return
  list.scrollTop += rowBox.top - listBox.top - (listBox.height - rowBox.height) / 2
}

interface SessionRowProps {
  readonly session: SessionSummary
  readonly now: number
  /** For `aria-current`. */
  readonly current: "page" | "true" | undefined
  readonly actions: SessionActions
}

function SessionRow({ session, now, current, actions }: SessionRowProps): VNode {
  const { id, title, active, running } = session
  const name = formatTitle(title)
  return (
    <>
      <a href={`#/s/${id}`} aria-current={current} title={name}>
        <span class="title" dir="auto">
          {name}
        </span>
        {running ? (
          <span class="pulse">
            <span class="visually-hidden">{sidebarText.running}</span>
          </span>
        ) : (
          <time dateTime={new Date(active).toISOString()}>{formatRelativeTime(active, now)}</time>
        )}
      </a>
      <MenuButton id={id} name={name} {...actions} />
    </>
  )
}
