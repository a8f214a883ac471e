/**
 * transcript-requests.ts: the requests that a user can make inside a transcript, and their state.
 *
 * A context, so that a button deep inside a message needs no props from every component above it. Without it, as in a
 * test fixture, the transcript has no buttons.
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
  /** The session, as the page's address names it. */
  readonly id: string
  /** By the id of a message or tool call. */
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
  /** True if nothing can be changed. Then no button changes anything. */
  readonly isReadOnly: ReadonlySignal<boolean>
  readonly draft: { readonly editTexts: Map<string, string>; readonly replyTo: Signal<string | null> }
  /** The hosts and origins that the tenant allows. */
  readonly settings: ReadonlySignal<PageSettings>
  /** Signed addresses for stored media and for proxied remote media. */
  signUrls(urls: readonly string[]): Promise<SignResponse>
  decideApproval(messageId: string, call_id: string, decision: "allow" | "deny"): void
  withdrawMessage(messageId: string): void
  regenerateAnswer(messageId: string): void
  retryAnswer(messageId: string): void
  editMessage(messageId: string, content: string): void
  cancelEdit(messageId: string): boolean
  /** Loads older pages until they include this message. False if it isn't found. */
  loadUntilMessage(id: string): Promise<boolean>
  switchVersion(messageId: string, version: number): void
}

export const TranscriptRequestsContext = createContext<TranscriptRequests | null>(null)

export function useTranscriptRequests(): TranscriptRequests | null {
  return useContext(TranscriptRequestsContext)
}

/** Null where nothing can be changed. */
export function useChangeRequests(): TranscriptRequests | null {
  const requests = useTranscriptRequests()
  return requests?.isReadOnly.value === false ? requests : null
}
