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
import type { PageSettings, SignResponse } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { PendingCommand } from "../session/commands.ts"
import type { LinkState } from "../net/socket-link.ts"
import type { ActiveTurn } from "../session/transcript-store.ts"

export interface TranscriptRequests {
  /** By message or tool call. */
  readonly commands: {
    readonly pending: ReadonlySignal<ReadonlyMap<string, PendingCommand>>
    readonly refusals: ReadonlySignal<ReadonlyMap<string, string>>
  }
  readonly store: {
    readonly activeTurn: ReadonlySignal<ActiveTurn | null>
    readonly lastAnswerId: ReadonlySignal<string | null>
    readonly messageIds: ReadonlySignal<readonly string[]>
    getMessageSignal(id: string): ReadonlySignal<WireMessage> | undefined
  }
  readonly link: ReadonlySignal<LinkState>
  readonly draft: { readonly editTexts: Map<string, string>; readonly replyTo: Signal<string | null> }
  /** What the tenant allows its transcripts to load. */
  readonly settings: ReadonlySignal<PageSettings>
  /** Where media can be fetched for now. */
  signUrls(urls: readonly string[]): Promise<SignResponse>
  decideApproval(messageId: string, call_id: string, decision: "allow" | "deny"): void
  withdrawMessage(messageId: string): void
  regenerateAnswer(messageId: string): void
  retryAnswer(messageId: string): void
  editMessage(messageId: string, content: string): void
  cancelEdit(messageId: string): boolean
  /** Loads what lies before the page until this message is there; false where it is not. */
  loadUntilMessage(id: string): Promise<boolean>
  switchVersion(messageId: string, version: number): void
}

export const TranscriptRequestsContext = createContext<TranscriptRequests | null>(null)

export function useTranscriptRequests(): TranscriptRequests | null {
  return useContext(TranscriptRequestsContext)
}
