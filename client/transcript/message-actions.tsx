/**
 * message-actions.tsx: what a reader can do with a message: copy it, ask for it again, see another version of it.
 *
 * message → ACTS → asking
 * Quiet: icons beneath the message, seen on hover and focus, and always under the last answer and where there is no mouse.
 * A button that has to wait keeps the focus, so it is `aria-disabled`. Source: SPEC PG21–PG23.
 */

import { useComputed } from "@preact/signals"
import type { ComponentChildren, VNode } from "preact"
import { useState } from "preact/hooks"
import type { Segment, WireMessage } from "../../shared/protocol/frame.ts"
import { mediaWords } from "../words/media-descriptions.ts"
import { focusAsked } from "../composer/composer.tsx"
import { type Asking, useAsking } from "./transcript-requests.ts"

interface ActProps {
  readonly label: string
  readonly isHeld?: boolean
  readonly way?: string
  readonly onAct: () => void
  readonly children: ComponentChildren
}

/** An icon with a name. */
export function Act({ label, isHeld = false, way, onAct, children }: ActProps): VNode {
  return (
    <button
      type="button"
      class="act"
      aria-label={label}
      title={label}
      aria-disabled={isHeld}
      data-way={way}
      onClick={(event) => {
        // Not every browser does so itself, and what comes next holds on to the focus.
        event.currentTarget.focus()
        if (!isHeld) onAct()
      }}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {children}
      </svg>
    </button>
  )
}

/** Nothing can be asked for again while an answer is under way, or twice. */
export function useHeld(asking: Asking | null, id: string): boolean {
  return useComputed(() => asking !== null && (asking.store.turn.value !== null || asking.commands.asked.value.has(id)))
    .value
}

export function useIsLast(asking: Asking | null, id: string): boolean {
  return useComputed(() => asking?.store.lastAnswer.value === id).value
}

/** The button goes with this version, so the focus goes to the composer. */
export function regenerate(asking: Asking, id: string): void {
  asking.regenerate(id)
  focusAsked.value++
}

/** Under an answer that has ended. */
export function AnswerActs({ message }: { readonly message: WireMessage }): VNode | null {
  const asking = useAsking()
  const { id, status, segments } = message
  const isHeld = useHeld(asking, id)
  const isLast = useIsLast(asking, id)
  if (asking === null) return null
  return (
    <footer class="acts" data-last={isLast ? "" : undefined}>
      <Versions message={message} />
      {segments.some(hasWords) && <Copy segments={segments} />}
      {segments.some(hasWords) && <Reply id={id} />}
      {isLast && status === "completed" && !isFromOutside(message) && (
        <Act label="Regenerate" isHeld={isHeld} onAct={() => regenerate(asking, id)}>
          <path d="M15.8 8.2A6.2 6.2 0 1 0 16.2 10M16 4.5v3.8h-3.8" />
        </Act>
      )}
    </footer>
  )
}

/** The next words reply to it; the composer says so. */
export function Reply({ id }: { readonly id: string }): VNode {
  const asking = useAsking()
  const reply = (): void => {
    if (asking === null) return
    asking.draft.reply.value = id
    focusAsked.value++
  }
  return (
    <Act label="Reply" way="reply" onAct={reply}>
      <path d="M8 5.5L3.5 10 8 14.5M3.5 10H12a4.5 4.5 0 0 1 4.5 4.5" />
    </Act>
  )
}

/** Its producer is not ours to ask again. */
export function isFromOutside({ mode }: WireMessage): boolean {
  return mode === "external"
}

/** `‹ 1/2 ›` where a message has versions. */
export function Versions({ message }: { readonly message: WireMessage }): VNode | null {
  const asking = useAsking()
  const { id, version = 1, versions = 1 } = message
  const isHeld = useHeld(asking, id)
  if (asking === null || versions < 2) return null
  const go = (to: number) => () => asking.switchTo(id, to)
  return (
    <fieldset class="versions" aria-label={`Version ${version} of ${versions}`}>
      <Act label="Previous version" way="back" isHeld={isHeld || version <= 1} onAct={go(version - 1)}>
        <path d="M11.8 5.5 7.3 10l4.5 4.5" />
      </Act>
      <span aria-hidden="true">
        {version}/{versions}
      </span>
      <Act label="Next version" way="on" isHeld={isHeld || version >= versions} onAct={go(version + 1)}>
        <path d="M8.2 5.5l4.5 4.5-4.5 4.5" />
      </Act>
    </fieldset>
  )
}

/** How long "Copied" stands there, in milliseconds. */
const COPIED_MS = 1500

function Copy({ segments }: { readonly segments: readonly Segment[] }): VNode {
  const [isCopied, setCopied] = useState(false)
  const copy = (): void => {
    navigator.clipboard?.writeText(copiedWords(segments)).then(
      () => {
        setCopied(true)
        setTimeout(() => setCopied(false), COPIED_MS)
      },
      () => {},
    )
  }
  return (
    <Act label={isCopied ? "Copied" : "Copy"} onAct={copy}>
      {isCopied ? <path d="M4.5 10.5l3.5 3.5 7.5-8" /> : <path d="M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3" />}
    </Act>
  )
}

function hasWords(segment: Segment): boolean {
  return wordsOf(segment) !== ""
}

function wordsOf(segment: Segment): string {
  if (segment.type === "text") return segment.content
  if (segment.type === "media" || segment.type === "canvas") return `[${mediaWords(segment)}]`
  return segment.type === "rich" ? segment.synthesis : ""
}

/** An answer's words as Markdown, without thinking and tools, media by its name; what was escaped for Markdown's sake is plain again. */
export function copiedWords(segments: readonly Segment[]): string {
  const texts = segments.map(wordsOf).filter((text) => text !== "")
  return texts.join("\n\n").replace(/&lt;(?=[A-Za-z/!?])/g, "<")
}

/** The server's words where it refused something about this message. */
export function Refusal({ of }: { readonly of: string }): VNode | null {
  const asking = useAsking()
  const words = useComputed(() => asking?.commands.refusals.value.get(of)).value
  if (words === undefined) return null
  return (
    <p class="note fault" role="alert">
      {words}
    </p>
  )
}
