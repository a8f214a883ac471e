/** writing-host.ts: what the composer's tools need from the page. */

import type { ReadonlySignal, Signal } from "@preact/signals"
import type { Api, SessionOptions } from "../net/api.ts"
import type { Draft } from "../session/draft.ts"

/** Implemented by the session router. */
export interface WritingHost {
  readonly api: Api
  /** The open session; null if the next message starts a new conversation. */
  readonly controller: ReadonlySignal<{ readonly id: string } | null>
  /** How the next conversation starts: its agent, and whether it is temporary. */
  readonly nextOptions: Signal<SessionOptions>
  readonly draft: Draft
  /** Opens a session, or a new conversation if `id` is null. */
  showSession(id: string | null): void
}
