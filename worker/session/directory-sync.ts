/**
 * directory-sync.ts: what the directory knows of a session: its title, when it was used, whether something runs there.
 *
 * turn, messages → LISTING → directory → the list of sessions
 * Whether something runs is told when it changed, one word at a time and in order; a word that did not arrive is said
 * again with the next. A fresh process says it anew, whatever the one before it had said. Source: SPEC DI1, DI5.
 */

import type { Env } from "../env.ts"
import { ensureTitle } from "../turn/accept-message.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import { log } from "../platform/log.ts"
import type { LiveSession } from "./live-session.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"

export interface DirectorySync {
  /** Something was said: when, and what the session is about. Never rejects. */
  reportActivity(text: string, now: number): Promise<void>
  /** The session has another title. With 0 that is no activity. */
  renameSession(title: string, now: number): Promise<void>
  /** Looks whether something runs, and tells it where the directory does not know it. Never rejects. */
  syncRunningState(): Promise<void>
}

export function createDirectorySync(env: Env, { row: session, store, turns }: LiveSession): DirectorySync {
  const { id } = session
  const directory = () => directoryStub(env, session)
  let reportedRunning: boolean | null = null
  let syncing: Promise<void> | null = null
  const reportRunningState = async (): Promise<void> => {
    try {
      for (let isRunning = turns.isRunning(); isRunning !== reportedRunning; isRunning = turns.isRunning()) {
        await directory().setRunning(id, isRunning)
        reportedRunning = isRunning
      }
    } catch {
      reportedRunning = null
      log("mark_failed", { id })
    }
  }
  return {
    async reportActivity(text, now) {
      // A missed touch costs an old date in a list; the next message mends it.
      const title = ensureTitle(store, text)
      await directory()
        .recordActivity(id, now, title)
        .catch(() => log("touch_failed", { id }))
    },
    async renameSession(title, now) {
      store.setTitle(title)
      await directory().recordActivity(id, now, title)
    },
    syncRunningState() {
      syncing ??= reportRunningState().finally(() => {
        syncing = null
      })
      return syncing
    },
  }
}

/** Moves what can be moved. The list is told when something begins here, and when all has ended. */
export async function advanceAndSync(session: LiveSession, directorySync: DirectorySync | null): Promise<void> {
  try {
    const advanced = session.turns.advance()
    const synced = directorySync?.syncRunningState()
    await advanced
    await synced
    await directorySync?.syncRunningState()
  } catch (error) {
    if (!(error instanceof SessionErasedError)) throw error
  }
}
