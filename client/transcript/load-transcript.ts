/**
 * load-transcript.ts: loads the code that renders transcripts, when a session is opened or the page is idle.
 *
 * The first view needs neither Markdown nor cards. The code loads in parallel with the first page of history.
 */

import { type Signal, signal } from "@preact/signals"

export type TranscriptModule = typeof import("./transcript.tsx")

/** Null until the code is loaded; "failed" if it can't be. If the page is online then, a newer version has replaced it. */
export const transcriptModule: Signal<TranscriptModule | null | "failed"> = signal(null)

let isRequested = false

export function loadTranscript(): void {
  if (isRequested) return
  isRequested = true
  import("./transcript.tsx").then(
    (module) => {
      transcriptModule.value = module
    },
    () => {
      isRequested = false
      transcriptModule.value = "failed"
    },
  )
}
