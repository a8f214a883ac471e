/**
 * restore-session.ts: creates one session of an imported archive: its row, its assets, its transcript and its entry in
 * the list.
 *
 * Every step can be repeated. The transcript is imported like an uploaded file. The transcript carries the exported
 * tenant's seal, so its cards are shown as before.
 */

import { assetObjectKey, assetToPutOptions } from "../asset/bucket.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import type { Env } from "../env.ts"
import { log } from "../platform/log.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import type { Claims, SessionOwner } from "../platform/rpc/claims.ts"
import { directoryStub, sessionStub } from "../platform/rpc/object-stubs.ts"
import { keyToPublicId } from "../platform/session-key.ts"
import type { AssetEntry } from "../platform/rpc/session-types.ts"
import type { Tally } from "../../shared/protocol/http-body.ts"
import type { BlockHeader } from "./archive-blocks.ts"
import { stagedKey } from "./archive-files.ts"
import type { ArchiveItem } from "./archive-items.ts"

export interface SessionSource {
  readonly env: Env
  /** The id of the import job, and the importing tenant. */
  readonly job: string
  readonly tenant: string
  /** The exported tenant. */
  readonly from: string
  readonly items: readonly ArchiveItem[]
  /** The number of the session's assets that earlier slices restored. */
  readonly assets: number
  /**
   * Number of requests to other objects and to the bucket that the slice may still make. One asset or one part of a
   * transcript can exceed this number, because each of its pieces takes a request.
   */
  readonly budget: { requests: number }
  /** Maximum size of a part of a transcript, in bytes; MAX_IMPORT_BYTES by default. Only tests set this. */
  readonly partBytes?: number
}

/**
 * `later`: the transcript is still being imported. `more`: the slice ends here. `refused`: the session cannot be
 * imported.
 */
export type RestoreResult =
  | { readonly state: "refused" }
  | { readonly state: "later" | "more"; readonly assets: number }
  | { readonly state: "done"; readonly tally: Partial<Tally> }

type Header<T extends BlockHeader["type"]> = Extract<BlockHeader, { readonly type: T }>

export async function restoreSession(source: SessionSource, head: Header<"session">): Promise<RestoreResult> {
  const { env, tenant, items, budget } = source
  const owner = { tenant, user: head.user }
  budget.requests -= 2 + head.about.viewers.length
  const asks = items.flatMap(({ header }) => (header.type === "asks" ? header.asks : []))
  const created = await sessionStub(env, tenant, head.session).restoreSession(owner, { ...head.about, asks })
  if (!created.ok) return refuseSession(source, head, created.fault.reason)
  const { assets, files } = await restoreAssets(source, owner, head.session)
  if (budget.requests <= 0) return { state: "more", assets }
  const state = head.about.isEmpty ? "done" : await restoreTranscript(source, owner, head.session)
  if (state === "refused") return refuseSession(source, head, "transcript")
  if (state !== "done") return { state, assets }
  if (head.listed !== null) await directoryStub(env, owner).restoreEntry(head.listed)
  for (const { user: viewer, since } of head.about.viewers) {
    const shared = { id: keyToPublicId(head.session), owner: head.user, title: head.about.title, since }
    await directoryStub(env, { tenant, user: viewer }).putShared(shared)
  }
  return { state, tally: { ...files, [head.listed === null ? "agent_sessions" : "sessions"]: 1 } }
}

function refuseSession({ job }: SessionSource, { session }: Header<"session">, reason: string): RestoreResult {
  log("session_not_restored", { job, session, reason })
  return { state: "refused" }
}

/**
 * Restores assets until the budget is used up. `assets`: how many have been restored so far. `files`: the tally of all
 * assets of the session.
 */
async function restoreAssets(
  source: SessionSource,
  owner: SessionOwner,
  session: string,
): Promise<{ readonly assets: number; readonly files: Partial<Tally> }> {
  const itemsById = new Map<string, { entry: AssetEntry; items: ArchiveItem[] }>()
  for (const item of source.items) {
    if (item.header.type !== "asset") continue
    const { entry } = item.header
    const known = itemsById.get(entry.asset.id)
    if (known === undefined) itemsById.set(entry.asset.id, { entry, items: [item] })
    else known.items.push(item)
  }
  // The assets are in the order of the archive, so the order is the same in every slice.
  const all = [...itemsById.values()]
  let { assets } = source
  for (const { entry, items } of all.slice(assets)) {
    if (source.budget.requests <= 0) break
    await restoreAsset({ ...source, items }, owner, session, entry)
    assets += 1
  }
  const bytes = all.reduce((sum, { entry }) => sum + entry.asset.size, 0)
  return { assets, files: { files: all.length, bytes } }
}

/** Reserves the row, writes the bytes, then completes the row, as an upload does. */
async function restoreAsset(
  source: SessionSource,
  owner: SessionOwner,
  session: string,
  entry: AssetEntry,
): Promise<void> {
  const { env, tenant, items, budget } = source
  const stub = sessionStub(env, tenant, session)
  budget.requests -= 1
  const reserved = await stub.reserveRestored(owner, entry)
  if (!reserved.ok) throw new Error(`an asset could not be reserved: ${reserved.fault.reason}`)
  if (!reserved.value) return
  budget.requests -= 2
  const { readable, writable } = new FixedLengthStream(items.reduce((sum, { bytes }) => sum + bytes, 0))
  const key = assetObjectKey({ tenant, session }, entry.asset.id)
  const putting = mediaBucket(env, tenant).put(key, readable, assetToPutOptions(entry.asset))
  await Promise.all([putting, writeItems(source, writable)])
  const committed = await stub.commitRestored(owner, entry)
  if (!committed.ok) throw new Error(`an asset could not be committed: ${committed.fault.reason}`)
}

async function restoreTranscript(
  source: SessionSource,
  owner: SessionOwner,
  session: string,
): Promise<"done" | "later" | "more" | "refused"> {
  const stub = sessionStub(source.env, source.tenant, session)
  const claims: Claims = { ...owner, expires: 0, token: null, issued: 0 }
  source.budget.requests -= 2
  const known = await stub.importProgress(claims)
  if (!known.ok) return "refused"
  if (known.value.state === "folding") return "later"
  // If the exporting tenant's seal is missing or invalid, the transcript was altered.
  if (known.value.state === "done") return known.value.isSealed ? "done" : "refused"
  if (known.value.state === "failed") return "refused"
  const parts = splitTranscript(source.items, source.partBytes ?? MAX_IMPORT_BYTES)
  if (parts.length > MAX_IMPORT_PARTS) return "refused"
  // Earlier slices have imported the other parts.
  const missing = known.value.parts?.missing ?? parts.map((_, i) => i + 1)
  for (const n of missing) {
    if (source.budget.requests <= 0) return "more"
    const items = parts[n - 1] ?? []
    const part = { part: n, of: parts.length, sealedBy: source.from }
    source.budget.requests -= 1
    const { readable, writable } = new IdentityTransformStream()
    const importing = stub.import(claims, readable, part)
    // An import that refuses its file does not read it to the end. The response states the reason.
    const [imported] = await Promise.all([importing, writeItems({ ...source, items }, writable).catch(() => {})])
    if (!imported.ok) return imported.fault.reason === "import_running" ? "later" : "refused"
  }
  const progress = await stub.importProgress(claims)
  if (!progress.ok || progress.value.state === "failed") return "refused"
  if (progress.value.state !== "done") return "later"
  return progress.value.isSealed ? "done" : "refused"
}

/** Groups the pieces of a transcript into parts that an import accepts. Each piece ends at the end of a line. */
function splitTranscript(items: readonly ArchiveItem[], maxBytes: number): ArchiveItem[][] {
  const parts: ArchiveItem[][] = []
  let bytes = 0
  for (const item of items) {
    if (item.header.type !== "transcript") continue
    bytes += item.bytes
    if (parts.length === 0 || bytes > maxBytes) {
      parts.push([])
      bytes = item.bytes
    }
    parts.at(-1)?.push(item)
  }
  return parts
}

/** Writes the bytes of the items to a stream. Cost: memory for one block. */
async function writeItems(
  { env, tenant, job, items, budget }: SessionSource,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const writer = writable.getWriter()
  try {
    for (const { file, start, bytes } of items) {
      if (bytes === 0) continue
      budget.requests -= 1
      const range = { offset: start, length: bytes }
      const object = await mediaBucket(env, tenant).get(stagedKey(tenant, job, file), { range })
      if (object === null) throw new Error("a file of the archive is gone")
      await writer.write(await object.bytes())
    }
    await writer.close()
  } catch (error) {
    await writer.abort(error).catch(() => {})
    throw error
  }
}
