/**
 * load-transcript.ts: the transcript's code, fetched when a session is opened or the page has nothing better to do.
 *
 * The first view needs no Markdown and no cards. The fetch runs beside that of the first page, so a reload waits for neither.
 */

import { type Signal, signal } from "@preact/signals"

export type TranscriptModule = typeof import("./transcript.tsx")

/** null: not here yet; "lost": it cannot be had, which a newer page mends. */
export const transcriptModule: Signal<TranscriptModule | null | "lost"> = signal(null)

let isRequested = false

export function loadTranscript(): void {
  if (isRequested) return
  isRequested = true
  import("./transcript.tsx").then(
    (code) => {
      transcriptModule.value = code
    },
    () => {
      isRequested = false
      transcriptModule.value = "lost"
    },
  )
}
