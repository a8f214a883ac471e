/** reader-requests.ts: the requests of a transcript whose reader can't change anything. */

import { signal } from "@preact/signals"
import type { TranscriptStore } from "../session/transcript-store.ts"
import type { TranscriptRequests } from "../transcript/transcript-requests.ts"

/** Returns what a reader can request: file links, and jumps to messages that are loaded. */
export function createReaderRequests(
  store: TranscriptStore,
  signUrls: TranscriptRequests["signUrls"],
): TranscriptRequests {
  const nothing = (): void => {}
  return {
    id: "",
    commands: { pending: signal(new Map()), refusals: signal(new Map()) },
    store,
    link: signal("live"),
    isReadOnly: signal(true),
    draft: { editTexts: new Map(), replyTo: signal(null) },
    settings: signal({ media_hosts: [], embed_origins: [] }),
    signUrls,
    decideApproval: nothing,
    withdrawMessage: nothing,
    regenerateAnswer: nothing,
    retryAnswer: nothing,
    editMessage: nothing,
    cancelEdit: () => false,
    loadUntilMessage: async (id) => store.messageIds.peek().includes(id),
    switchVersion: nothing,
  }
}
