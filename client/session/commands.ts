/**
 * commands.ts: what a reader asked the server to do, until it is done or refused.
 *
 * button, key → COMMANDS → socket (again after every hello, under the same id) → ack, error
 * Each names its target, which is where its waiting and its refusal are shown. Kept in memory: an old wish should not
 * come back with a page that was closed; an edit is words, and does. Source: SPEC SO11, SO16.
 */

import { type Signal, signal } from "@preact/signals"
import type { FaultReason } from "../../shared/fault.ts"
import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import type { MessageExtras } from "../net/outbox.ts"

export type Command = Extract<
  ClientFrame,
  { type: "cancel" | "approve" | "withdraw" | "retry" | "regenerate" | "edit" | "switch" }
>

export interface PendingCommand {
  readonly command: Command
  /** Id of the message that it is about. */
  readonly messageId: string
  /** Where its waiting and its refusal are shown: the message, or a tool call in it. */
  readonly target: string
  /** The message's words, where it takes them back. */
  readonly text?: string
  /** And what goes with them. */
  readonly extras?: MessageExtras
  /** The server has it: it is not sent again, and what it does arrives by itself. */
  readonly isAcknowledged: boolean
  /** It was asked before the page at hand was loaded, which may show already what it did, and what was done after it. */
  readonly isStale: boolean
}

/** What the server calls it in its answer. */
function getCommandId(command: Command): string {
  if (command.type === "cancel") return command.exchange_id
  return command.type === "approve" ? command.call_id : command.id
}

/** Refusals that are no news: what was wished for, or instead of it, is shown already. */
const SILENT_REFUSALS: ReadonlySet<FaultReason> = new Set<FaultReason>(["turn_ended", "call_decided"])

export class Commands {
  /** By target: at most one at a time. */
  readonly pending: Signal<ReadonlyMap<string, PendingCommand>> = signal(new Map())
  /** The server's words, by target. */
  readonly refusals: Signal<ReadonlyMap<string, string>> = signal(new Map())
  readonly #send: (command: Command) => void

  constructor(send: (command: Command) => void) {
    this.#send = send
  }

  /** Sends it, now or when the session is live again. A second one for the same target waits for the first. */
  sendCommand(
    messageId: string,
    command: Command,
    withdrawn?: { readonly text: string; readonly extras: MessageExtras },
  ): void {
    const target = command.type === "approve" ? command.call_id : messageId
    if (this.pending.peek().has(target)) return
    this.clearRefusals()
    this.#setPending({ command, messageId, target, isAcknowledged: false, isStale: false, ...withdrawn })
    this.#send(command)
  }

  /** The session is live (again): what nobody has heard goes out. */
  resendPending(): void {
    for (const { command, isAcknowledged: isHeard } of this.pending.peek().values()) if (!isHeard) this.#send(command)
  }

  /** The server has it; what was asked, or undefined where the id is none of ours. */
  acknowledgeCommand(id: string): PendingCommand | undefined {
    const pending = this.#findById(id)
    // A send has the id of its exchange: an ack with it says nothing sure about the cancel. Its end does.
    if (pending !== undefined && pending.command.type !== "cancel")
      this.#setPending({ ...pending, isAcknowledged: true })
    return pending
  }

  /** False where the id is none of ours. */
  refuseCommand(id: string, code: FaultReason, text: string): boolean {
    const pending = this.#findById(id)
    if (pending === undefined) return false
    this.forgetCommand(pending.target)
    if (!SILENT_REFUSALS.has(code)) this.refusals.value = new Map(this.refusals.peek()).set(pending.target, text)
    return true
  }

  forgetCommand(target: string): void {
    if (!this.pending.peek().has(target)) return
    const rest = new Map(this.pending.peek())
    rest.delete(target)
    this.pending.value = rest
  }

  /** What was refused is no news any more. */
  clearRefusals(): void {
    if (this.refusals.peek().size > 0) this.refusals.value = new Map()
  }

  /** A fresh page came: what was asked is older than it. */
  markAllStale(): void {
    for (const pending of this.pending.peek().values()) this.#setPending({ ...pending, isStale: true })
  }

  #setPending(pending: PendingCommand): void {
    this.pending.value = new Map(this.pending.peek()).set(pending.target, pending)
  }

  #findById(id: string): PendingCommand | undefined {
    for (const pending of this.pending.peek().values()) if (getCommandId(pending.command) === id) return pending
    return undefined
  }
}

/** Is its work seen to be done, by the message that it is about as far as there is one? Pure. */
export function isCommandDone(
  { command, target, isAcknowledged: isHeard, isStale: isOld }: PendingCommand,
  message: WireMessage | undefined,
): boolean {
  // Its end may be told under the id of a send; all others are done once heard, and seen.
  if (command.type === "cancel") return message === undefined || isEnded(message.status)
  if (!isHeard || isOld) return isHeard
  if (command.type !== "approve") return message === undefined
  const call = message?.segments.find((segment) => segment.type === "tool" && segment.call_id === target)
  return call?.type !== "tool" || call.status !== "waiting"
}
