/**
 * agent-exchange.tsx: what agents say to one another: what came in, what was sent out, and the answer to it.
 *
 * agent segment, call of `agents_message` → AGENTS
 * A call is read leniently: what is not as expected is shown as any other call. Source: SPEC PG37.
 */

import type { ComponentChildren, VNode } from "preact"
import { useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { isId } from "../../shared/protocol/asset-url.ts"
import { parseJson } from "../../shared/json.ts"
import { toExcerpt } from "../words/excerpt.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { STATUS_BADGES, type ToolSegment, ToolView } from "./tool-call.tsx"

/** The tool by which an agent asks another. */
const AGENT_TOOL = "agents_message"
/** Longer words are folded, in UTF-16 code units and in lines: about a hand's breadth. */
const MAX_OPEN_CHARS = 600
const MAX_OPEN_LINES = 12
/** What of them stands beside the fold, in UTF-16 code units: one line. */
const MAX_SUMMARY_CHARS = 90

/** What was asked of whom. */
export interface AgentCall {
  readonly agent: string
  readonly message: string
  /** Its answer comes as a message of its own too. */
  readonly isAsync: boolean
  /** Null: it has not come yet. */
  readonly answer: string | null
  /** Where it can be read. */
  readonly session: string | null
}

export function isAgentCall(tool: ToolSegment): boolean {
  return tool.name === AGENT_TOOL && parseAgentCall(tool) !== null
}

/** Null where the call is not of the shape that is known. Pure. */
export function parseAgentCall({ args, result }: Pick<ToolSegment, "args" | "result">): AgentCall | null {
  const { agent, message, mode } = Object(parseJson(args)) as Record<string, unknown>
  if (typeof agent !== "string" || typeof message !== "string") return null
  const { answer, session } = Object(parseJson(result ?? "")) as Record<string, unknown>
  return {
    agent,
    message,
    isAsync: mode === "async",
    answer: typeof answer === "string" ? answer : null,
    session: typeof session === "string" && isId(session) ? session : null,
  }
}

export function AgentCallView({
  tool,
  message: messageId,
}: {
  readonly tool: ToolSegment
  readonly message: string
}): VNode {
  const call = parseAgentCall(tool)
  if (call === null || tool.approval === "asked") return <ToolView tool={tool} messageId={messageId} />
  const { status, error } = tool
  return (
    <section class="agent" data-segment="tool" data-state={status} aria-label={`Sent to ${call.agent}`}>
      <header>
        <DirectionIcon way="out" />
        <span>
          Sent to <b>{call.agent}</b>
        </span>
        {call.session !== null && (
          <a href={`#/s/${call.session}`} aria-label={`Open the conversation with ${call.agent}`}>
            Open
          </a>
        )}
        <span class="badge">[{STATUS_BADGES[status]}]</span>
      </header>
      <FoldableText text={call.message} />
      {call.answer !== null && (
        <div class="reply">
          <p class="note">{call.agent} answered</p>
          <FoldableText text={call.answer} isFolded={call.isAsync} />
        </div>
      )}
      {status === "waiting" && <p class="note">Waiting for its answer.</p>}
      {error !== undefined && <p class="fault">{error.message}</p>}
    </section>
  )
}

export function ReceivedMessageView({ segment }: { readonly segment: Extract<Segment, { type: "agent" }> }): VNode {
  return (
    <section class="agent" data-segment="agent" aria-label={`Received from ${segment.name}`}>
      <AgentHeader way="in" name={segment.name} />
      <FoldableText text={segment.content} />
    </section>
  )
}

/** Above what came in, and above what goes back. */
export function AgentHeader({ way: direction, name }: { readonly way: "in" | "out"; readonly name: string }): VNode {
  return (
    <header>
      <DirectionIcon way={direction} />
      <span>
        {direction === "in" ? "Received from" : "Sent to"} <b>{name}</b>
      </span>
    </header>
  )
}

function DirectionIcon({ way: direction }: { readonly way: "in" | "out" }): VNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d={direction === "in" ? "M15 5L6 14M6 7.5V14h6.5" : "M5 15l9-9M7.5 6H14v6.5"} />
    </svg>
  )
}

interface FoldableTextProps {
  readonly text: string
  /** They stand elsewhere too. */
  readonly isFolded?: boolean
}

/** Long words are folded until somebody wants them; the fold is the reader's, however the words change. */
function FoldableText({ text, isFolded: isAside = false }: FoldableTextProps): ComponentChildren {
  const [isOpen, setOpen] = useState(false)
  const isLong = text.length > MAX_OPEN_CHARS || text.split("\n", MAX_OPEN_LINES + 1).length > MAX_OPEN_LINES
  if (!isLong && !isAside) return <Markdown text={text} />
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{isOpen ? "Less" : toExcerpt(text.trim().replace(/\s+/g, " "), MAX_SUMMARY_CHARS)}</summary>
      <Markdown text={text} />
    </details>
  )
}
