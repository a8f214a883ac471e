/**
 * erase-session.ts: all that is stored of a session goes, its bytes first; and what comes after that goes, too.
 *
 * object → ERASING → bucket, rows, alarm
 * Whoever brings a file may put it behind the erasing, and die before they hear that there is no session any more.
 * Source: SPEC RT9, AS9; docs/decisions/0017-asset-rows-and-bytes.md.
 */

import { deleteAllBytes, type Place } from "../asset/bucket.ts"

/** Where an erased session was, while files that were on their way may still come. */
const LATE = "late"

/** Where it fails, asking again goes on. With `lateAt` it is looked once more then (`eraseLate`). */
export async function eraseStored(
  storage: DurableObjectStorage,
  bucket: R2Bucket,
  place: Place,
  lateAt: number | null,
): Promise<void> {
  await deleteAllBytes(bucket, place)
  await storage.deleteAlarm()
  await storage.deleteAll()
  if (lateAt === null) return
  // Not the object's own name: an alarm that wakes it is not told that.
  storage.kv.put<Place>(LATE, place)
  await storage.setAlarm(lateAt)
}

/** What came late goes. Where it fails it throws, and is tried again at `againAt`. */
export async function eraseLate(storage: DurableObjectStorage, bucket: R2Bucket, againAt: number): Promise<void> {
  const place = storage.kv.get<Place>(LATE)
  if (place === undefined) return
  await storage.setAlarm(againAt)
  await eraseStored(storage, bucket, place, null)
}
