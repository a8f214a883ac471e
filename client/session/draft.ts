/**
 * draft.ts: the message that the user is writing: its text, attachments and reply reference, and the text in open
 * editors.
 *
 * composer, editor → DRAFT → composer, editor
 * A draft is kept outside the components, because these unmount when the session or the shown message version changes.
 * stored-drafts.ts stores it. Source: SPEC PG27.
 */

import { type Signal, signal } from "@preact/signals"
import type { EffortChoice } from "../../shared/model-effort.ts"
import { AttachmentUploads } from "../files/attachment-uploads.ts"
import { type MessageExtras, pickExtras } from "../net/outbox.ts"

export class Draft {
  /** The composer's text. */
  readonly text: Signal<string> = signal("")
  readonly attachments = new AttachmentUploads()
  /** The id of the message being replied to. */
  readonly replyTo: Signal<string | null> = signal(null)
  /** How much the model thinks about the next messages. Null if the agent's own setting applies. */
  readonly effort: Signal<EffortChoice | null> = signal(null)
  /** The text of open message editors, by message id. */
  readonly editTexts = new Map<string, string>()

  /** Appends a withdrawn message, or the text of an editor that was removed, to the composer. */
  restoreText(text: string, { reply_to, attachments = [] }: MessageExtras = {}): void {
    const current = this.text.peek()
    if (text !== "") this.text.value = current.trim() === "" ? text : `${current}\n${text}`
    this.attachments.restoreAssets(attachments)
    if (reply_to !== undefined) this.replyTo.value ??= reply_to
  }

  /** Empties the composer. Open editors keep their text. */
  clear(): void {
    this.text.value = ""
    this.replyTo.value = null
    this.attachments.removeAll()
  }

  /** Removes and returns the attachments and the reply reference of a message that is being sent. */
  takeExtras(): MessageExtras {
    const reply_to = this.replyTo.peek()
    this.replyTo.value = null
    return pickExtras({ reply_to, attachments: this.attachments.takeAssets(), effort: this.effort.peek() })
  }
}
