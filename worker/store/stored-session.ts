/**
 * stored-session.ts: the rows of a session that its JSONL export does not contain. A tenant's export reads them, and
 * its import writes them.
 */

import { nanoid } from "nanoid"
import { parseJson } from "../../shared/json.ts"
import type { SessionOwner } from "../platform/rpc/claims.ts"
import type { StoredSession } from "../platform/rpc/session-types.ts"
import type { AgentView } from "../settings/agent-config.ts"
import type { SessionRow } from "./row-codec.ts"
import type { SessionStore } from "./session-store.ts"

export function readStoredSession(store: SessionStore, row: SessionRow): StoredSession {
  const { id, created, agent, family } = row
  // The title may have changed since the session was opened.
  const title = store.readSession()?.title ?? row.title
  const view = store.readSession()?.agent ?? agent
  return {
    id,
    title,
    created,
    agent: view === null ? null : JSON.stringify(view),
    family,
    isEmpty: store.readNewestPos() === 0,
    asks: store.agentAsks.listLinks(),
    viewers: store.viewers.list(),
  }
}

export function restoreSessionRows(store: SessionStore, { tenant, user }: SessionOwner, stored: StoredSession): void {
  const { id, title, created, family, asks } = stored
  // `readStoredSession` wrote this JSON, and the seal of its archive has been verified.
  const agent = stored.agent === null ? null : (parseJson(stored.agent) as unknown as AgentView)
  store.createSession({ id, tenant, user, title, created, family, agent, epoch: nanoid() })
  for (const link of asks) store.agentAsks.addLink(link)
  for (const { user: viewer, since } of stored.viewers) store.viewers.add(viewer, since)
}
