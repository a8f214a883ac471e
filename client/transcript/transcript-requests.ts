/**
 * transcript-requests.ts: the context with the requests that a user can make inside a transcript, and their state.
 *
 * With a context, the components above a button need not pass props down to the button. If the context has no value, as
 * in a test fixture, the transcript has no buttons.
 */

import type { ReadonlySignal, Signal } from "@preact/signals"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import type { Api } from "../net/api.ts"
import type { MessageExtras, OutboxEntry } from "../net/outbox.ts"
import type { PendingCommand } from "../session/commands.ts"
import type { MediaRequests } from "../media/loading/media-context.ts"
import type { ActiveTurn } from "../session/transcript-store.ts"

export interface TranscriptRequests extends MediaRequests {
  /** The session, as named in the page's URL. */
  readonly id: string
  /** The state of commands, by the id of the message or tool call. */
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
  /** Absent in a test. */
  readonly api?: Api
  /** Whether nothing can be changed. If so, the buttons that would change something are left out. */
  readonly isReadOnly: ReadonlySignal<boolean>
  readonly draft: { readonly editTexts: Map<string, string>; readonly replyTo: Signal<string | null> }
  /** Messages that the server does not have yet. Absent where nothing can be sent. */
  readonly outbox?: { readonly entries: ReadonlySignal<readonly OutboxEntry[]> }
  /** Absent where nothing can be sent, as in a shared copy. */
  sendMessage?(content: string, extras?: MessageExtras): void
  decideApproval(messageId: string, call_id: string, decision: "allow" | "deny"): void
  withdrawMessage(messageId: string): void
  regenerateAnswer(messageId: string): void
  retryAnswer(messageId: string): void
  editMessage(messageId: string, content: string): void
  cancelEdit(messageId: string): boolean
  /** A message to scroll to. Set to null when the scrolling begins. */
  readonly targetId?: Signal<string | null>
  /** Shows this message, loading it if necessary. Resolves with false if the message isn't found. */
  loadUntilMessage(id: string): Promise<boolean>
  switchVersion(messageId: string, version: number): void
}

/** A function that scrolls to a message. Resolves with false if the message can't be found. */
export const JumpContext = createContext<((id: string) => Promise<boolean>) | null>(null)

export const TranscriptRequestsContext = createContext<TranscriptRequests | null>(null)

export function useTranscriptRequests(): TranscriptRequests | null {
  return useContext(TranscriptRequestsContext)
}

/** Returns null where nothing can be changed. */
export function useChangeRequests(): TranscriptRequests | null {
  const requests = useTranscriptRequests()
  return requests?.isReadOnly.value === false ? requests : null
}
