/**
 * tool-call.tsx: a tool call: what was asked, what it said while it ran, what came back, and who allowed it.
 *
 * Folded; its badge says how it stands. Arguments and results are JSON, printed again, and coloured while somebody looks.
 * One that wants a person's leave is unfolded and asks for it. Source: SPEC PG10, PG20, PG24.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import { type CallStatus, isSettled } from "../../shared/protocol/message.ts"
import { toExcerpt } from "../words/excerpt.ts"
import { useTranscriptRequests } from "./transcript-requests.ts"
import { JsonView } from "./json-view.tsx"

export type ToolSegment = Extract<Segment, { type: "tool" }>

interface ToolViewProps {
  readonly tool: ToolSegment
  /** Id of the message that it stands in. */
  readonly messageId: string
}

export const STATUS_BADGES: Readonly<Record<CallStatus, string>> = {
  queued: "QUEUED",
  running: "RUNNING",
  waiting: "WAITING",
  ok: "OK",
  failed: "FAILED",
  interrupted: "INTERRUPTED",
}

/** Does it wait for its reader? One that waits for something else asks nobody. */
export function isApprovalPending({ status, approval }: ToolSegment): boolean {
  return status === "waiting" && approval === "asked"
}

export function ToolView({ tool, messageId: message }: ToolViewProps): VNode {
  const [isOpened, setOpened] = useState(false)
  const { name, args, status, output, result, error, truncated, approval } = tool
  const hint = createHint(args)
  const needsApproval = isApprovalPending(tool)
  return (
    <div data-segment="tool" data-state={status}>
      <details open={needsApproval} onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>
          <code>{name}</code>
          {hint !== "" && <span class="hint">{hint}</span>}
          {approval === "allowed" && <span class="verdict">Allowed</span>}
          <span class="badge">[{approval === "denied" ? "DENIED" : STATUS_BADGES[status]}]</span>
        </summary>
        <div class="call">
          <JsonView title="Arguments" text={args} isColoured={isOpened} />
          {output !== undefined && output !== "" && <OutputText text={output} />}
          {result !== undefined && <JsonView title="Result" text={result} isColoured={isOpened} />}
          {truncated !== undefined && (
            <p class="note">
              Shown in part: {truncated.lines.toLocaleString("en")} lines, {truncated.bytes.toLocaleString("en")} bytes{" "}
              {isSettled(status) ? "in all" : "so far"}.
            </p>
          )}
          {error !== undefined && <p class="fault">{error.message}</p>}
        </div>
      </details>
      {needsApproval && <ApprovalRequest tool={tool} messageId={message} />}
    </div>
  )
}

/** So near to its end a growing output is followed, in CSS pixels. */
const END_THRESHOLD_PX = 8

/** Grows while the tool runs. It stays where the reader reads; at its end it goes along. */
function OutputText({ text }: { readonly text: string }): VNode {
  const outputRef = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(false)
  useLayoutEffect(() => {
    if (isAtEnd.current && outputRef.current !== null) outputRef.current.scrollTop = outputRef.current.scrollHeight
  }, [text])
  const updateIsAtEnd = (): void => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = outputRef.current ?? {}
    isAtEnd.current = scrollTop > 0 && scrollHeight - scrollTop - clientHeight <= END_THRESHOLD_PX
  }
  return (
    <figure class="data">
      <figcaption>Output</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long block is scrolled with the keyboard too. */}
      <pre tabIndex={0} ref={outputRef} onScroll={updateIsAtEnd}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

/** The question to the reader. It is gone when anybody has answered, in whichever tab. */
function ApprovalRequest({ tool: { call_id, name }, messageId: message }: ToolViewProps): VNode | null {
  const fieldsetRef = useRef<HTMLFieldSetElement>(null)
  const requests = useTranscriptRequests()
  if (requests === null) return null
  const command = requests.commands.pending.value.get(call_id)?.command
  const sentDecision = command?.type === "approve" ? command.decision : null
  const refusal = requests.commands.refusals.value.get(call_id)
  const createDecisionHandler = (decision: "allow" | "deny") => () => {
    if (sentDecision !== null) return
    requests.decideApproval(message, call_id, decision)
    // The buttons will go; the keyboard stays with the call.
    fieldsetRef.current?.parentElement?.querySelector("summary")?.focus({ preventScroll: true })
  }
  return (
    <fieldset class="ask" aria-label={`Allow ${name}?`} ref={fieldsetRef}>
      <p>May this run?</p>
      <button type="button" class="firm" aria-disabled={sentDecision !== null} onClick={createDecisionHandler("allow")}>
        {sentDecision === "allow" ? "Approving…" : "Approve"}
      </button>
      <button type="button" aria-disabled={sentDecision !== null} onClick={createDecisionHandler("deny")}>
        {sentDecision === "deny" ? "Denying…" : "Deny"}
      </button>
      {refusal !== undefined && (
        <p class="fault" role="alert">
          {refusal}
        </p>
      )}
    </fieldset>
  )
}

/** Longest hint, in UTF-16 code units: one line on a phone. */
const MAX_HINT_CHARS = 60

/** A value of more lines or letters is a text to be worked on, in UTF-16 code units. */
const MAX_HINTED_CHARS = 200

/** The plain values of the arguments, each once: enough to tell two calls apart while they are folded. */
export function createHint(args: string): string {
  const value = parseJson(args)
  if (typeof value !== "object" || value === null) return ""
  const words = [...new Set(Object.values(value).filter((one) => typeof one === "string" || typeof one === "number"))]
  const short = words.filter((one) => !/\n/.test(String(one)) && String(one).length <= MAX_HINTED_CHARS)
  return toExcerpt((short.length > 0 ? short : words).join(", ").replace(/\s+/g, " "), MAX_HINT_CHARS)
}
