/**
 * commands.ts: what a reader asked the server to do, until it is done or refused.
 *
 * button, key → COMMANDS → socket (again after every hello, under the same id) → ack, error
 * Each names its target, which is where its waiting and its refusal are shown. Kept in memory: an old wish should not
 * come back with a page that was closed; an edit is words, and does. Source: SPEC SO11.
 */

import { type Signal, signal } from "@preact/signals"
import type { FaultReason } from "../../shared/fault.ts"
import type { ClientFrame, WireMessage } from "../../shared/protocol/frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import type { Beside } from "../net/outbox.ts"

export type Command = Extract<
  ClientFrame,
  { type: "cancel" | "approve" | "withdraw" | "retry" | "regenerate" | "edit" | "switch" }
>

export interface Asked {
  readonly command: Command
  /** Id of the message that it is about. */
  readonly message: string
  /** Where its waiting and its refusal are shown: the message, or a tool call in it. */
  readonly target: string
  /** The message's words, where it takes them back. */
  readonly words?: string
  /** And what goes with them. */
  readonly beside?: Beside
  /** The server has it: it is not sent again, and what it does arrives by itself. */
  readonly isHeard: boolean
  /** It was asked before the page at hand was loaded, which may show already what it did, and what was done after it. */
  readonly isOld: boolean
}

/** What the server calls it in its answer. */
function idOf(command: Command): string {
  if (command.type === "cancel") return command.exchange_id
  return command.type === "approve" ? command.call_id : command.id
}

/** Refusals that are no news: what was wished for, or instead of it, is shown already. */
const QUIET: ReadonlySet<FaultReason> = new Set<FaultReason>(["turn_ended", "call_decided"])

export class Commands {
  /** By target: at most one at a time. */
  readonly asked: Signal<ReadonlyMap<string, Asked>> = signal(new Map())
  /** The server's words, by target. */
  readonly refusals: Signal<ReadonlyMap<string, string>> = signal(new Map())
  readonly #send: (command: Command) => void

  constructor(send: (command: Command) => void) {
    this.#send = send
  }

  /** Sends it, now or when the session is live again. A second one for the same target waits for the first. */
  ask(message: string, command: Command, taken?: { readonly words: string; readonly beside: Beside }): void {
    const target = command.type === "approve" ? command.call_id : message
    if (this.asked.peek().has(target)) return
    this.calm()
    this.#keep({ command, message, target, isHeard: false, isOld: false, ...taken })
    this.#send(command)
  }

  /** The session is live (again): what nobody has heard goes out. */
  sendAgain(): void {
    for (const { command, isHeard } of this.asked.peek().values()) if (!isHeard) this.#send(command)
  }

  /** The server has it; what was asked, or undefined where the id is none of ours. */
  acknowledge(id: string): Asked | undefined {
    const asked = this.#find(id)
    // A send has the id of its exchange: an ack with it says nothing sure about the cancel. Its end does.
    if (asked !== undefined && asked.command.type !== "cancel") this.#keep({ ...asked, isHeard: true })
    return asked
  }

  /** False where the id is none of ours. */
  refuse(id: string, code: FaultReason, text: string): boolean {
    const asked = this.#find(id)
    if (asked === undefined) return false
    this.forget(asked.target)
    if (!QUIET.has(code)) this.refusals.value = new Map(this.refusals.peek()).set(asked.target, text)
    return true
  }

  forget(target: string): void {
    if (!this.asked.peek().has(target)) return
    const rest = new Map(this.asked.peek())
    rest.delete(target)
    this.asked.value = rest
  }

  /** What was refused is no news any more. */
  calm(): void {
    if (this.refusals.peek().size > 0) this.refusals.value = new Map()
  }

  /** A fresh page came: what was asked is older than it. */
  age(): void {
    for (const asked of this.asked.peek().values()) this.#keep({ ...asked, isOld: true })
  }

  #keep(asked: Asked): void {
    this.asked.value = new Map(this.asked.peek()).set(asked.target, asked)
  }

  #find(id: string): Asked | undefined {
    for (const asked of this.asked.peek().values()) if (idOf(asked.command) === id) return asked
    return undefined
  }
}

/** Is its work seen to be done, by the message that it is about as far as there is one? Pure. */
export function isDone({ command, target, isHeard, isOld }: Asked, about: WireMessage | undefined): boolean {
  // Its end may be told under the id of a send; all others are done once heard, and seen.
  if (command.type === "cancel") return about === undefined || isEnded(about.status)
  if (!isHeard || isOld) return isHeard
  if (command.type !== "approve") return about === undefined
  const call = about?.segments.find((segment) => segment.type === "tool" && segment.call_id === target)
  return call?.type !== "tool" || call.status !== "waiting"
}
