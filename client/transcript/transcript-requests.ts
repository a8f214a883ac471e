/**
 * transcript-requests.ts: what a reader can ask for inside a transcript, and how far that is.
 *
 * room → ASKING → buttons
 * A context, so that a button deep in a message needs no way through every component above it. Without one (a share
 * view, a fixture) there is nothing to ask, and no button is drawn.
 */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { PageSettings, SignAnswer } from "../../shared/protocol/asset.ts"
import type { WireMessage } from "../../shared/protocol/frame.ts"
import type { Asked } from "../session/commands.ts"
import type { LinkState } from "../net/socket-link.ts"
import type { Turn } from "../session/transcript-store.ts"

export interface Asking {
  /** By message or tool call. */
  readonly commands: {
    readonly asked: ReadonlySignal<ReadonlyMap<string, Asked>>
    readonly refusals: ReadonlySignal<ReadonlyMap<string, string>>
  }
  readonly store: {
    readonly turn: ReadonlySignal<Turn | null>
    readonly lastAnswer: ReadonlySignal<string | null>
    readonly order: ReadonlySignal<readonly string[]>
    message(id: string): ReadonlySignal<WireMessage> | undefined
  }
  readonly link: ReadonlySignal<LinkState>
  readonly draft: { readonly edits: Map<string, string>; readonly reply: Signal<string | null> }
  /** What the tenant allows its transcripts to load. */
  readonly settings: ReadonlySignal<PageSettings>
  /** Where media can be fetched for now. */
  sign(urls: readonly string[]): Promise<SignAnswer>
  approve(message: string, call_id: string, decision: "allow" | "deny"): void
  withdraw(message: string): void
  regenerate(message: string): void
  retry(message: string): void
  edit(message: string, content: string): void
  giveUpEdit(message: string): boolean
  /** Loads what lies before the page until this message is there; false where it is not. */
  fetchMessage(id: string): Promise<boolean>
  switchTo(message: string, version: number): void
}

export const AskingContext = createContext<Asking | null>(null)

export function useAsking(): Asking | null {
  return useContext(AskingContext)
}
