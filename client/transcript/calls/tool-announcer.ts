/** tool-announcer.ts: announces the tools of the running answer to screen readers, by name. Source: SPEC PG17. */

import { effect } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { isSettled } from "../../../shared/protocol/message.ts"
import type { WireMessage } from "../../../shared/protocol/server-frame.ts"
import { announce } from "../../ui/announcer.ts"
import { toolText } from "../../words/parts/call-text.ts"
import { inputText } from "../../words/parts/input-text.ts"
import { getToolLabel } from "../../words/settings/tool-name-text.ts"
import { isApprovalPending, type ToolSegment } from "../tool-call.tsx"
import type { TranscriptRequests } from "../transcript-requests.ts"

/**
 * Announces each tool when it starts, each request for approval, and each question to the user. Calls and requests that
 * exist when this component is mounted aren't announced.
 */
export function ToolAnnouncer({ store }: { readonly store: TranscriptRequests["store"] }): null {
  useEffect(() => {
    let calls: CallAnnouncer | null = null
    let isFirst = true
    return effect(() => {
      const turn = store.activeTurn.value
      const message = turn === null ? undefined : store.getMessageSignal(turn.id)?.value
      if (message !== undefined) {
        if (calls?.messageId !== message.id) calls = new CallAnnouncer(message.id)
        const text = calls.findNews(message)
        if (text !== "" && !isFirst) announce(text)
      }
      isFirst = false
    })
  }, [store])
  return null
}

/** Records which calls of an answer have been announced. */
class CallAnnouncer {
  readonly messageId: string
  /**
   * Contains the id of each announced call and, for each announced request to the user, the call's id followed by the
   * request.
   */
  readonly #announced = new Set<string>()
  /** The segments before this index don't change any more. */
  #from = 0

  constructor(messageId: string) {
    this.messageId = messageId
  }

  /**
   * Returns what has not been announced yet. Cost: linear in the number of segments since the oldest call that is still
   * running.
   */
  findNews({ segments }: WireMessage): string {
    const texts: string[] = []
    let firstOpen = segments.length
    segments.slice(this.#from).forEach((segment, offset) => {
      if (segment.type !== "tool") return
      const text = this.#announceCall(segment)
      if (text !== null) texts.push(text)
      if (!isSettled(segment.status)) firstOpen = Math.min(firstOpen, this.#from + offset)
    })
    // The last segment can still be replaced.
    this.#from = Math.max(0, Math.min(firstOpen, segments.length - 1))
    return texts.join(" ")
  }

  #announceCall(tool: ToolSegment): string | null {
    const { call_id, name, input } = tool
    const question = isApprovalPending(tool) ? "asks" : input?.id
    const key = question === undefined ? call_id : `${call_id} ${question}`
    if (this.#announced.has(key)) return null
    this.#announced.add(key).add(call_id)
    if (input !== undefined) return inputText.asks(input.server)
    const label = getToolLabel(name)
    return question === undefined ? toolText.using(label) : toolText.approvalQuestion(label)
  }
}
