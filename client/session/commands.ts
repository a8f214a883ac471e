/**
 * commands.ts: the user's pending commands to the server, such as stop and regenerate.
 *
 * button, key → COMMANDS → socket (again after every hello, under the same id) → ack, error
 * A command's target shows whether the command is pending or was refused. Commands are kept in memory only, so that a
 * reload doesn't repeat an old command. Edits contain text, so they are also stored (pending-edits.ts). Source: SPEC
 * SO11, SO16.
 */

import { type Signal, signal } from "@preact/signals"
import type { FaultFields, FaultReason } from "../../shared/fault.ts"
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
  /** The id of the message that the command changes. */
  readonly messageId: string
  /** The id of the element that shows the command's state: the message, or a tool call in the message. */
  readonly target: string
  /** The text of the message being withdrawn. */
  readonly text?: string
  /** The attachments and reply reference of the message being withdrawn. */
  readonly extras?: MessageExtras
  /** Whether the server has the command. If so, it is not sent again, and its effect arrives as frames. */
  readonly isAcknowledged: boolean
  /**
   * Whether the command was sent before the current history was loaded. If so, the history may already show its effect.
   */
  readonly isStale: boolean
}

/** The reason why the server refused a command. */
export interface Refusal {
  readonly code: FaultReason
  readonly text: string
  /** The values that the text contains. */
  readonly fields?: FaultFields | undefined
}

/** Returns the id that the server's ack or error for the command contains. */
function getCommandId(command: Command): string {
  if (command.type === "cancel") return command.exchange_id
  return command.type === "approve" ? command.call_id : command.id
}

/** Refusals that need no message, because the transcript already shows the outcome. */
const SILENT_REFUSALS: ReadonlySet<FaultReason> = new Set<FaultReason>(["turn_ended", "call_decided"])

export class Commands {
  /** The pending commands by target. Each target has at most one. */
  readonly pending: Signal<ReadonlyMap<string, PendingCommand>> = signal(new Map())
  /** The server's messages about refused commands, by target. */
  readonly refusals: Signal<ReadonlyMap<string, string>> = signal(new Map())
  /** The newest refusal of each target, shown or not. */
  readonly lastRefusals = new Map<string, Refusal>()
  readonly #send: (command: Command) => void

  constructor(send: (command: Command) => void) {
    this.#send = send
  }

  /**
   * Sends a command, now or when the session is live again. Does nothing while another command is pending for the same
   * target.
   */
  sendCommand(
    messageId: string,
    command: Command,
    withdrawn?: { readonly text: string; readonly extras: MessageExtras },
  ): void {
    const target = command.type === "approve" ? command.call_id : messageId
    if (this.pending.peek().has(target)) return
    this.clearRefusals()
    this.lastRefusals.delete(target)
    this.#setPending({ command, messageId, target, isAcknowledged: false, isStale: false, ...withdrawn })
    this.#send(command)
  }

  /** Resends the commands that have not been acknowledged. Called when the session is live. */
  resendPending(): void {
    for (const { command, isAcknowledged } of this.pending.peek().values()) if (!isAcknowledged) this.#send(command)
  }

  /** Records an acknowledgment and returns its command; undefined if the id belongs to no command. */
  acknowledgeCommand(id: string): PendingCommand | undefined {
    const pending = this.#findById(id)
    // A cancel has the same id as the message that began its exchange, so the ack may be for that message.
    if (pending !== undefined && pending.command.type !== "cancel")
      this.#setPending({ ...pending, isAcknowledged: true })
    return pending
  }

  /** Records a refusal. Returns false if the id belongs to no command. */
  refuseCommand(id: string, code: FaultReason, text: string, fields?: FaultFields): boolean {
    const pending = this.#findById(id)
    if (pending === undefined) return false
    this.lastRefusals.set(pending.target, { code, text, fields })
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

  /** Hides the messages about earlier refusals. */
  clearRefusals(): void {
    if (this.refusals.peek().size > 0) this.refusals.value = new Map()
  }

  /** Called when new history has been loaded, which may already show the effects of the pending commands. */
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

/**
 * Returns whether the command's message shows that the command is done. `message` is undefined if it isn't loaded.
 * Pure.
 */
export function isCommandDone(
  { command, target, isAcknowledged, isStale }: PendingCommand,
  message: WireMessage | undefined,
): boolean {
  // The ack of a cancel is ambiguous (see acknowledgeCommand), so only the message's status is checked.
  if (command.type === "cancel") return message === undefined || isEnded(message.status)
  if (!isAcknowledged || isStale) return isAcknowledged
  if (command.type !== "approve") return message === undefined
  const call = message?.segments.find((segment) => segment.type === "tool" && segment.call_id === target)
  return call?.type !== "tool" || call.status !== "waiting"
}
