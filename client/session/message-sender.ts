/**
 * message-sender.ts: sends the messages in the outbox one at a time.
 *
 * A message is sent once the server has accepted the previous one, so that messages keep their order even if one of
 * them must wait for room in the server's queue. Source: SPEC SO6, SO14.
 */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import { type Outbox, type OutboxEntry, toSendFrame } from "../net/outbox.ts"

export class MessageSender {
  readonly #outbox: Outbox
  /** Sends a frame. Returns false if the session isn't live. */
  readonly #send: (frame: ClientFrame) => boolean
  /** The message that has been sent but not acknowledged. */
  #sendingId: string | null = null
  /**
   * Whether nothing is sent for now, because the server's queue is full or the session is read-only. Reset when that
   * may have changed.
   */
  #isHeld = false

  constructor(outbox: Outbox, send: (frame: ClientFrame) => boolean) {
    this.#outbox = outbox
    this.#send = send
  }

  sendNext(): void {
    const next = this.#outbox.listPending()[0]
    if (next === undefined || next.id === this.#sendingId || this.#isHeld) return
    if (this.#send(toSendFrame(next))) this.#sendingId = next.id
  }

  /** Sends unacknowledged messages again. Called when the session is live again. */
  restart(): void {
    this.#sendingId = null
    this.#isHeld = false
    this.sendNext()
  }

  /** Called when the server's queue may have room again. */
  markQueueMoved(): void {
    this.#isHeld = false
  }

  /** Handles a refused message. A full queue or a read-only tenant only delays the message. */
  handleRefusal(id: string, text: string, refusal: Pick<OutboxEntry, "code" | "fields" | "trace">): void {
    const { code } = refusal
    if ((code === "queue_full" || code === "scope_denied") && this.#sendingId === id) this.#isHeld = true
    else this.#outbox.markFailed(id, text, refusal)
    if (this.#sendingId === id) this.#sendingId = null
    this.sendNext()
  }
}
