/** session-pages.test.ts: the loaded part of the session list, while other devices create, use and delete sessions. */

import fc from "fast-check"
import { expect, test } from "vitest"
import { appendPage, type LoadedSessions, mergeFirstPage, NO_SESSIONS } from "../../client/session/session-pages.ts"
import type { SessionPage, SessionSummary } from "../../shared/protocol/http-body.ts"
import { assertProperty } from "../support/seeded.ts"

const PAGE_SESSIONS = 3

/** A server's list of sessions, whose cursors are times of activity. */
class ListServer {
  #clock = 0
  sessions: SessionSummary[] = []
  readonly deleted = new Set<string>()

  create(): void {
    const at = ++this.#clock
    this.sessions.unshift({ id: `s${at}`, title: "", created: at, active: at, running: false })
  }

  use(index: number): void {
    const [session] = this.sessions.splice(index % this.sessions.length, 1)
    if (session !== undefined) this.sessions.unshift({ ...session, active: ++this.#clock })
  }

  erase(index: number): void {
    const [session] = this.sessions.splice(index % this.sessions.length, 1)
    if (session !== undefined) this.deleted.add(session.id)
  }

  readPage(after: string | null): SessionPage {
    const rest = this.sessions.filter(({ active }) => after === null || active < Number(after))
    const sessions = rest.slice(0, PAGE_SESSIONS)
    return { sessions, next: rest.length > PAGE_SESSIONS ? String(sessions.at(-1)?.active) : null }
  }
}

const stepArbitrary = fc.record({
  does: fc.constantFrom("create", "use", "erase", "refresh", "more"),
  index: fc.nat(40),
})

function takeStep(server: ListServer, loaded: LoadedSessions, does: string, index: number): LoadedSessions {
  if (does === "refresh") return mergeFirstPage(loaded, server.readPage(null))
  if (does === "more") return loaded.next === null ? loaded : appendPage(loaded, server.readPage(loaded.next))
  if (does === "create" || server.sessions.length === 0) server.create()
  else if (does === "use") server.use(index)
  else server.erase(index)
  return loaded
}

test("[PG75] however the list changes in the meantime, all pages together show each session once and in order", () => {
  assertProperty(
    fc.property(fc.array(stepArbitrary, { maxLength: 60 }), (steps) => {
      const server = new ListServer()
      for (let count = 0; count < 12; count++) server.create()
      let loaded = mergeFirstPage(NO_SESSIONS, server.readPage(null))
      for (const { does, index } of steps) loaded = takeStep(server, loaded, does, index)
      loaded = mergeFirstPage(loaded, server.readPage(null))
      while (loaded.next !== null) loaded = appendPage(loaded, server.readPage(loaded.next))
      const ids = loaded.sessions.map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      // A deleted session on an older page is noticed when it is opened, or when that page is loaded again.
      expect(ids.filter((id) => !server.deleted.has(id))).toEqual(server.sessions.map(({ id }) => id))
      const times = loaded.sessions.map(({ active }) => active)
      expect(times).toEqual([...times].sort((a, b) => b - a))
    }),
  )
})
