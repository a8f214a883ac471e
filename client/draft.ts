/**
 * draft.ts: what somebody is writing in a session and has not sent.
 *
 * composer, editor → DRAFT → composer, editor
 * Kept outside the components: they go with a change of session or of version, and the words do not. Source: SPEC PG27.
 */

import { type Signal, signal } from "@preact/signals"

export class Draft {
  /** In the composer. */
  readonly words: Signal<string> = signal("")
  /** In the editors that are open, by message. */
  readonly edits = new Map<string, string>()

  /** Words that lost their place go on in the composer, after what stands there. */
  giveBack(words: string): void {
    const now = this.words.peek()
    this.words.value = now.trim() === "" ? words : `${now}\n${words}`
  }
}
