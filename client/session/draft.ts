/**
 * draft.ts: what somebody is writing in a session and has not sent.
 *
 * composer, editor → DRAFT → composer, editor
 * Kept outside the components: they go with a change of session or of version, and the words do not. Source: SPEC PG27.
 */

import { type Signal, signal } from "@preact/signals"
import { parseAssetUrl } from "../../shared/protocol/asset-url.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { AttachmentUploads } from "../files/attachment-uploads.ts"
import { type MessageExtras, pickExtras } from "../net/outbox.ts"

export class Draft {
  /** In the composer. */
  readonly text: Signal<string> = signal("")
  /** What goes with them. */
  readonly attachments = new AttachmentUploads()
  /** The message that they reply to. */
  readonly replyTo: Signal<string | null> = signal(null)
  /** In the editors that are open, by message. */
  readonly editTexts = new Map<string, string>()

  /** Words that lost their place go on in the composer, after what stands there. */
  restoreText(text: string, { reply_to, attachments = [] }: MessageExtras = {}): void {
    const current = this.text.peek()
    if (text !== "") this.text.value = current.trim() === "" ? text : `${current}\n${text}`
    this.attachments.restoreAssets(attachments)
    if (reply_to !== undefined) this.replyTo.value ??= reply_to
  }

  /** It is said: what goes with the words, which are taken elsewhere. */
  takeExtras(): MessageExtras {
    const reply_to = this.replyTo.peek()
    this.replyTo.value = null
    return pickExtras({ reply_to, attachments: this.attachments.takeAssets() })
  }
}

/** What goes with the words of a message, as it stands in its segments. */
export function extractExtras({ reply_to, segments }: WireMessage): MessageExtras {
  const attachments = segments.flatMap((segment): Asset[] => {
    const id = segment.type === "media" ? parseAssetUrl(segment.url) : null
    if (segment.type !== "media" || id === null) return []
    const { kind, label, mime_type = "", size = 0, voice, width, height } = segment
    const dimensions = width === undefined || height === undefined ? {} : { width, height }
    return [{ id, kind, label, mime_type, size, ...(voice === true ? { voice } : {}), ...dimensions }]
  })
  return pickExtras({ ...(reply_to === undefined ? {} : { reply_to }), attachments })
}
