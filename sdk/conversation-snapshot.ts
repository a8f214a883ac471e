/** conversation-snapshot.ts: the state of an open session as one immutable object. */

import { computed, type ReadonlySignal } from "@preact/signals"
import type { OutboxEntry } from "../client/net/outbox.ts"
import type { FaultReason } from "../shared/fault.ts"
import { CuecardError, toCuecardError } from "./client-error.ts"
import type { ConversationSnapshot, UnsentMessage } from "./client-types.ts"
import type { SharedController } from "./open-sessions.ts"

/** Creates the signal of the state. Each change takes time proportional to the number of loaded messages. */
export function createSnapshot(controller: SharedController): ReadonlySignal<ConversationSnapshot> {
  const { store, outbox, commands } = controller
  const { hold } = controller.api
  const messages = computed(() => store.messageIds.value.flatMap((id) => store.getMessageSignal(id)?.value ?? []))
  const unsent = computed(() => outbox.entries.value.map(toUnsentMessage))
  const pending = computed(() => new Set(commands.pending.value.keys()))
  const error = computed(() =>
    controller.loadError.value === null ? null : toCuecardError(controller.loadError.value),
  )
  return computed(() => ({
    messages: messages.value,
    unsent: unsent.value,
    connection: controller.link.value,
    isLoaded: controller.isLoaded.value,
    isBusy: store.isBusy.value,
    activeAnswer: store.activeTurn.value?.id ?? null,
    isReadOnly: controller.isReadOnly.value,
    hasOlder: store.hasOlder.value,
    isLoadingOlder: controller.history.isLoading.value,
    pending: pending.value,
    error: error.value,
    waitingText: hold.text.value,
  }))
}

function toUnsentMessage(entry: OutboxEntry): UnsentMessage {
  const { id, content, at, reply_to: replyTo = null, attachments = [] } = entry
  return { id, content, at, replyTo, attachments, error: readRefusal(entry) }
}

/** Returns why the server refused a message; null if it didn't. */
export function readRefusal({ code, fields, error }: OutboxEntry): CuecardError | null {
  // Stored rows were written by this package, so their code is one of the server's.
  return error === null
    ? null
    : new CuecardError((code ?? "http_error") as FaultReason | "http_error", error, { fields })
}
