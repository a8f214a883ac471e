/**
 * save-options.ts: the interface through which a tool stores the bytes that it generated. The interface uses no
 * platform types.
 */

import type { Result } from "../../shared/fault.ts"
import type { Asset } from "../../shared/protocol/event.ts"

/** A tool's description of the bytes that it generated. The type is detected from the bytes. */
export interface SaveOptions {
  /** A title for the user. */
  readonly label: string
  readonly mime_type: string
  readonly voice?: true
  /** `canvas` stores an HTML document. With the type APP_MIME_TYPE, the document is an MCP App. */
  readonly kind?: "canvas"
}

/**
 * Stores bytes as an asset of the session. A line `MEDIA:/media/<id>` in the trailer shows the asset in the answer. The
 * session keeps the assets of an interrupted call.
 *
 * Errors: `asset_type_refused`, `asset_too_large`, and those of `storeAsset`.
 */
export type SaveAsset = (bytes: Uint8Array, as: SaveOptions) => Promise<Result<Asset>>
