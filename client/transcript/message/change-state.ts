/** change-state.ts: determines whether an answer is the last one, and whether a message can be changed now. */

import { useComputed } from "@preact/signals"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import { focusRequests } from "../../ui/focus.ts"
import type { TranscriptRequests } from "../transcript-requests.ts"

/**
 * Returns whether a message's actions are disabled because an answer is running or a command for the message is
 * pending.
 */
export function useIsDisabled(requests: TranscriptRequests | null, id: string): boolean {
  return useComputed(
    () => requests !== null && (requests.store.activeTurn.value !== null || requests.commands.pending.value.has(id)),
  ).value
}

export function useIsLastAnswer(requests: TranscriptRequests | null, id: string): boolean {
  return useComputed(() => requests?.store.lastAnswerId.value === id).value
}

/**
 * Requests a new version of an answer. The button disappears together with the current version, so the focus moves to
 * the composer.
 */
export function regenerateAndFocus(requests: TranscriptRequests, id: string): void {
  requests.regenerateAnswer(id)
  focusRequests.value++
}

/** Returns whether an external producer wrote the answer. Such an answer can't be regenerated. */
export function isFromProducer({ mode }: WireMessage): boolean {
  return mode === "external"
}
