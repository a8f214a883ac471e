/**
 * export.ts: a session's transcript as JSONL, streamed: every message by position, all versions, and a seal at the end.
 *
 * store → EXPORT → records → lines
 */

import { recordsOf, type StreamRecord } from "../../shared/record.ts"
import { createSeal } from "./seal.ts"
import type { Store } from "./store.ts"

export interface Export {
  readonly lines: ReadableStream<Uint8Array>
  /** Resolves when all was taken, or the reader went away. */
  readonly done: Promise<void>
}

/**
 * Shapes  (Store, session's id, tenant's key, position or null) → bytes of JSONL. A part, begun `after` a position, has
 *         no seal.
 * Cost    the rows of one message at a time, read as the reader takes them: the memory of one message.
 * Source  SPEC RE1–RE3.
 */
export function exportLines(store: Store, sessionId: string, key: CryptoKey, after: number | null): Export {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  const write = async (): Promise<void> => {
    for await (const text of linesOf(store, sessionId, key, after)) await writer.write(encoder.encode(text))
    await writer.close()
  }
  // A reader that goes away is no fault.
  return { lines: readable, done: write().catch(() => {}) }
}

async function* linesOf(store: Store, sessionId: string, key: CryptoKey, after: number | null): AsyncGenerator<string> {
  const seal = after === null ? createSeal() : null
  let records = 0
  let timestamp = new Date(0).toISOString()
  for (let stored = store.after(after ?? 0); stored !== null; stored = store.after(stored.pos)) {
    const { pos, parent, tip = null, message } = stored
    const told = recordsOf({ pos, parent, tip, message }, sessionId)
    for (const record of told) seal?.add(record)
    records += told.length
    timestamp = message.timestamp
    yield told.map(lineOf).join("")
  }
  if (seal === null) return
  const session = store.session()
  const head = {
    type: "signature",
    timestamp,
    sessionId,
    tip: session?.tip ?? null,
    title: session?.title ?? "",
    records,
    algorithm: SEAL,
  } as const
  seal.add(head)
  yield lineOf({ ...head, value: await seal.value(key) })
}

/** The only way in which exports are sealed. */
const SEAL = "HMAC-SHA256"

function lineOf(record: StreamRecord): string {
  return `${JSON.stringify(record)}\n`
}
