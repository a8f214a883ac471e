/**
 * message-view.tsx: one message: a user's words, or an answer as its segments in order.
 *
 * message signal → VIEW
 * Each message has its own signal, so a delta wakes one message. What can be done with it hangs on signals of its own.
 */

import type { Signal } from "@preact/signals"
import type { VNode } from "preact"
import { useRef, useState } from "preact/hooks"
import type { WireMessage } from "../../shared/protocol/frame.ts"
import { isEnded, type MessageStatus } from "../../shared/protocol/message.ts"
import { focusAsked } from "../composer/composer.tsx"
import { AttachedMedia, isMedia } from "../media/media-view.tsx"
import { Markdown } from "../markdown/markdown.tsx"
import { AgentHead } from "./agent-exchange.tsx"
import { Calls, runsOf } from "./tool-call-group.tsx"
import {
  isFromOutside,
  Act,
  AnswerActs,
  Refusal,
  Reply,
  regenerate,
  useHeld,
  useIsLast,
  Versions,
} from "./message-actions.tsx"
import { type Asking, useAsking } from "./transcript-requests.ts"
import { Editor } from "./message-editor.tsx"
import { QuoteView } from "./quoted-message.tsx"
import { reasonText } from "../words/end-reason.ts"
import { SegmentView } from "./segment-view.tsx"
import { UserMessage } from "./unsent-messages.tsx"

export interface MessageProps {
  readonly message: Signal<WireMessage>
  /** Did segment `at` arrive while the reader watched? */
  readonly isFresh: (id: string, at: number) => boolean
}

export function MessageView({ message, isFresh }: MessageProps): VNode {
  return message.value.role === "user" ? (
    <AskedMessage message={message.value} />
  ) : (
    <AnswerMessage message={message.value} isFresh={isFresh} />
  )
}

interface AnswerProps {
  readonly message: WireMessage
  readonly isFresh: MessageProps["isFresh"]
}

function AnswerMessage({ message, isFresh }: AnswerProps): VNode {
  const { id, role, status, segments, summary, origin, agent, reply_to } = message
  const isRunning = status === "running"
  const view = (at: number): VNode | null => {
    const segment = segments[at]
    if (segment === undefined) return null
    const isOpen = isRunning && at === segments.length - 1
    return <SegmentView key={at} segment={segment} message={id} isOpen={isOpen} fresh={isFresh(id, at)} />
  }
  return (
    <article
      data-id={id}
      data-role={role}
      data-status={status}
      data-origin={origin}
      data-agent={agent?.direction}
      aria-label={role === "agent" ? (agent?.name ?? "Agent") : "Cuecard"}
    >
      {reply_to !== undefined && <QuoteView of={reply_to} />}
      {agent?.direction === "sent" && <AgentHead way="out" name={agent.name} />}
      {origin === "import" && <p class="note">Imported from a file: nobody vouches for what it shows.</p>}
      {summary !== undefined && (
        <details class="summary">
          <summary>Earlier messages, in short</summary>
          <Markdown text={summary} />
        </details>
      )}
      {runsOf(segments).map(({ at, calls }) =>
        calls.length === 0 ? (
          view(at)
        ) : (
          <Calls key={at} calls={calls}>
            {calls.map((_, nth) => view(at + nth))}
          </Calls>
        ),
      )}
      <StatusNote message={message} />
      <Refusal of={id} />
      {isEnded(status) && role !== "agent" && <AnswerActs message={message} />}
    </article>
  )
}

function AskedMessage({ message }: { readonly message: WireMessage }): VNode {
  const asking = useAsking()
  const { id, status, reply_to, segments } = message
  // An editor that was open comes back with its words.
  const [isEditing, setEditing] = useState(asking?.draft.edits.has(id) === true)
  const acts = useRef<HTMLElement>(null)
  const words = wordsOf(message)
  const isHeld = useHeld(asking, id)
  const close = (): void => {
    setEditing(false)
    // To the button that opened it, once that is there again.
    setTimeout(() => acts.current?.querySelector<HTMLElement>("[data-way=edit]")?.focus({ preventScroll: true }))
  }
  const editor =
    isEditing && asking !== null ? (
      <Editor id={id} words={words} asking={asking} isAlone={!segments.some(isMedia)} onClose={close} />
    ) : undefined
  return (
    <UserMessage
      {...{ id, status, words, editor }}
      quote={reply_to === undefined ? undefined : <QuoteView of={reply_to} />}
      files={<AttachedMedia segments={segments.filter(isMedia)} />}
    >
      {status === "queued" && <Queued id={id} asking={asking} />}
      <Refusal of={id} />
      {status !== "queued" && asking !== null && editor === undefined && (
        <footer class="acts" ref={acts}>
          <Act label="Edit" way="edit" isHeld={isHeld} onAct={() => setEditing(true)}>
            <path d="M4.5 15.5l.7-3.2 8-8 2.5 2.5-8 8z" />
          </Act>
          <Reply id={id} />
          <Versions message={message} />
        </footer>
      )}
    </UserMessage>
  )
}

/** It has not been begun, so it can be taken back. */
function Queued({ id, asking }: { readonly id: string; readonly asking: Asking | null }): VNode {
  const isAsked = asking?.commands.asked.value.has(id) === true
  /** The words go back to the composer, and so does the focus. */
  const withdraw = (): void => {
    asking?.withdraw(id)
    focusAsked.value++
  }
  return (
    <p class="note">
      Queued{" "}
      {asking !== null && (
        <button type="button" aria-disabled={isAsked} onClick={withdraw}>
          {isAsked ? "Withdrawing…" : "Withdraw"}
        </button>
      )}
    </p>
  )
}

function wordsOf(message: WireMessage): string {
  const texts = message.segments.flatMap((segment) => (segment.type === "text" ? segment.content : []))
  return message.segments.length === 0 ? message.content : texts.join("\n\n")
}

/** How an answer that did not just end stands, quietly, why, and the way on from there. */
function StatusNote({ message }: { readonly message: WireMessage }): VNode | null {
  const asking = useAsking()
  const { id, status, reason } = message
  const isLast = useIsLast(asking, id)
  const isHeld = useHeld(asking, id)
  const words = statusWords(message)
  if (words === null) return null
  const way = isFromOutside(message) ? null : wayOn(status)
  const go = (): void => {
    if (isHeld || asking === null || way === null) return
    if (way === "Regenerate") return regenerate(asking, id)
    asking.retry(id)
    focusAsked.value++
  }
  return (
    <p class="note" data-note={status}>
      {reason === null ? words : reasonText(reason)}
      {isLast && way !== null && " "}
      {isLast && way !== null && (
        <button type="button" aria-disabled={isHeld} onClick={go}>
          {way}
        </button>
      )}
    </p>
  )
}

function statusWords({ status, segments }: WireMessage): string | null {
  switch (status) {
    case "running":
    case "completed":
      return null
    case "queued":
      return "Queued."
    case "waiting":
      return segments.some((segment) => segment.type === "tool" && segment.approval === "asked")
        ? "Waiting for your answer."
        : "Waiting for an answer."
    case "cancelled":
      return "Stopped."
    case "interrupted":
      return "Interrupted."
    case "failed":
      return "Failed."
  }
}

function wayOn(status: MessageStatus): "Regenerate" | "Continue" | "Try again" | null {
  if (status === "cancelled") return "Regenerate"
  if (status === "interrupted") return "Continue"
  return status === "failed" ? "Try again" : null
}
