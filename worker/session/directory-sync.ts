/**
 * directory-sync.ts: what the directory knows of a session: its title, when it was used, whether something runs there.
 *
 * turn, messages → LISTING → directory → the list of sessions
 * Whether something runs is told when it changed, one word at a time and in order; a word that did not arrive is said
 * again with the next. A fresh process says it anew, whatever the one before it had said. Source: SPEC DI1, DI5.
 */

import type { Env } from "../env.ts"
import { directoryOf } from "../auth/user-directory.ts"
import { titleSession } from "../turn/accept-message.ts"
import { Erased } from "../store/storage-gate.ts"
import { log } from "../platform/log.ts"
import type { Room } from "./live-session.ts"

export interface Listing {
  /** Something was said: when, and what the session is about. Never rejects. */
  touch(words: string, now: number): Promise<void>
  /** The session has another title. With 0 that is no activity. */
  rename(title: string, now: number): Promise<void>
  /** Looks whether something runs, and tells it where the directory does not know it. Never rejects. */
  tell(): Promise<void>
}

export function listingOf(env: Env, { session, store, turns }: Room): Listing {
  const { id } = session
  const directory = () => directoryOf(env, session)
  let told: boolean | null = null
  let telling: Promise<void> | null = null
  const tellAll = async (): Promise<void> => {
    try {
      for (let now = turns.isRunning(); now !== told; now = turns.isRunning()) {
        await directory().mark(id, now)
        told = now
      }
    } catch {
      told = null
      log("mark_failed", { id })
    }
  }
  return {
    async touch(words, now) {
      // A missed touch costs an old date in a list; the next message mends it.
      const title = titleSession(store, words)
      await directory()
        .touch(id, now, title)
        .catch(() => log("touch_failed", { id }))
    },
    async rename(title, now) {
      store.setTitle(title)
      await directory().touch(id, now, title)
    },
    tell() {
      telling ??= tellAll().finally(() => {
        telling = null
      })
      return telling
    },
  }
}

/** Moves what can be moved. The list is told when something begins here, and when all has ended. */
export async function advanceAndTell(room: Room, listing: Listing | null): Promise<void> {
  try {
    const advanced = room.turns.advance()
    const told = listing?.tell()
    await advanced
    await told
    await listing?.tell()
  } catch (error) {
    if (!(error instanceof Erased)) throw error
  }
}
