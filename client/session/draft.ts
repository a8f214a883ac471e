/**
 * draft.ts: what somebody is writing in a session and has not sent.
 *
 * composer, editor → DRAFT → composer, editor
 * Kept outside the components: they go with a change of session or of version, and the words do not. Source: SPEC PG27.
 */

import { type Signal, signal } from "@preact/signals"
import type { Asset } from "../../shared/protocol/event.ts"
import type { WireMessage } from "../../shared/protocol/frame.ts"
import { Files } from "../files/attachment-uploads.ts"
import { isOwn } from "../files/remote-media.ts"
import { type Beside, besideOf } from "../net/outbox.ts"

export class Draft {
  /** In the composer. */
  readonly words: Signal<string> = signal("")
  /** What goes with them. */
  readonly files = new Files()
  /** The message that they reply to. */
  readonly reply: Signal<string | null> = signal(null)
  /** In the editors that are open, by message. */
  readonly edits = new Map<string, string>()

  /** Words that lost their place go on in the composer, after what stands there. */
  giveBack(words: string, { reply_to, attachments = [] }: Beside = {}): void {
    const now = this.words.peek()
    if (words !== "") this.words.value = now.trim() === "" ? words : `${now}\n${words}`
    this.files.giveBack(attachments)
    if (reply_to !== undefined) this.reply.value ??= reply_to
  }

  /** It is said: what goes with the words, which are taken elsewhere. */
  takeBeside(): Beside {
    const reply_to = this.reply.peek()
    this.reply.value = null
    return besideOf({ reply_to, attachments: this.files.take() })
  }
}

/** What goes with the words of a message, as it stands in its segments. */
export function besideIn({ reply_to, segments }: WireMessage): Beside {
  const attachments = segments.flatMap((segment): Asset[] => {
    if (segment.type !== "media" || !isOwn(segment.url)) return []
    const { url, kind, label, mime_type = "", size = 0, voice, width, height } = segment
    const id = url.slice(url.lastIndexOf("/") + 1)
    const extent = width === undefined || height === undefined ? {} : { width, height }
    return [{ id, kind, label, mime_type, size, ...(voice === true ? { voice } : {}), ...extent }]
  })
  return besideOf({ ...(reply_to === undefined ? {} : { reply_to }), attachments })
}
