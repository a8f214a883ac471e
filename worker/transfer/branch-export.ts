/**
 * branch-export.ts: exports the active path up to a message as a sealed file, which a new session imports. Source: SPEC
 * WR40.
 */

import type { StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import { exportMessages, type ExportSource, type ExportStream } from "./session-export.ts"
import { createYielder } from "./yielder.ts"

/** Number of the path's messages between yields. */
const YIELD_EVERY_MESSAGES = 500

/**
 * Exports the path that ends at a position. The file contains one version of each message. It contains no feedback,
 * which remains in the original session. Cost: like `exportMarkdown`.
 */
export function exportBranch(source: ExportSource, key: CryptoKey, upto: number): ExportStream {
  return exportMessages(source, key, readPath(source.store, upto))
}

async function* readPath(store: SessionStore, upto: number): AsyncGenerator<StoredMessage> {
  const path: number[] = []
  const yieldIfDue = createYielder(YIELD_EVERY_MESSAGES)
  for (let pos: number | null = upto; pos !== null; pos = store.findParent(pos)) {
    path.push(pos)
    await yieldIfDue()
  }
  for (const pos of path.reverse()) {
    const stored = store.findMessageAt(pos)
    if (stored === null) continue
    const { feedback: _feedback, ...message } = stored.message
    yield { ...stored, tip: null, message: { ...message, version: 1, versions: 1 } }
  }
}
