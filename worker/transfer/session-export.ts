/**
 * session-export.ts: a session's transcript as JSONL, streamed: every message by position, all versions, and a seal at the end.
 *
 * store → EXPORT → records → lines; or, for a person to keep, the active path as Markdown
 */

import { messageToMarkdown } from "../../shared/segment/export-markdown.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { assetToRecord, messageToRecords } from "../../shared/protocol/message-to-records.ts"
import { listAssets, listCanvasIds } from "../../shared/segment/referenced-assets.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import { createSeal, recordToSealedLine } from "./export-seal.ts"
import type { SessionStore } from "../store/session-store.ts"

export interface ExportStream {
  readonly lines: ReadableStream<Uint8Array>
  /** Resolves when all was taken, or the reader went away. */
  readonly done: Promise<void>
}

export interface ExportSource {
  readonly store: SessionStore
  readonly row: { readonly id: string }
  readonly assets: Pick<AssetRows, "find">
}

/**
 * Shapes  (Store, session's id, its files, tenant's key, position or null) → bytes of JSONL. A part, begun `after` a position, has
 *         no seal.
 * Cost    the rows of one message at a time, read as the reader takes them: the memory of one message.
 * Source  SPEC RE1–RE3.
 */
export function exportJsonl(source: ExportSource, key: CryptoKey, after: number | null): ExportStream {
  return streamTexts(generateJsonl(source, key, after))
}

/**
 * What a reader sees now, as Markdown: the active path, from its beginning or after a position.
 *
 * Cost    a row and a number for each message of the path to find it; then the rows of one message at a time.
 * Source  SPEC RE22.
 */
export function exportMarkdown(store: SessionStore, after: number | null): ExportStream {
  return streamTexts(generateMarkdown(store, after ?? 0))
}

function streamTexts(texts: AsyncIterable<string>): ExportStream {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  const write = async (): Promise<void> => {
    for await (const text of texts) await writer.write(encoder.encode(text))
    await writer.close()
  }
  // A reader that goes away is no fault.
  return { lines: readable, done: write().catch(() => {}) }
}

async function* generateJsonl(source: ExportSource, key: CryptoKey, after: number | null): AsyncGenerator<string> {
  const { store } = source
  const sessionId = source.row.id
  const takeNewAssetRecords = createAssetRecordSource(source)
  const seal = after === null ? createSeal() : null
  let records = 0
  let timestamp = new Date(0).toISOString()
  for (let stored = store.findMessageAfter(after ?? 0); stored !== null; stored = store.findMessageAfter(stored.pos)) {
    const { pos, parent, tip = null, message } = stored
    const batch = [...takeNewAssetRecords(message), ...messageToRecords({ pos, parent, tip, message }, sessionId)]
    seal?.add(batch.map(recordToSealedLine))
    records += batch.length
    timestamp = message.timestamp
    yield batch.map(recordToLine).join("")
  }
  if (seal === null) return
  const session = store.readSession()
  const head = {
    type: "signature",
    timestamp,
    sessionId,
    tip: session?.tip ?? null,
    title: session?.title ?? "",
    records,
    algorithm: SEAL_ALGORITHM,
  } as const
  seal.add([recordToSealedLine(head)])
  yield recordToLine({ ...head, value: await seal.sign(key) })
}

/** The files that a message is the first to need. A canvas that is not kept any more is told by nobody. */
function createAssetRecordSource({ row: session, assets }: ExportSource): (message: Message) => StreamRecord[] {
  const exportedIds = new Set<string>()
  return (message) => {
    const canvases = listCanvasIds(message)
      .map((id) => assets.find(id))
      .filter((asset) => asset !== null)
    const added = [...listAssets(message), ...canvases].filter(({ id }) => !exportedIds.has(id))
    for (const { id } of added) exportedIds.add(id)
    return added.map((asset) => assetToRecord(asset, message, session.id))
  }
}

/** Messages of a path that are looked up before others have their turn. */
const YIELD_EVERY_MESSAGES = 500

async function* generateMarkdown(store: SessionStore, after: number): AsyncGenerator<string> {
  const path: number[] = []
  for (let pos = store.readTip(); pos !== null && pos > after; pos = store.findParent(pos)) {
    path.push(pos)
    if (path.length % YIELD_EVERY_MESSAGES === 0) await new Promise((resolve) => setTimeout(resolve))
  }
  const title = store.readSession()?.title ?? ""
  if (after === 0) yield titleToMarkdown(title)
  for (const pos of path.reverse()) {
    const stored = store.findMessageAt(pos)
    if (stored !== null) yield `\n${messageToMarkdown(stored.message)}`
  }
}

/** A title is words: none of them is Markdown. */
function titleToMarkdown(title: string): string {
  const text = title.replace(/\s+/g, " ").trim()
  return `# ${text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&") || "Conversation"}\n`
}

/** The only way in which exports are sealed. */
const SEAL_ALGORITHM = "HMAC-SHA256"

function recordToLine(record: StreamRecord): string {
  return `${JSON.stringify(record)}\n`
}
