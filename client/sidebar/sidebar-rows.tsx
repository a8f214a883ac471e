/**
 * sidebar-rows.tsx: the list of sessions, most recently active first, each with its time or running mark and a menu button.
 */

import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { formatTitle, type SessionList } from "../session/session-list.ts"
import { RenameField } from "./rename-field.tsx"
import { type DateGroup, groupByDate, formatRelativeTime } from "../words/relative-time.ts"
import { sidebarText } from "../words/page-text.ts"

/** How often the relative times are updated, in milliseconds. */
const TICK_MS = 30_000

interface SessionRowsProps {
  readonly sessionList: SessionList
  readonly currentId: string | null
  readonly openMenuId: Signal<string | null>
  readonly renamingId: ReadonlySignal<string | null>
  /** `title` is null if it didn't change. `byKeyboard`: the focus must be moved. */
  readonly onRenamed: (id: string, title: string | null, byKeyboard: boolean) => void
}

export function SessionRows(props: SessionRowsProps): VNode {
  const { sessionList, renamingId } = props
  const now = useTickingTime()
  const groups = useRef<readonly DateGroup[]>([])
  const rows = sessionList.sessions.value
  if (rows.length === 0) return <p class="none">{sessionList.isLoaded.value ? sidebarText.empty : ""}</p>
  // Messages that arrived since the last tick must not appear to be in the future.
  const latestTime = rows.reduce((latest, { active }) => Math.max(latest, active), now)
  // A field that moves in the list would lose the focus and its text, so the order is kept while one is open.
  if (renamingId.value === null || !groups.current.some(includesSession(renamingId.value)))
    groups.current = groupByDate(rows, latestTime)
  return (
    <>
      {groups.current.map((group) => (
        <section key={group.name}>
          <h2>{group.name}</h2>
          <ul>
            {group.sessions.map((session) => (
              <SessionItem key={session.id} session={session} now={latestTime} {...props} />
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

/** The current time, updated every TICK_MS. */
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

interface SessionItemProps extends Omit<SessionRowsProps, "sessionList"> {
  readonly session: SessionSummary
  readonly now: number
}

function SessionItem({ session, now, currentId, openMenuId, renamingId, onRenamed }: SessionItemProps): VNode {
  const { id, title } = session
  const isCurrent = id === currentId
  return (
    <li data-session={id} data-current={isCurrent ? "" : undefined}>
      {renamingId.value === id ? (
        <RenameField title={title} onDone={(newTitle, byKeyboard) => onRenamed(id, newTitle, byKeyboard)} />
      ) : (
        <SessionRow session={session} now={now} isCurrent={isCurrent} openMenuId={openMenuId} />
      )}
    </li>
  )
}

function includesSession(id: string): (group: DateGroup) => boolean {
  return ({ sessions }) => sessions.some((session) => session.id === id)
}

interface SessionRowProps {
  readonly session: SessionSummary
  readonly now: number
  readonly isCurrent: boolean
  readonly openMenuId: Signal<string | null>
}

function SessionRow({ session, now, isCurrent, openMenuId }: SessionRowProps): VNode {
  const { id, title, active, running } = session
  const name = formatTitle(title)
  const isOpen = openMenuId.value === id
  return (
    <>
      <a href={`#/s/${id}`} aria-current={isCurrent ? "page" : undefined} title={name}>
        <span class="title">{name}</span>
        {running ? (
          <span class="pulse">
            <span class="unseen">{sidebarText.running}</span>
          </span>
        ) : (
          <time dateTime={new Date(active).toISOString()}>{formatRelativeTime(active, now)}</time>
        )}
      </a>
      <button
        type="button"
        class="more"
        aria-label={sidebarText.optionsFor(name)}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => {
          openMenuId.value = isOpen ? null : id
        }}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M5 10h.01M10 10h.01M15 10h.01" />
        </svg>
      </button>
    </>
  )
}
