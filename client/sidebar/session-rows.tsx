/**
 * session-rows.tsx: the sessions, newest activity first, each with when that was or that it is at work, and the way to its menu.
 */

import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { formatTitle, type SessionList } from "../session/session-list.ts"
import { RenameField } from "./rename-field.tsx"
import { type DateGroup, groupByDate, formatRelativeTime } from "../words/relative-time.ts"

/** "5 min" is looked at again so often, in milliseconds. */
const TICK_MS = 30_000

interface SessionRowsProps {
  readonly sessionList: SessionList
  readonly currentId: string | null
  readonly openMenuId: Signal<string | null>
  readonly renamingId: ReadonlySignal<string | null>
  /** A title of null: it keeps its own. `byKey`: the focus wants a place. */
  readonly onRenamed: (id: string, title: string | null, byKeyboard: boolean) => void
}

export function SessionRows({
  sessionList: sessions,
  currentId: current,
  openMenuId: menuOf,
  renamingId: renaming,
  onRenamed,
}: SessionRowsProps): VNode {
  const now = useSignal(Date.now())
  useEffect(() => {
    const timer = setInterval(() => {
      now.value = Date.now()
    }, TICK_MS)
    return () => clearInterval(timer)
  }, [])
  const groups = useRef<readonly DateGroup[]>([])
  const rows = sessions.sessions.value
  if (rows.length === 0) {
    return <p class="none">{sessions.isLoaded.value ? "Your conversations will stand here." : ""}</p>
  }
  // What was said since the last tick is not in the future.
  const latestTime = rows.reduce((latest, { active }) => Math.max(latest, active), now.value)
  // A field that moves loses the focus and what stands in it: nothing moves while one is open.
  if (renaming.value === null || !groups.current.some(includesSession(renaming.value)))
    groups.current = groupByDate(rows, latestTime)
  return (
    <>
      {groups.current.map((group) => (
        <section key={group.name}>
          <h2>{group.name}</h2>
          <ul>
            {group.sessions.map((session) => (
              <li key={session.id} data-session={session.id} data-current={session.id === current ? "" : undefined}>
                {renaming.value === session.id ? (
                  <RenameField
                    title={session.title}
                    onDone={(title, byKeyboard) => onRenamed(session.id, title, byKeyboard)}
                  />
                ) : (
                  <SessionRow
                    session={session}
                    now={latestTime}
                    isCurrent={session.id === current}
                    openMenuId={menuOf}
                  />
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
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

function SessionRow({ session, now, isCurrent, openMenuId: menuOf }: SessionRowProps): VNode {
  const { id, title, active, running } = session
  const name = formatTitle(title)
  const isOpen = menuOf.value === id
  return (
    <>
      <a href={`#/s/${id}`} aria-current={isCurrent ? "page" : undefined} title={name}>
        <span class="title">{name}</span>
        {running ? (
          <span class="pulse">
            <span class="unseen">, an answer is coming</span>
          </span>
        ) : (
          <time dateTime={new Date(active).toISOString()}>{formatRelativeTime(active, now)}</time>
        )}
      </a>
      <button
        type="button"
        class="more"
        aria-label={`Options for ${name}`}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => {
          menuOf.value = isOpen ? null : id
        }}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M5 10h.01M10 10h.01M15 10h.01" />
        </svg>
      </button>
    </>
  )
}
