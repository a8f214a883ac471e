/**
 * erase-session.ts: all that is stored of a session goes, its bytes first; and what comes after that goes, too.
 *
 * object → ERASING → bucket, rows, alarm
 * Whoever brings a file may put it behind the erasing, and die before they hear that there is no session any more.
 * Source: SPEC RT10, AS9; docs/decisions/0017-asset-rows-and-bytes.md.
 */

import { deleteSessionBytes, type SessionRef } from "../asset/bucket.ts"

/** Where an erased session was, while files that were on their way may still come. */
const ERASED_SESSION_KEY = "late"

/** Where it fails, asking again goes on. With `lateAt` it is looked once more then (`eraseLate`). */
export async function eraseSessionStorage(
  storage: DurableObjectStorage,
  bucket: R2Bucket,
  sessionRef: SessionRef,
  recheckAtMs: number | null,
): Promise<void> {
  await deleteSessionBytes(bucket, sessionRef)
  await storage.deleteAlarm()
  await storage.deleteAll()
  if (recheckAtMs === null) return
  // Not the object's own name: an alarm that wakes it is not told that.
  storage.kv.put<SessionRef>(ERASED_SESSION_KEY, sessionRef)
  await storage.setAlarm(recheckAtMs)
}

/** What came late goes. Where it fails it throws, and is tried again at `againAt`. */
export async function eraseLateUploads(
  storage: DurableObjectStorage,
  bucket: R2Bucket,
  retryAtMs: number,
): Promise<void> {
  const sessionRef = storage.kv.get<SessionRef>(ERASED_SESSION_KEY)
  if (sessionRef === undefined) return
  await storage.setAlarm(retryAtMs)
  await eraseSessionStorage(storage, bucket, sessionRef, null)
}
