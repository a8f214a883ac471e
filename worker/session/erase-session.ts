/**
 * erase-session.ts: erases everything that a session has stored: bytes in the bucket first, then rows and alarm.
 *
 * An upload in progress may write its bytes after that, and its process may end before it deletes them. So the bucket
 * is checked again later (SPEC RT10, AS9; docs/decisions/0017-asset-rows-and-bytes.md).
 */

import type { UsageReport } from "../../shared/usage/usage-report.ts"
import { describeError, logError } from "../platform/log.ts"
import type { LiveSession } from "./live-session.ts"
import { deleteSessionBytes, type SessionRef } from "../asset/bucket.ts"
import { deleteCopies } from "../shared-copy/copy-objects.ts"

/** A session that is being erased. `shares`: the ids of its shared copies. */
export interface ErasedSession extends SessionRef {
  readonly shares?: readonly string[]
}

/** The key under which a reference to the erased session is stored while late uploads are possible. */
const ERASED_SESSION_KEY = "late"

/**
 * Erases the stored data. Can be retried after a failure. `recheckAtMs`: when to run `eraseLateUploads`; null: never.
 */
export async function eraseSessionStorage(
  storage: DurableObjectStorage,
  bucket: R2Bucket,
  sessionRef: ErasedSession,
  recheckAtMs: number | null,
): Promise<void> {
  await deleteCopies(bucket, sessionRef.tenant, sessionRef.shares ?? [])
  await deleteSessionBytes(bucket, sessionRef)
  await storage.deleteAlarm()
  await storage.deleteAll()
  if (recheckAtMs === null) return
  // An object that is woken by its alarm can't read its own name, so the reference is stored.
  storage.kv.put<ErasedSession>(ERASED_SESSION_KEY, sessionRef)
  await storage.setAlarm(recheckAtMs)
}

/**
 * Ends the running turn, and returns the usage that the user's directory may not have received yet. If the write fails,
 * the session is erased anyway.
 */
export function takeUsageReports({ turns, store }: LiveSession): readonly UsageReport[] {
  try {
    turns.cancelForErasure()
    return store.usage.takeAll()
  } catch (error) {
    logError("usage_not_recorded", { error: describeError(error) })
    return []
  }
}

/** Erases late uploads. If it throws, the alarm at `retryAtMs` tries again. */
export async function eraseLateUploads(
  storage: DurableObjectStorage,
  findBucket: (tenant: string) => R2Bucket,
  retryAtMs: number,
): Promise<void> {
  const sessionRef = storage.kv.get<ErasedSession>(ERASED_SESSION_KEY)
  if (sessionRef === undefined) return
  await storage.setAlarm(retryAtMs)
  await eraseSessionStorage(storage, findBucket(sessionRef.tenant), sessionRef, null)
}
