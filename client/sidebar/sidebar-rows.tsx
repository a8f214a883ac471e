/**
 * sidebar-rows.tsx: the list of sessions, most recently active first, each with its time or running mark and a menu
 * button.
 *
 * Source: SPEC PG31, PG75, PG76, LB20, LB25.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useRef } from "preact/hooks"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { formatTitle, type SessionList } from "../session/session-list.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { sessionActions } from "./deferred-actions.tsx"
import { groupByDate, formatRelativeTime } from "../words/format/relative-time.ts"
import { sidebarText } from "../words/parts/sidebar-text.ts"
import { MenuButton } from "./menu-button.tsx"
import type { SessionActions } from "./sidebar.tsx"

/** How often the relative times are updated, in milliseconds. */
const TICK_MS = 30_000

interface SessionRowsProps {
  readonly router: SessionRouter
  /** The text that is shown if the list is empty. */
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
  const { router, emptyText, actions, isPointerInside, unlistedId } = props
  const { sessionList } = router
  const now = useTickingTime()
  const rows = sessionList.sessions.value
  // If the rename field moved in the list, it would lose focus and its text.
  const orderedRows = useHeldOrder(rows, isPointerInside || actions.renamingId.value !== null)
  const loaded = sessionActions.module.value
  const isEmpty = rows.length === 0
  // Activity since the last tick must not appear to be in the future.
  const latestTime = rows.reduce((latest, { active }) => Math.max(latest, active), now)
  const rowsById = new Map(rows.map((row) => [row.id, row]))
  const renderRow = (session: SessionSummary): VNode => (
    <SessionItem key={session.id} {...props} session={rowsById.get(session.id) ?? session} now={latestTime} />
  )
  const [pinned = [], filed = [], others = []] = divideRows(orderedRows, loaded?.folders.value)
  return (
    <>
      {isEmpty && <p class="none">{describeEmpty(sessionList, emptyText)}</p>}
      {pinned.length > 0 && <RowSection name={sidebarText.pinned} sessions={pinned} renderRow={renderRow} />}
      {loaded !== null && <loaded.FolderSections router={router} sessions={filed} renderRow={renderRow} />}
      {groupByDate(others, latestTime).map(({ name, sessions }) => (
        <RowSection key={name} name={name} sessions={sessions} renderRow={renderRow} />
      ))}
      {loaded !== null && <loaded.MoreSessionsButton router={router} searchedId={unlistedId} />}
    </>
  )
}

interface RowSectionProps {
  readonly name: string
  readonly sessions: readonly SessionSummary[]
  readonly renderRow: (session: SessionSummary) => VNode
}

function RowSection({ name, sessions, renderRow }: RowSectionProps): VNode {
  return (
    <section>
      <h2>{name}</h2>
      <ul>{sessions.map(renderRow)}</ul>
    </section>
  )
}

/**
 * Divides the rows into pinned ones, those in folders, and others. Until the folders have been loaded, `folders` is
 * nullish and all rows that name a folder are treated as rows in folders, so that they don't move when the folders
 * appear.
 */
function divideRows(
  rows: readonly SessionSummary[],
  folders: readonly { readonly id: string }[] | null | undefined,
): (readonly SessionSummary[])[] {
  const known = folders && new Set(folders.map(({ id }) => id))
  const findPart = ({ pinned, folder }: SessionSummary): number =>
    pinned ? 0 : folder !== undefined && known?.has(folder) !== false ? 1 : 2
  return [0, 1, 2].map((part) => rows.filter((row) => findPart(row) === part))
}

function describeEmpty({ isLoaded, isUnreachable, shared }: SessionList, emptyText: string): string {
  if (isUnreachable.value) return sidebarText.unreachable
  return isLoaded.value && shared.value.length === 0 ? emptyText : ""
}

/**
 * Returns the rows, most recently active first. While `isHeld` is true, the rows keep the order that they had when it
 * became true.
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

interface SessionItemProps extends Omit<SessionRowsProps, "isPointerInside" | "unlistedId"> {
  readonly session: SessionSummary
  readonly now: number
}

function SessionItem(props: SessionItemProps): VNode {
  const { session, now, currentId, isCurrentOpen, actions, onRenamed } = props
  const { id, title } = session
  const isCurrent = id === currentId
  const loaded = sessionActions.module.value
  const isUnread = session.unread === true && !isCurrent
  const item = useRef<HTMLLIElement>(null)
  useLayoutEffect(() => {
    if (isCurrent && item.current !== null) scrollListTo(item.current)
  }, [isCurrent])
  return (
    <li ref={item} data-session={id} data-current={isCurrent ? "" : undefined} data-unread={isUnread ? "" : undefined}>
      {loaded !== null && loaded.selectedIds.value !== null ? (
        <loaded.SelectableRow session={session} />
      ) : actions.renamingId.value === id && loaded !== null ? (
        <loaded.RenameField title={title} onDone={(newTitle, byKeyboard) => onRenamed(id, newTitle, byKeyboard)} />
      ) : (
        <SessionRow
          session={session}
          isUnread={isUnread}
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
  readonly isUnread: boolean
  readonly now: number
  /** The value of `aria-current`. */
  readonly current: "page" | "true" | undefined
  readonly actions: SessionActions
}

function SessionRow({ session, isUnread, now, current, actions }: SessionRowProps): VNode {
  const { id, title, active, running } = session
  const name = formatTitle(title)
  return (
    <>
      <a href={`#/s/${id}`} aria-current={current} title={name}>
        <span class="title" dir="auto">
          {name}
        </span>
        {running || isUnread ? (
          <span class={running ? "pulse" : "unread"}>
            <span class="visually-hidden">{running ? sidebarText.running : sidebarText.unread}</span>
          </span>
        ) : (
          <time dateTime={new Date(active).toISOString()}>{formatRelativeTime(active, now)}</time>
        )}
      </a>
      <MenuButton id={id} name={name} {...actions} />
    </>
  )
}
