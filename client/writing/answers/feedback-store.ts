/**
 * feedback-store.ts: the user's feedback in the open session, loaded once per session and shared with the other tabs of
 * the browser. Source: SPEC WR12.
 */

import { type Signal, signal } from "@preact/signals"
import type { AnswerFeedback, FeedbackInput } from "../../../shared/protocol/writing/feedback.ts"
import type { Api } from "../../net/api.ts"
import { listFeedback, removeFeedback, setFeedback } from "../writing-api.ts"

export type ShownFeedback = FeedbackInput

/** Maximum number of sessions whose feedback is kept in memory. */
const MAX_SESSIONS = 20

const CHANNEL = "cuecard.feedback"

export class SessionFeedback {
  /** The feedback by answer id. */
  readonly byMessage: Signal<ReadonlyMap<string, ShownFeedback>> = signal(new Map())
  readonly #api: Api
  readonly #session: string
  #loading: Promise<void> | null = null

  constructor(api: Api, session: string) {
    this.#api = api
    this.#session = session
  }

  /** Loads the feedback unless it has already been loaded. After a failure, the next call tries again. */
  ensureLoaded(): Promise<void> {
    this.#loading ??= this.#load().catch(() => {
      this.#loading = null
    })
    return this.#loading
  }

  async #load(): Promise<void> {
    const list = await listFeedback(this.#api, this.#session)
    this.byMessage.value = new Map(list.map((entry: AnswerFeedback) => [entry.message, entry]))
  }

  /** Shows the change at once. If the change can't be saved, undoes it and rejects. Null removes the feedback. */
  async change(message: string, input: ShownFeedback | null): Promise<void> {
    const before = this.byMessage.peek().get(message) ?? null
    this.show(message, input)
    try {
      if (input === null) await removeFeedback(this.#api, this.#session, message)
      else await setFeedback(this.#api, this.#session, message, input)
      channel?.postMessage({ session: this.#session, message, input })
    } catch (error) {
      this.show(message, before)
      throw error
    }
  }

  show(message: string, input: ShownFeedback | null): void {
    const changed = new Map(this.byMessage.peek())
    if (input === null) changed.delete(message)
    else changed.set(message, input)
    this.byMessage.value = changed
  }
}

const sessions = new Map<string, SessionFeedback>()

/** Returns the feedback of a session. */
export function findSessionFeedback(api: Api, session: string): SessionFeedback {
  const known = sessions.get(session) ?? new SessionFeedback(api, session)
  sessions.delete(session)
  sessions.set(session, known)
  const [oldest] = sessions.keys()
  if (oldest !== undefined && sessions.size > MAX_SESSIONS) sessions.delete(oldest)
  return known
}

interface FeedbackNews {
  readonly session: string
  readonly message: string
  readonly input: ShownFeedback | null
}

/** Tells the other tabs about changes. Null in old browsers, in which other tabs show a change only after a reload. */
const channel = typeof BroadcastChannel === "function" ? new BroadcastChannel(CHANNEL) : null
channel?.addEventListener("message", ({ data }: MessageEvent<FeedbackNews>) => {
  sessions.get(data.session)?.show(data.message, data.input)
})
