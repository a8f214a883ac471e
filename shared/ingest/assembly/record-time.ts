/** record-time.ts: the time of a record, in ISO 8601. Pure. */

import type { StreamRecord } from "../../protocol/record.ts"

/** The time of records that precede the first record with a time. */
const UNKNOWN_TIME = "1970-01-01T00:00:00.000Z"

/** Returns the time of a record. The importer has already converted timestamps to ISO 8601. */
export function readRecordTime({ timestamp }: StreamRecord): string {
  return timestamp ?? UNKNOWN_TIME
}

/** Returns the time of a record in ISO 8601; undefined if it is unknown. */
export function readEventTime(record: StreamRecord): string | undefined {
  const time = readRecordTime(record)
  return time === UNKNOWN_TIME ? undefined : time
}
