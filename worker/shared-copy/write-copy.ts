/**
 * write-copy.ts: creates, lists and deletes the shared copies of a session. Runs in the session's object. Loaded on
 * demand.
 */

import { fail, type Result, succeed } from "../../shared/fault.ts"
import { MAX_PAGE_BYTES, MAX_PAGE_MESSAGES } from "../../shared/limits.ts"
import { isApp } from "../../shared/protocol/asset.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { SessionShare } from "../../shared/protocol/http-body.ts"
import { isEnded, type Message } from "../../shared/protocol/message.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { listAssets, listCanvasIds } from "../../shared/segment/referenced-assets.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import type { AssetRows } from "../asset/asset-rows.ts"
import type { ShareRequest } from "../platform/rpc/session-types.ts"
import { SessionErasedError } from "../store/storage-gate.ts"
import type { SessionStore } from "../store/session-store.ts"
import { copyPageKey, type CopyManifest, deleteCopies, manifestKey } from "./copy-objects.ts"
import type { ShareRows } from "./share-rows.ts"
import { toReaderMessage } from "./reader-message.ts"

/** Maximum number of shared copies per session. */
export const MAX_SESSION_SHARES = 50
/**
 * Maximum number of messages and bytes of one copy: what a reader can scroll through, and what can be written in a few
 * seconds.
 */
export const MAX_SHARED_MESSAGES = 2_000
export const MAX_SHARED_BYTES = 32 * 1024 * 1024
/**
 * An incomplete copy is deleted this long after it was begun, in milliseconds. Writing a copy never takes this long.
 */
const GIVE_UP_MS = 10 * 60_000

export interface CopyHost {
  readonly row: { readonly id: string; readonly tenant: string; readonly user: string }
  readonly store: SessionStore
  readonly rows: ShareRows
  readonly assets: Pick<AssetRows, "find">
  readonly bucket: R2Bucket
  readonly now: () => number
  /** Sets the alarm that deletes expired copies. */
  readonly armBy: (atMs: number) => void
}

/**
 * Copies the active path up to a message, or to the newest finished one. The copy never changes afterwards.
 *
 * Errors: `share_links_full`, `share_too_large`; `message_unknown` if there is no such finished message on the path;
 * `session_unknown` if the session was erased in the meantime. Cost: the rows of the copied messages, and one object
 * per page.
 */
export async function createShare(host: CopyHost, request: ShareRequest): Promise<Result<SessionShare>> {
  const { rows, store, now, armBy } = host
  await deleteExpired(host)
  if (rows.count() >= MAX_SESSION_SHARES) return fail({ reason: "share_links_full", max: MAX_SESSION_SHARES })
  const path = findPath(store, request.upto)
  if (!path.ok) return path
  const { id, author, expires } = request
  const title = store.readSession()?.title ?? ""
  const { upto, positions } = path.value
  const share: SessionShare = { id, upto, title, created: now(), expires, ...(author === null ? {} : { named: true }) }
  const giveUpAt = share.created + GIVE_UP_MS
  rows.begin(share, giveUpAt)
  armBy(giveUpAt)
  try {
    const written = await writeCopy(host, share, positions, author)
    if (!written.ok) await deleteShare(host, id)
    if (!written.ok || rows.has(id)) return written
  } catch (error) {
    await discardCopy(host, id)
    if (!(error instanceof SessionErasedError)) throw error
  }
  return fail({ reason: "session_unknown" })
}

/** Deletes a copy. Afterwards, nobody can read it. Repeating the call has no effect. */
export async function deleteShare({ rows, bucket, row }: CopyHost, id: string): Promise<void> {
  if (!rows.has(id)) return
  await deleteCopies(bucket, row.tenant, [id])
  rows.remove(id)
}

/** Deletes the copies that have expired or were never completed. */
export async function deleteExpired(host: CopyHost): Promise<void> {
  for (const id of host.rows.listExpired(host.now())) await deleteShare(host, id)
}

/** Deletes what was written, even if the session and its rows are gone. */
async function discardCopy({ rows, bucket, row }: CopyHost, id: string): Promise<void> {
  await deleteCopies(bucket, row.tenant, [id])
  try {
    rows.remove(id)
  } catch (error) {
    if (!(error instanceof SessionErasedError)) throw error
  }
}

interface CopyPath {
  /** The id of the last message. */
  readonly upto: string
  /** Oldest first. */
  readonly positions: readonly number[]
}

function findPath(store: SessionStore, upto: string | null): Result<CopyPath> {
  const last = upto === null ? findNewestFinished(store) : findOnPath(store, upto)
  if (last === null) return fail({ reason: "message_unknown" })
  const positions: number[] = []
  for (let pos: number | null = last.pos; pos !== null && pos > 0; pos = store.findParent(pos)) {
    if (positions.length >= MAX_SHARED_MESSAGES) return fail({ reason: "share_too_large" })
    positions.push(pos)
  }
  return succeed({ upto: last.id, positions: positions.reverse() })
}

interface LastMessage {
  readonly id: string
  readonly pos: number
}

/** Finds the newest finished message. Only the running answer can follow it. */
function findNewestFinished(store: SessionStore): LastMessage | null {
  for (let pos = store.readTip(); pos !== null && pos > 0; ) {
    const stored = store.findMessageAt(pos)
    if (stored === null) return null
    if (isFinished(stored.message)) return { id: stored.message.id, pos }
    pos = stored.parent
  }
  return null
}

function findOnPath(store: SessionStore, id: string): LastMessage | null {
  const pos = store.findById(id)?.pos ?? 0
  const stored = pos > 0 && store.isOnPath(pos) ? store.findMessageAt(pos) : null
  return stored !== null && isFinished(stored.message) ? { id, pos } : null
}

function isFinished({ role, status }: Message): boolean {
  return role === "user" || isEnded(status)
}

/** Writes the pages, then the manifest, and completes the row. */
async function writeCopy(
  host: CopyHost,
  share: SessionShare,
  positions: readonly number[],
  author: string | null,
): Promise<Result<SessionShare>> {
  const { row, store, rows, bucket, armBy } = host
  const { id, title, created, expires } = share
  const assets: Record<string, Asset["kind"]> = {}
  const page: { texts: string[]; bytes: number } = { texts: [], bytes: 0 }
  let [pages, total] = [0, 0]
  const writePage = async (): Promise<void> => {
    pages += 1
    await bucket.put(copyPageKey(row.tenant, id, pages), `[${page.texts.join(",")}]`)
    Object.assign(page, { texts: [], bytes: 0 })
  }
  for (const pos of positions) {
    const stored = store.findMessageAt(pos)
    if (stored === null) continue
    for (const { id: asset, kind } of listMessageAssets(host, stored.message)) assets[asset] = kind
    const text = JSON.stringify(toReaderMessage(messageToWire(stored.message)))
    const bytes = countUtf8Bytes(text)
    total += bytes
    if (total > MAX_SHARED_BYTES) return fail({ reason: "share_too_large" })
    const isFull = page.bytes + bytes > MAX_PAGE_BYTES || page.texts.length >= MAX_PAGE_MESSAGES
    if (isFull && page.texts.length > 0) await writePage()
    page.texts.push(text)
    page.bytes += bytes
  }
  await writePage()
  const manifest: CopyManifest = { session: row.id, user: row.user, title, author, created, expires, pages, assets }
  await bucket.put(manifestKey(row.tenant, id), JSON.stringify(manifest))
  rows.complete(id, positions.length, expires)
  if (expires !== null) armBy(expires)
  return succeed(share)
}

/** Lists only the message's files that the session still has: an import may have lost some. */
function listMessageAssets({ assets }: CopyHost, message: Message): Asset[] {
  const files = listAssets(message).filter((asset) => !isApp(asset))
  const ids = [...files.map(({ id }) => id), ...listCanvasIds(message)]
  return ids.flatMap((id) => assets.find(id) ?? [])
}
