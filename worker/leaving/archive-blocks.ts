/**
 * archive-blocks.ts: the blocks of an archive's files. A block is a header (a line of JSON), followed by as many bytes
 * as its `bytes` field says.
 *
 * A session's blocks are between its `session` and its `session_end` block. An export that was interrupted writes a
 * session again, so a later `session` block with the same key replaces the earlier session, and a session without an
 * end is ignored.
 */

import { isJsonObject, parseJson } from "../../shared/json.ts"
import type { SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"
import type { DirectoryEntry } from "../platform/rpc/directory-rpc.ts"
import type { AskLink, AssetEntry, StoredSession } from "../platform/rpc/session-types.ts"
import type { TenantUser } from "../settings/tenant-rpc.ts"
import type { TenantConfig } from "./leaving-host.ts"

interface InSession {
  readonly user: string
  readonly session: string
}

export type BlockHeader =
  | { readonly type: "config"; readonly config: TenantConfig }
  | { readonly type: "user"; readonly about: TenantUser }
  /** A saved prompt of the user. */
  | { readonly type: "prompt"; readonly user: string; readonly prompt: SavedPrompt }
  /** `listed` is null for an agent's session, which is not in the user's list. */
  | (InSession & {
      readonly type: "session"
      readonly about: Omit<StoredSession, "asks">
      readonly listed: DirectoryEntry | null
    })
  | (InSession & { readonly type: "asks"; readonly asks: readonly AskLink[] })
  /** Whole lines of the session's export. */
  | (InSession & { readonly type: "transcript" })
  /** The bytes of an asset from an offset. An empty asset has one block. */
  | (InSession & { readonly type: "asset"; readonly entry: AssetEntry; readonly offset: number })
  | (InSession & { readonly type: "session_end" })

/** A block of a file in memory. `start` is the index of the first byte after its header. */
export interface Block {
  readonly header: BlockHeader
  readonly start: number
  readonly bytes: number
}

/** Size at which a block is closed, in bytes. */
export const BLOCK_BYTES = 512 * 1024

/** Maximum number of questions per `asks` block. */
export const ASKS_PER_BLOCK = 500

const NEWLINE = 0x0a
const NO_BYTES = new Uint8Array()

export function writeBlock(header: BlockHeader, payload: Uint8Array = NO_BYTES): Uint8Array[] {
  const line = new TextEncoder().encode(`${JSON.stringify({ ...header, bytes: payload.byteLength })}\n`)
  return payload.byteLength === 0 ? [line] : [line, payload, Uint8Array.of(NEWLINE)]
}

/** Reads the blocks of a file. Yields null and ends at anything that is not a block. */
export function* readBlocks(file: Uint8Array): Generator<Block | null> {
  let at = 0
  while (at < file.byteLength) {
    const end = file.indexOf(NEWLINE, at)
    const json = end < 0 ? undefined : parseJson(new TextDecoder().decode(file.subarray(at, end)))
    if (!isJsonObject(json)) return yield null
    const { bytes, ...header } = json
    const isComplete = typeof bytes === "number" && bytes >= 0 && end + bytes < file.byteLength
    if (!isComplete || (bytes > 0 && file[end + 1 + bytes] !== NEWLINE)) return yield null
    // The archive's seal was verified, so an export wrote this header.
    yield { header: header as unknown as BlockHeader, start: end + 1, bytes }
    at = end + 1 + (bytes === 0 ? 0 : bytes + 1)
  }
}

/**
 * Cuts a stream of lines into pieces of about BLOCK_BYTES. Each piece ends at a line break. Cost: memory for one piece.
 */
export async function* cutAtLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    const cut = size + chunk.byteLength < BLOCK_BYTES ? -1 : chunk.lastIndexOf(NEWLINE)
    if (cut >= 0) {
      yield await joinBytes([...pending, chunk.subarray(0, cut + 1)])
      pending = []
      size = 0
    }
    // The rest is copied, because the buffer of a chunk may be reused.
    const rest = chunk.slice(cut + 1)
    pending.push(rest)
    size += rest.byteLength
  }
  if (size > 0) yield await joinBytes(pending)
}

/** Cuts a stream into pieces of at least BLOCK_BYTES. Cost: memory for one piece. */
export async function* cutAnywhere(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    pending.push(chunk.slice())
    size += chunk.byteLength
    if (size < BLOCK_BYTES) continue
    yield await joinBytes(pending)
    pending = []
    size = 0
  }
  if (size > 0) yield await joinBytes(pending)
}

export async function joinBytes(chunks: readonly Uint8Array[]): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await new Blob([...chunks]).arrayBuffer())
}
