/**
 * session-export.ts: streams a session's transcript, as JSONL records with a seal or as a Markdown document.
 *
 * The JSONL export contains all versions of every message, in the order of their positions. The Markdown export
 * contains only the active path.
 */

import { keyToPublicId } from "../platform/session-key.ts"
import { messageToMarkdown } from "../../shared/segment/export-markdown.ts"
import type { Message } from "../../shared/protocol/message.ts"
import type { StreamRecord } from "../../shared/protocol/record.ts"
import { assetToRecord, messageToRecords } from "../../shared/segment/message-to-records.ts"
import { listAssets, listCanvasIds } from "../../shared/segment/referenced-assets.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import { type CardPrinter, createCardPrinter, type CardOwner } from "../tool/cards/card-printer.ts"
import { createSeal, recordToSealedLine } from "./export-seal.ts"
import type { StoredMessage } from "../store/row-codec.ts"
import type { SessionStore } from "../store/session-store.ts"
import { createYielder } from "./yielder.ts"

export interface ExportStream {
  readonly lines: ReadableStream<Uint8Array>
  /** Resolves when everything has been read or the reader has cancelled. */
  readonly done: Promise<void>
}

export interface ExportSource {
  readonly store: SessionStore
  readonly row: { readonly id: string }
  readonly assets: Pick<AssetRows, "find">
}

/**
 * Exports all messages, or only those after a position. A partial export has no seal (SPEC RE1–RE5).
 *
 * Cost: reads the rows of one message at a time, at the pace of the reader.
 */
export function exportJsonl(source: ExportSource, key: CryptoKey, after: number | null): ExportStream {
  const messages = listMessages(source.store, after ?? 0)
  const tip = (): number | null => source.store.readSession()?.tip ?? null
  return streamTexts(generateJsonl(source, messages, after === null ? { key, tip } : null))
}

/** Exports the given messages, oldest first, with a seal. The last one is the end of the active path. */
export function exportMessages(
  source: ExportSource,
  key: CryptoKey,
  messages: AsyncIterable<StoredMessage>,
): ExportStream {
  return streamTexts(generateJsonl(source, messages, { key, tip: () => null }))
}

function* listMessages(store: SessionStore, after: number): Generator<StoredMessage> {
  for (let stored = store.findMessageAfter(after); stored !== null; stored = store.findMessageAfter(stored.pos)) {
    yield stored
  }
}

/**
 * Exports the active path as Markdown, from its start or after a position (SPEC RE22).
 *
 * Cost: to find the path, one row and one number in memory per message; then the rows of one message at a time.
 */
export function exportMarkdown(store: SessionStore, after: number | null, owner: CardOwner): ExportStream {
  return streamTexts(generateMarkdown(store, after ?? 0, createCardPrinter(owner)))
}

function streamTexts(texts: AsyncIterable<string>): ExportStream {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  const writeTexts = async (): Promise<void> => {
    for await (const text of texts) await writer.write(encoder.encode(text))
    await writer.close()
  }
  // The write fails if the client disconnects, or if the session is erased in the meantime. Without the abort, the
  // client would wait forever for the remainder of the body.
  const done = writeTexts().catch((error: unknown) => writer.abort(error).catch(() => {}))
  return { lines: readable, done }
}

const SEAL_ALGORITHM = "HMAC-SHA256"

/**
 * Generates the lines of an export. `sealing` contains the seal's key and a function that reads the end of the active
 * path. It is null for an export without a seal.
 */
async function* generateJsonl(
  source: ExportSource,
  messages: Iterable<StoredMessage> | AsyncIterable<StoredMessage>,
  sealing: { readonly key: CryptoKey; readonly tip: () => number | null } | null,
): AsyncGenerator<string> {
  const { store } = source
  const sessionId = keyToPublicId(source.row.id)
  const listNewAssetRecords = createNewAssetLister(source)
  const seal = sealing === null ? null : createSeal()
  let records = 0
  let timestamp = new Date(0).toISOString()
  for await (const stored of messages) {
    const { pos, parent, tip = null, message } = stored
    const batch = [...listNewAssetRecords(message), ...messageToRecords({ pos, parent, tip, message }, sessionId)]
    seal?.add(batch.map(recordToSealedLine))
    records += batch.length
    timestamp = message.timestamp
    yield batch.map(recordToLine).join("")
  }
  if (seal === null || sealing === null) return
  const head = {
    type: "signature",
    timestamp,
    sessionId,
    tip: sealing.tip(),
    title: store.readSession()?.title ?? "",
    records,
    algorithm: SEAL_ALGORITHM,
  } as const
  seal.add([recordToSealedLine(head)])
  yield recordToLine({ ...head, value: await seal.sign(sealing.key) })
}

/** Returns a function that lists records for the assets that a message is the first to use (SPEC RE24). */
function createNewAssetLister({ row: session, assets }: ExportSource): (message: Message) => StreamRecord[] {
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

/** Number of the path's messages between yields. */
const YIELD_EVERY_MESSAGES = 500

async function* generateMarkdown(store: SessionStore, after: number, cards: CardPrinter): AsyncGenerator<string> {
  const path: number[] = []
  const yieldIfDue = createYielder(YIELD_EVERY_MESSAGES)
  for (let pos = store.readTip(); pos !== null && pos > after; pos = store.findParent(pos)) {
    path.push(pos)
    await yieldIfDue()
  }
  const title = store.readSession()?.title ?? ""
  if (after === 0) yield titleToMarkdown(title)
  for (const pos of path.reverse()) {
    const stored = store.findMessageAt(pos)
    if (stored === null) continue
    await cards.loadViews(stored.message)
    yield `\n${messageToMarkdown(stored.message, cards.print)}`
  }
}

/** Escapes the title, which is plain text. */
function titleToMarkdown(title: string): string {
  const text = title.replace(/\s+/g, " ").trim()
  return `# ${text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&") || "Conversation"}\n`
}

function recordToLine(record: StreamRecord): string {
  return `${JSON.stringify(record)}\n`
}
