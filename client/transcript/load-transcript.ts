/**
 * load-transcript.ts: loads the code that renders transcripts, when a session is opened or the page is idle.
 *
 * The initial render needs neither Markdown nor cards. The code loads in parallel with the first page of history.
 */

import { computed, effect, signal } from "@preact/signals"
import type { Segment } from "../../shared/protocol/segment.ts"
import { deferModule } from "../ui/deferred-module.ts"

const transcript = deferModule(() => import("./transcript.tsx"))
const hasFailed = signal(false)

/**
 * Null until the code is loaded; "failed" while it can't be loaded. If the page is online, a failure may mean that a
 * newer version has replaced the code.
 */
export const transcriptModule = computed(() => transcript.module.value ?? (hasFailed.value ? "failed" : null))

/**
 * The code for reading positions, loaded after the transcript: a conversation has no reading position before it has
 * been shown.
 */
export const readingPlace = deferModule(() => import("../ui/reading-place.ts"))

effect(() => {
  if (transcript.module.value !== null) void readingPlace.load()
})

/** Returns the text of an answer, for the announcer. Resolves with "" while the code isn't loaded. */
export async function getSpokenText(segments: readonly Segment[]): Promise<string> {
  const code = transcriptModule.peek()
  return code === null || code === "failed" ? "" : await code.readSpokenText(segments)
}

let isRequested = false

export async function loadTranscript(): Promise<void> {
  if (isRequested) return
  isRequested = true
  isRequested = await transcript.load()
  hasFailed.value = !isRequested
}
