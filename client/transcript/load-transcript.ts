/**
 * load-transcript.ts: the transcript's code, fetched when a session is opened or the page has nothing better to do.
 *
 * The first view needs no Markdown and no cards. The fetch runs beside that of the first page, so a reload waits for neither.
 */

import { type Signal, signal } from "@preact/signals"

export type TranscriptCode = typeof import("./transcript.tsx")

/** null: not here yet; "lost": it cannot be had, which a newer page mends. */
export const transcriptCode: Signal<TranscriptCode | null | "lost"> = signal(null)

let asked = false

export function loadTranscript(): void {
  if (asked) return
  asked = true
  import("./transcript.tsx").then(
    (code) => {
      transcriptCode.value = code
    },
    () => {
      asked = false
      transcriptCode.value = "lost"
    },
  )
}
