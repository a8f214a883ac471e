/**
 * palette-items.ts: the entries of the palette for a query: conversations, commands, and messages that the server
 * found. Pure. Source: SPEC LB4, LB5.
 */

import type { SearchHit, SessionSummary } from "../../shared/protocol/http-body.ts"
import { rankItems } from "./rank-items.ts"

/** Maximum number of conversations listed before anything is typed, and for a query. */
const MAX_RECENT = 6
const MAX_SESSIONS = 8
/** Maximum number of commands listed for a query. */
const MAX_COMMANDS = 5

export interface SessionItem {
  readonly kind: "session"
  readonly session: string
  readonly title: string
  /** Time of the last activity, in milliseconds since 1970. */
  readonly at: number
}

export interface MessageItem {
  readonly kind: "message"
  readonly hit: SearchHit & { readonly message: string }
}

export interface CommandItem<C> {
  readonly kind: "command"
  readonly command: C
}

export type PaletteItem<C> = SessionItem | MessageItem | CommandItem<C>

export interface PaletteSource<C> {
  readonly query: string
  /** The loaded part of the list, most recently active first. */
  readonly sessions: readonly Pick<SessionSummary, "id" | "title" | "active">[]
  readonly commands: readonly C[]
  readonly hits: readonly SearchHit[]
  getLabel(command: C): string
}

export interface PaletteSection<C> {
  readonly kind: "recent" | "sessions" | "commands" | "messages"
  readonly items: readonly PaletteItem<C>[]
}

/** Returns the sections that have items. Without a query, these are the newest conversations and all commands. */
export function listSections<C>(source: PaletteSource<C>): readonly PaletteSection<C>[] {
  const { query, commands, hits, getLabel } = source
  const isEmpty = query.trim() === ""
  const ranked = rankItems(query, commands, getLabel).map((command) => ({ kind: "command", command }) as const)
  const messages = isEmpty ? [] : hits.filter(isMessageHit).map((hit) => ({ kind: "message", hit }) as const)
  const sections: readonly PaletteSection<C>[] = [
    { kind: isEmpty ? "recent" : "sessions", items: listSessions(source, isEmpty) },
    { kind: "commands", items: isEmpty ? ranked : ranked.slice(0, MAX_COMMANDS) },
    { kind: "messages", items: messages },
  ]
  return sections.filter(({ items }) => items.length > 0)
}

function isMessageHit(hit: SearchHit): hit is MessageItem["hit"] {
  return hit.message !== null
}

/** Returns the loaded conversations that match, followed by the conversations that only the server has found. */
function listSessions<C>({ query, sessions, hits }: PaletteSource<C>, isEmpty: boolean): readonly SessionItem[] {
  const toItem = (session: string, title: string, at: number): SessionItem => ({ kind: "session", session, title, at })
  const loaded = rankItems(query, sessions, ({ title }) => title).map(({ id, title, active }) =>
    toItem(id, title, active),
  )
  if (isEmpty) return loaded.slice(0, MAX_RECENT)
  const known = new Set(loaded.map(({ session }) => session))
  const found = hits
    .filter(({ session, message }) => message === null && !known.has(session))
    .map(({ session, title, at }) => toItem(session, title, at))
  return [...loaded, ...found].slice(0, MAX_SESSIONS)
}
