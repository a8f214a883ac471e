/**
 * session-rows.tsx: the sessions, newest activity first, each with when that was or that it is at work, and the way to its menu.
 */

import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { SessionSummary } from "../../shared/protocol/frame.ts"
import { nameOf, type Sessions } from "../session/session-list.ts"
import { RenameField } from "./rename-field.tsx"
import { type Group, groupsOf, whenWords } from "../words/relative-time.ts"

/** "5 min" is looked at again so often, in milliseconds. */
const TICK_MS = 30_000

interface SessionRowsProps {
  readonly sessions: Sessions
  readonly current: string | null
  readonly menuOf: Signal<string | null>
  readonly renaming: ReadonlySignal<string | null>
  /** A title of null: it keeps its own. `byKey`: the focus wants a place. */
  readonly onRenamed: (id: string, title: string | null, byKey: boolean) => void
}

export function SessionRows({ sessions, current, menuOf, renaming, onRenamed }: SessionRowsProps): VNode {
  const now = useSignal(Date.now())
  useEffect(() => {
    const tick = setInterval(() => {
      now.value = Date.now()
    }, TICK_MS)
    return () => clearInterval(tick)
  }, [])
  const groups = useRef<readonly Group[]>([])
  const list = sessions.list.value
  if (list.length === 0) {
    return <p class="none">{sessions.isLoaded.value ? "Your conversations will stand here." : ""}</p>
  }
  // What was said since the last tick is not in the future.
  const at = list.reduce((latest, { active }) => Math.max(latest, active), now.value)
  // A field that moves loses the focus and what stands in it: nothing moves while one is open.
  if (renaming.value === null || !groups.current.some(holds(renaming.value))) groups.current = groupsOf(list, at)
  return (
    <>
      {groups.current.map((group) => (
        <section key={group.name}>
          <h2>{group.name}</h2>
          <ul>
            {group.sessions.map((session) => (
              <li key={session.id} data-session={session.id} data-current={session.id === current ? "" : undefined}>
                {renaming.value === session.id ? (
                  <RenameField title={session.title} onDone={(title, byKey) => onRenamed(session.id, title, byKey)} />
                ) : (
                  <Row session={session} now={at} isCurrent={session.id === current} menuOf={menuOf} />
                )}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}

function holds(id: string): (group: Group) => boolean {
  return ({ sessions }) => sessions.some((session) => session.id === id)
}

interface RowProps {
  readonly session: SessionSummary
  readonly now: number
  readonly isCurrent: boolean
  readonly menuOf: Signal<string | null>
}

function Row({ session, now, isCurrent, menuOf }: RowProps): VNode {
  const { id, title, active, running } = session
  const name = nameOf(title)
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
          <time dateTime={new Date(active).toISOString()}>{whenWords(active, now)}</time>
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
