/** uncounted-bytes.ts: a byte counter for live sessions whose stored bytes are not counted. */

import { SessionBytes } from "../../worker/limits/session-bytes.ts"

export function createUncountedBytes(): SessionBytes {
  return new SessionBytes({
    sql: { exec: () => ({ toArray: () => [] }) } as unknown as SqlStorage,
    readDatabaseBytes: () => 0,
    report: async ({ n }) => ({ ok: true, value: n }),
    waitUntil() {},
    armAlarm() {},
    now: () => 0,
    isErased: () => false,
  })
}
