/**
 * tool-call.tsx: a tool call with its arguments, output, result and status.
 *
 * It is folded. Arguments and results are shown as indented JSON, and coloured once the call is opened. A call that needs
 * the user's approval is open and has buttons for it. SPEC PG10, PG20, PG25.
 */

import type { VNode } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import type { Segment } from "../../shared/protocol/segment.ts"
import { parseJson } from "../../shared/json.ts"
import { isSettled } from "../../shared/protocol/message.ts"
import { toExcerpt } from "../words/format/excerpt.ts"
import { formatCallStatus, formatTruncation, toolText } from "../words/transcript-text.ts"
import { JsonView } from "./json-view.tsx"
import { useChangeRequests } from "./transcript-requests.ts"

export type ToolSegment = Extract<Segment, { type: "tool" }>

interface ToolViewProps {
  readonly tool: ToolSegment
  readonly messageId: string
}

/** Whether the call waits for the user's approval. A call may also wait for another agent. */
export function isApprovalPending({ status, approval }: ToolSegment): boolean {
  return status === "waiting" && approval === "asked"
}

export function ToolView({ tool, messageId }: ToolViewProps): VNode {
  const [isOpened, setOpened] = useState(false)
  const { name, args, status, approval } = tool
  const hint = createHint(args)
  const needsApproval = isApprovalPending(tool)
  return (
    <div data-segment="tool" data-state={status}>
      <details open={needsApproval} onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>
          <code>{name}</code>
          {hint !== "" && <span class="hint">{hint}</span>}
          {approval === "allowed" && <span class="verdict">{toolText.allowed}</span>}
          <span class="badge">{approval === "denied" ? toolText.denied : formatCallStatus(status, needsApproval)}</span>
        </summary>
        <CallDetails tool={tool} isColoured={isOpened} />
      </details>
      {needsApproval && <ApprovalRequest tool={tool} messageId={messageId} />}
    </div>
  )
}

interface CallDetailsProps {
  readonly tool: ToolSegment
  readonly isColoured: boolean
}

function CallDetails({ tool, isColoured }: CallDetailsProps): VNode {
  const { args, status, output, result, error, truncated } = tool
  return (
    <div class="call">
      <JsonView title={toolText.arguments} text={args} isColoured={isColoured} isWhole={isApprovalPending(tool)} />
      {output !== undefined && output !== "" && <OutputText text={output} />}
      {result !== undefined && <JsonView title={toolText.result} text={result} isColoured={isColoured} />}
      {truncated !== undefined && (
        <p class="note">{formatTruncation(truncated.lines, truncated.bytes, isSettled(status))}</p>
      )}
      {error !== undefined && <p class="fault">{error.message}</p>}
    </div>
  )
}

/** Growing output is followed if it is scrolled to within this distance of its end. */
const END_THRESHOLD_PX = 8

/** A running tool's output. It keeps its scroll position, and follows the end if the user scrolled there. */
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
      <figcaption>{toolText.output}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long block must scroll with the keyboard. */}
      <pre tabIndex={0} ref={outputRef} onScroll={updateIsAtEnd}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

/** Asks the user to allow or deny a call. Disappears once the user has decided, in any tab. */
function ApprovalRequest({ tool: { call_id, name }, messageId }: ToolViewProps): VNode | null {
  const fieldsetRef = useRef<HTMLFieldSetElement>(null)
  const requests = useChangeRequests()
  if (requests === null) return null
  const command = requests.commands.pending.value.get(call_id)?.command
  const sentDecision = command?.type === "approve" ? command.decision : null
  const refusal = requests.commands.refusals.value.get(call_id)
  const sendDecision = (decision: "allow" | "deny") => () => {
    if (sentDecision !== null) return
    requests.decideApproval(messageId, call_id, decision)
    // The buttons will disappear, so the focus moves to the call.
    fieldsetRef.current?.parentElement?.querySelector("summary")?.focus({ preventScroll: true })
  }
  return (
    <fieldset class="ask" aria-label={toolText.approvalLabel(name)} ref={fieldsetRef}>
      <p>{toolText.approvalQuestion(name)}</p>
      <button type="button" class="firm" aria-disabled={sentDecision !== null} onClick={sendDecision("allow")}>
        {sentDecision === "allow" ? toolText.allowing : toolText.allow}
      </button>
      <button type="button" aria-disabled={sentDecision !== null} onClick={sendDecision("deny")}>
        {sentDecision === "deny" ? toolText.denying : toolText.deny}
      </button>
      {refusal !== undefined && (
        <p class="fault" role="alert">
          {refusal}
        </p>
      )}
    </fieldset>
  )
}

/** Maximum length of a hint, in UTF-16 code units: one line on a phone. */
const MAX_HINT_CHARS = 60

/** A longer argument, or one with several lines, is likely a document that says little about the call. */
const MAX_HINTED_CHARS = 200

/** Joins the distinct string and number arguments, short ones if there are any: enough to tell folded calls apart. */
export function createHint(args: string): string {
  const value = parseJson(args)
  if (typeof value !== "object" || value === null) return ""
  const values = Object.values(value).filter((arg) => typeof arg === "string" || typeof arg === "number")
  const distinct = [...new Set(values)]
  const short = distinct.filter((arg) => !/\n/.test(String(arg)) && String(arg).length <= MAX_HINTED_CHARS)
  return toExcerpt((short.length > 0 ? short : distinct).join(", ").replace(/\s+/g, " "), MAX_HINT_CHARS)
}
