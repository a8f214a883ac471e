/** message-extras.ts: extracts the attachments and the reply reference of a message that the server has. */

import { parseAssetUrl } from "../../shared/protocol/asset-url.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { type MessageExtras, pickExtras } from "./outbox.ts"

/** Returns the message's attachments, which are read from its segments, and its reply reference. */
export function extractExtras({ reply_to, segments }: WireMessage): MessageExtras {
  const attachments = segments.flatMap((segment): Asset[] => {
    const id = segment.type === "media" ? parseAssetUrl(segment.url) : null
    if (segment.type !== "media" || id === null) return []
    const { kind, label, mime_type = "", size = 0, voice, width, height } = segment
    return [{ id, kind, label, mime_type, size, ...(voice && { voice }), ...(width && height && { width, height }) }]
  })
  return pickExtras({ reply_to, attachments })
}
