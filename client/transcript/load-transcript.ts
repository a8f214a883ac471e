/**
 * load-transcript.ts: loads the code that renders transcripts, when a session is opened or the page is idle.
 *
 * The initial render needs neither Markdown nor cards. The code loads in parallel with the first page of history.
 */

import { type Signal, signal } from "@preact/signals"
import type { Segment } from "../../shared/protocol/segment.ts"
import { deferModule } from "../ui/deferred-module.ts"

export type TranscriptModule = typeof import("./transcript.tsx")

/**
 * Null until the code is loaded; "failed" if it can't be loaded. If the page is online, a failure means that a newer
 * version has replaced the code.
 */
export const transcriptModule: Signal<TranscriptModule | null | "failed"> = signal(null)

/**
 * The code for reading positions, loaded after the transcript: a conversation has no reading position before it has
 * been shown.
 */
export const readingPlace = deferModule(() => import("../ui/reading-place.ts"))

/** Returns the text of an answer, for the announcer. Resolves with "" while the code isn't loaded. */
export async function getSpokenText(segments: readonly Segment[]): Promise<string> {
  const code = transcriptModule.peek()
  return code === null || code === "failed" ? "" : await code.readSpokenText(segments)
}

let isRequested = false

export function loadTranscript(): void {
  if (isRequested) return
  isRequested = true
  import("./transcript.tsx").then(
    (module) => {
      transcriptModule.value = module
      void readingPlace.load()
    },
    () => {
      isRequested = false
      transcriptModule.value = "failed"
    },
  )
}
