/**
 * session-store.ts: all SQL of a session's transcript behind one object.
 *
 * The methods are grouped by table in the `*-rows.ts` files. They do not use `this`, so a test can override some of
 * them with `{ ...store, putChunk }`.
 */

import { createCardActionRows } from "./actions/card-action-rows.ts"
import { createAgentAskRows } from "./agent-ask-rows.ts"
import { createFeedbackRows } from "./annotations/feedback-rows.ts"
import { createKnownUrls } from "./annotations/known-urls.ts"
import { createToolGrantRows } from "./annotations/tool-grant-rows.ts"
import { createCallInputs } from "./callbacks/call-inputs.ts"
import { createToolCallbacks } from "./callbacks/tool-callbacks.ts"
import { createChangeRows } from "./change-rows.ts"
import { createDatabase } from "./database.ts"
import { createMessageRows } from "./message-rows.ts"
import { createProviderStateRows } from "./model/provider-state-rows.ts"
import { createPartRows } from "./part-rows.ts"
import { createProducerRows } from "./producer-rows.ts"
import { createQueueRows } from "./queue-rows.ts"
import { createSessionRows, createTitleRows } from "./session-rows.ts"
import type { SqlExecutor } from "./storage-gate.ts"
import { createVersionRows } from "./version-rows.ts"
import { createViewerRows } from "./viewer-rows.ts"
import { SessionUsage } from "../usage/session-usage.ts"

export type SessionStore = ReturnType<typeof createSessionStore>

/** Without `runInTransaction`, which only tests omit, each statement is a separate transaction. */
export function createSessionStore(sql: SqlExecutor, runInTransaction: <T>(write: () => T) => T = (write) => write()) {
  const database = createDatabase(sql, runInTransaction)
  const callInputs = createCallInputs(database)
  return {
    atomically: database.runInTransaction,
    countRows: database.countRows,
    ...createSessionRows(database),
    ...createTitleRows(database),
    ...createMessageRows(database, callInputs),
    ...createPartRows(database),
    ...createVersionRows(database),
    ...createQueueRows(database),
    ...createProducerRows(database),
    ...createChangeRows(database),
    viewers: createViewerRows(database),
    feedback: createFeedbackRows(database),
    toolGrants: createToolGrantRows(database),
    toolCallbacks: createToolCallbacks(database),
    callInputs,
    cardActions: createCardActionRows(database),
    knownUrls: createKnownUrls(database),
    providerStates: createProviderStateRows(database),
    agentAsks: createAgentAskRows(database),
    usage: new SessionUsage(database),
  }
}
