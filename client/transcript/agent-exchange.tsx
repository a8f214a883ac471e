/**
 * agent-exchange.tsx: messages between agents: a question received, and a question sent to another agent with that
 * agent's answer.
 *
 * The arguments and result of an `agents_message` call are untrusted: a call of another shape is shown like any other
 * tool call. SPEC PG37.
 */

import type { ComponentChildren, VNode } from "preact"
import { useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { isId } from "../../shared/protocol/asset-url.ts"
import { parseJson } from "../../shared/json.ts"
import { Markdown } from "../markdown/markdown.tsx"
import { markdownToText } from "../markdown/markdown-to-text.ts"
import { toExcerpt } from "../words/format/excerpt.ts"
import { formatCallStatus } from "../words/parts/call-text.ts"
import { agentText } from "../words/parts/agent-text.ts"
import { type ToolSegment, ToolView } from "./tool-call.tsx"
import { useTranscriptRequests } from "./transcript-requests.ts"

/** The tool that an agent uses to send a question to another agent. */
const AGENT_TOOL = "agents_message"
/** Longer text is collapsed. In UTF-16 code units, and in lines. */
const MAX_OPEN_CHARS = 600
const MAX_OPEN_LINES = 12
/** Maximum length of the excerpt shown while text is collapsed, in UTF-16 code units: one line. */
const MAX_SUMMARY_CHARS = 90

/** A parsed call of `agents_message`. */
export interface AgentCall {
  readonly agent: string
  readonly message: string
  /** Whether the answer also arrives as a message of its own. */
  readonly isAsync: boolean
  /** Null until the answer arrives. */
  readonly answer: string | null
  /** The id of the other agent's session. Null if the result doesn't contain it. */
  readonly session: string | null
}

export function isAgentCall(tool: ToolSegment): boolean {
  return tool.name === AGENT_TOOL && parseAgentCall(tool) !== null
}

/** Parses a call. Returns null if the arguments don't have the expected shape. Pure. */
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

interface AgentCallViewProps {
  readonly tool: ToolSegment
  readonly messageId: string
}

export function AgentCallView({ tool, messageId }: AgentCallViewProps): VNode {
  const id = useTranscriptRequests()?.id ?? "-"
  const call = parseAgentCall(tool)
  if (call === null || tool.approval === "asked") return <ToolView tool={tool} messageId={messageId} />
  const { status, error } = tool
  // The agent's session has the same owner as this one.
  const session = id.replace(/[^/]+$/, call.session ?? "")
  return (
    <section class="agent" data-segment="tool" data-state={status} aria-label={agentText.asked(call.agent)}>
      <header>
        <Avatar name={call.agent} />
        <TextWithName text={agentText.asked(call.agent)} name={call.agent} />
        {call.session !== null && (
          <a href={`#/s/${session}`} aria-label={agentText.viewThreadWith(call.agent)}>
            {agentText.viewThread}
          </a>
        )}
        <span class="badge">{formatCallStatus(status)}</span>
      </header>
      <FoldableText text={call.message} />
      {call.answer !== null && (
        <div class="reply">
          <p class="note">{agentText.replyFrom(call.agent)}</p>
          <FoldableText text={call.answer} isFolded={call.isAsync} />
        </div>
      )}
      {status === "waiting" && <p class="note">{agentText.waitingFor(call.agent)}</p>}
      {error !== undefined && <p class="fault">{error.message}</p>}
    </section>
  )
}

export function ReceivedMessageView({ segment }: { readonly segment: Extract<Segment, { type: "agent" }> }): VNode {
  const { name, content } = segment
  return (
    <section class="agent" data-segment="agent" aria-label={agentText.messageFrom(name)}>
      <AgentHeader direction="in" name={name} />
      <FoldableText text={content} />
    </section>
  )
}

interface AgentHeaderProps {
  readonly direction: "in" | "out"
  readonly name: string
}

/** The heading of a message from another agent, or of the reply to it. */
export function AgentHeader({ direction, name }: AgentHeaderProps): VNode {
  const text = direction === "in" ? agentText.messageFrom(name) : agentText.replyTo(name)
  return (
    <header>
      <Avatar name={name} />
      <TextWithName text={text} name={name} />
    </header>
  )
}

/** Renders the text with the name in bold. */
function TextWithName({ text, name }: { readonly text: string; readonly name: string }): VNode {
  const at = text.lastIndexOf(name)
  return (
    <span>
      {text.slice(0, at)}
      <b>{name}</b>
      {text.slice(at + name.length)}
    </span>
  )
}

/** The agent's initial. It is generated content, so that it is neither copied nor read out. */
function Avatar({ name }: Pick<AgentHeaderProps, "name">): VNode {
  return <i class="avatar" data-initial={(/[\p{L}\p{N}]/u.exec(name)?.[0] ?? "·").toUpperCase()} aria-hidden="true" />
}

interface FoldableTextProps {
  readonly text: string
  /** Whether the text is collapsed even if it is short, because it is also shown elsewhere. */
  readonly isFolded?: boolean
}

/** Collapses long text. The browser keeps it expanded or collapsed while the text changes. */
function FoldableText({ text, isFolded = false }: FoldableTextProps): ComponentChildren {
  const [isOpen, setOpen] = useState(false)
  const isLong = text.length > MAX_OPEN_CHARS || text.split("\n", MAX_OPEN_LINES + 1).length > MAX_OPEN_LINES
  if (!isLong && !isFolded) return <Markdown text={text} />
  const excerpt = toExcerpt(markdownToText(text), MAX_SUMMARY_CHARS)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{isOpen ? agentText.showLess : <span dir="auto">{excerpt}</span>}</summary>
      <Markdown text={text} />
    </details>
  )
}
