/**
 * directory-sync.ts: keeps a session's entry in its user's directory up to date.
 *
 * The entry contains the title, the time of the last activity, and whether a turn is running. The running state is sent
 * only when it has changed. If that fails, it is sent again with the next change or alarm (SPEC DI1, DI5). The
 * session's usage report, if there is one (SPEC MT5), and the text of finished turns (SPEC FT3) are sent with the
 * running state. A question that is waiting for a program or a service is offered at the same time (SPEC EA4, EA7).
 */

import { toTitle } from "../../shared/text/title.ts"
import type { UsageReceipt } from "../../shared/usage/usage-report.ts"
import { SearchFeed } from "../search/search-feed.ts"
import type { Env } from "../env.ts"
import { log } from "../platform/log.ts"
import { ensureTitle } from "../turn/accept-message.ts"
import type { LiveSession } from "./live-session.ts"
import { createQuestionOffer } from "./producers/question-offer.ts"
import { renameForViewers } from "./session-sharing.ts"
import { createTitleGiver, type TitleGiver } from "./titles/title-giver.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"

export interface DirectorySync {
  /** Records activity at `nowMs`. An untitled session takes its title from `text`. Never rejects. */
  reportActivity(text: string, nowMs: number): Promise<void>
  /** Cleans and stores a title (SPEC RT13). With `nowMs` 0, this does not count as activity. */
  renameSession(title: string, nowMs: number): Promise<void>
  /** Sends the running state and the usage report, unless the directory already has them. Never rejects. */
  syncRunningState(): Promise<void>
  /**
   * Reports that the active path has changed below a position. After that, searches no longer find the old messages
   * below that position.
   */
  notePathChange(fork: number): void
  /** Whether the directory may be missing the running state, a usage report or a change of the path. */
  isPending(): boolean
}

/** Creates the sync. The live session may still be under construction. */
export function createDirectorySync(env: Env, session: LiveSession): DirectorySync {
  const { row, store } = session
  const { id } = row
  const isRunning = (): boolean => session.turns.isRunning()
  /** The running state known to the directory; null if unknown. */
  let reportedRunning: boolean | null = null
  let syncing: Promise<void> | null = null
  const offerQuestion = createQuestionOffer(env, session)
  const feed = new SearchFeed(session)
  /** The last report of activity. It includes the running state, so the next state must not overtake it. */
  let reporting: Promise<void> = Promise.resolve()
  const recordActivity = async (nowMs: number, title: string): Promise<void> => {
    try {
      const state = isRunning()
      // A directory of an earlier version ignores the state and returns nothing.
      reportedRunning = (await directoryStub(env, row).recordActivity(id, nowMs, title, state)) === true ? state : null
    } catch {
      reportedRunning = null
      // The list of sessions shows an old date until the next message.
      log("touch_failed", { id })
    }
  }
  const reportRunningState = async (): Promise<void> => {
    await reporting
    try {
      await offerQuestion()
      reportedRunning = await sendState(env, session, feed, reportedRunning)
    } catch {
      reportedRunning = null
      log("mark_failed", { id })
    }
  }
  const titleGiver = createTitleGiver(env, session, (title) => sendTitle(env, session, title, 0))
  return {
    async reportActivity(text, nowMs) {
      feed.noteQuestion()
      const { title, isNew } = ensureTitle(store, text)
      reporting = Promise.all([reporting, syncing]).then(() => recordActivity(nowMs, title))
      await reporting
      if (isNew) await renameForViewers(env, session, title)
    },
    async renameSession(newTitle, nowMs) {
      const title = toTitle(newTitle)
      store.setTitle(title)
      await sendTitle(env, session, title, nowMs)
    },
    syncRunningState() {
      syncing ??= reportRunningState().finally(() => {
        syncing = null
        if (reportedRunning === false) handleIdle(session, titleGiver)
      })
      return syncing
    },
    notePathChange(fork) {
      feed.notePathChange(fork)
      void this.syncRunningState()
    },
    isPending: () => feed.isPathChanged() || reportedRunning !== isRunning() || store.usage.isPending(),
  }
}

/**
 * Reports the stored bytes, and requests a title if one is due. Called after a turn or an import, in which the text may
 * have grown by megabytes. The next turn does not wait for either.
 */
function handleIdle({ assetService }: LiveSession, titleGiver: TitleGiver): void {
  void assetService.syncBytes()
  titleGiver.giveTitleIfDue()
}

/** Sends a title to the lists of the owner and the viewers. */
async function sendTitle(env: Env, session: LiveSession, title: string, nowMs: number): Promise<void> {
  await directoryStub(env, session.row).recordActivity(session.row.id, nowMs, title)
  await renameForViewers(env, session, title)
}

/**
 * Sends the running state, the usage and the text for the search index until the directory has them. `known` is the
 * state that the directory has now. Returns the state that it has afterwards.
 */
async function sendState(
  env: Env,
  { row, store, turns, gate, sockets }: LiveSession,
  feed: SearchFeed,
  known: boolean | null,
): Promise<boolean | null> {
  for (let sent = known; ; ) {
    const state = turns.isRunning()
    const report = store.usage.nextReport()
    if (state === sent && report === null && !feed.isPathChanged()) return sent
    const search = await feed.readNext(state)
    // Also sent if the state is unchanged, because the directory may not have been notified of the end of the turn.
    const isUnattended = sent !== false && !state && sockets.countOpen(row.user) === 0
    const news = search === null && !isUnattended ? undefined : { search: search ?? undefined, isUnattended }
    const receipt: UsageReceipt | undefined = await directoryStub(env, row).setRunning(
      row.id,
      state,
      report ?? undefined,
      news,
    )
    sent = state
    if (search !== null) feed.acknowledge(search)
    if (report === null) continue
    // A directory of an earlier version ignores reports and returns nothing. The alarm tries again.
    if (receipt?.n !== report.n) return sent
    store.usage.acknowledge(report.n)
    gate.renew(receipt.lease)
  }
}
