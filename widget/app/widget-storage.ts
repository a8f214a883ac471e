/**
 * widget-storage.ts: the part of the site's storage that the widget uses. All keys begin with `cuecard-chat/` and the
 * server's URL.
 *
 * Source: SPEC WG11.
 */

import type { KeyValueStorage } from "../../client/net/outbox.ts"
import { openStorage } from "../../client/ui/browser-storage.ts"

const PREFIX = "cuecard-chat/"

/** Returns the rows of one server in the site's storage. With them, unsent messages and drafts survive a reload. */
export function createWidgetStorage(url: string): KeyValueStorage {
  const storage = openStorage()
  const prefix = `${PREFIX}${url}/`
  const listKeys = (): string[] =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "").filter((key) =>
      key.startsWith(prefix),
    )
  return {
    get length() {
      return listKeys().length
    },
    key: (index) => listKeys()[index]?.slice(prefix.length) ?? null,
    getItem: (key) => storage.getItem(prefix + key),
    setItem: (key, value) => storage.setItem(prefix + key, value),
    removeItem: (key) => storage.removeItem(prefix + key),
  }
}

/** The conversation that is open in this tab. It is opened again on the next page of the site. */
export interface OpenSessionRow {
  read(): string | null
  write(session: string | null): void
}

export function createOpenSessionRow(url: string, user: string | null, agent: string | null): OpenSessionRow {
  const key = `${PREFIX}${url}/open/${encodeURIComponent(user ?? "")}/${agent ?? ""}`
  return {
    read() {
      try {
        return sessionStorage.getItem(key)
      } catch {
        return null
      }
    },
    write(session) {
      try {
        if (session === null) sessionStorage.removeItem(key)
        else sessionStorage.setItem(key, session)
      } catch {
        // Storage is blocked, so the next page begins with an empty conversation.
      }
    },
  }
}
