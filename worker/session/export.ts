/**
 * export.ts: a session's transcript as JSONL, streamed: every message by position, all versions, and a seal at the end.
 *
 * store → EXPORT → records → lines; or, for a person to keep, the active path as Markdown
 */

import { markdownOf } from "../../shared/markdown.ts"
import type { Message } from "../../shared/message.ts"
import { assetRecord, recordsOf, type StreamRecord } from "../../shared/record.ts"
import { assetsOf, canvasesOf } from "../../shared/referenced.ts"
import type { AssetBook } from "./assets.ts"
import { createSeal, vouchedIn } from "./seal.ts"
import type { Store } from "./store.ts"

export type Format = "jsonl" | "markdown"

export interface Export {
  readonly lines: ReadableStream<Uint8Array>
  /** Resolves when all was taken, or the reader went away. */
  readonly done: Promise<void>
}

export interface Exported {
  readonly store: Store
  readonly session: { readonly id: string }
  readonly assets: Pick<AssetBook, "find">
}

/**
 * Shapes  (Store, session's id, its files, tenant's key, position or null) → bytes of JSONL. A part, begun `after` a position, has
 *         no seal.
 * Cost    the rows of one message at a time, read as the reader takes them: the memory of one message.
 * Source  SPEC RE1–RE3.
 */
export function exportLines(from: Exported, key: CryptoKey, after: number | null): Export {
  return streamed(linesOf(from, key, after))
}

/**
 * What a reader sees now, as Markdown: the active path, from its beginning or after a position.
 *
 * Cost    a row and a number for each message of the path to find it; then the rows of one message at a time.
 * Source  SPEC RE22.
 */
export function exportMarkdown(store: Store, after: number | null): Export {
  return streamed(chaptersOf(store, after ?? 0))
}

function streamed(texts: AsyncIterable<string>): Export {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const encoder = new TextEncoder()
  const write = async (): Promise<void> => {
    for await (const text of texts) await writer.write(encoder.encode(text))
    await writer.close()
  }
  // It fails when the client disconnects, and when the session is erased meanwhile. Without the abort the client would
  // wait for the rest of the body forever.
  const done = write().catch((error: unknown) => writer.abort(error).catch(() => {}))
  return { lines: readable, done }
}

async function* linesOf(from: Exported, key: CryptoKey, after: number | null): AsyncGenerator<string> {
  const { store } = from
  const sessionId = from.session.id
  const filesOf = createFiles(from)
  const seal = after === null ? createSeal() : null
  let records = 0
  let timestamp = new Date(0).toISOString()
  for (let stored = store.after(after ?? 0); stored !== null; stored = store.after(stored.pos)) {
    const { pos, parent, tip = null, message } = stored
    const told = [...filesOf(message), ...recordsOf({ pos, parent, tip, message }, sessionId)]
    seal?.add(told.map(vouchedIn))
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
  seal.add([vouchedIn(head)])
  yield lineOf({ ...head, value: await seal.value(key) })
}

/** The files that a message is the first to need. A canvas that is not kept any more is told by nobody. */
function createFiles({ session, assets }: Exported): (message: Message) => StreamRecord[] {
  const told = new Set<string>()
  return (message) => {
    const canvases = canvasesOf(message)
      .map((id) => assets.find(id))
      .filter((asset) => asset !== null)
    const fresh = [...assetsOf(message), ...canvases].filter(({ id }) => !told.has(id))
    for (const { id } of fresh) told.add(id)
    return fresh.map((asset) => assetRecord(asset, message, session.id))
  }
}

/** Messages of a path that are looked up before others have their turn. */
const LOOK_EVERY = 500

async function* chaptersOf(store: Store, after: number): AsyncGenerator<string> {
  const path: number[] = []
  for (let pos = store.tip(); pos !== null && pos > after; pos = store.parentOf(pos)) {
    path.push(pos)
    if (path.length % LOOK_EVERY === 0) await new Promise((resolve) => setTimeout(resolve))
  }
  const title = store.session()?.title ?? ""
  if (after === 0) yield titleOf(title)
  for (const pos of path.reverse()) {
    const stored = store.at(pos)
    if (stored !== null) yield `\n${markdownOf(stored.message)}`
  }
}

/** A title is words: none of them is Markdown. */
function titleOf(title: string): string {
  const words = title.replace(/\s+/g, " ").trim()
  return `# ${words.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&") || "Conversation"}\n`
}

/** The only way in which exports are sealed. */
const SEAL = "HMAC-SHA256"

function lineOf(record: StreamRecord): string {
  return `${JSON.stringify(record)}\n`
}
