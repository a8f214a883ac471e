/**
 * tool-call.tsx: a tool call with its arguments, output, result and status.
 *
 * A call is collapsed to one line: an icon, the tool's name, a summary of the arguments, and the status. Arguments and
 * results are shown as indented JSON, which is coloured once the call is expanded. A call that needs the user's
 * approval is expanded and has buttons to allow or deny it. SPEC PG10, PG20, PG25, VD2.
 */

import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { parseJson } from "../../shared/json.ts"
import { isSettled } from "../../shared/protocol/message.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { deferModule } from "../ui/deferred-module.ts"
import { toExcerpt } from "../words/format/excerpt.ts"
import { formatList } from "../words/format/list-format.ts"
import { formatCallStatus, formatTruncation, toolText } from "../words/parts/call-text.ts"
import { getToolLabel } from "../words/settings/tool-name-text.ts"
import { answerTools } from "../writing/deferred-writing.ts"
import { getUserNeed } from "./calls/user-need.ts"
import { JsonView } from "./json-view.tsx"
import { useChangeRequests } from "./transcript-requests.ts"

export type ToolSegment = Extract<Segment, { type: "tool" }>

interface ToolViewProps {
  readonly tool: ToolSegment
  readonly messageId: string
}

/** Loaded when a call first needs the user's own account. */
const connections = deferModule(() => import("../connections/connect-request.tsx"))

/** Returns whether the call failed because the user is not connected to the MCP server. */
function needsConnection({ error }: ToolSegment): boolean {
  return error?.code === "tool_not_connected"
}

/** Returns whether the call needs something from the user, in which case it must be visible. */
export function needsUser(tool: ToolSegment): boolean {
  return isApprovalPending(tool) || needsConnection(tool) || tool.input !== undefined
}

/** Returns whether the call is waiting for the user's approval. A call can also be waiting for another agent. */
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
          <ToolIcon name={name} />
          <ToolName name={name} />
          {hint !== "" && <span class="hint">{hint}</span>}
          {approval === "allowed" && <span class="verdict">{toolText.allowed}</span>}
          <span class="badge">
            {approval === "denied" ? toolText.denied : formatCallStatus(status, getUserNeed(tool))}
          </span>
        </summary>
        <CallDetails tool={tool} isColoured={isOpened} />
      </details>
      {needsApproval && <ApprovalRequest tool={tool} messageId={messageId} />}
      {needsConnection(tool) && <ConnectionPlace tool={tool} messageId={messageId} />}
      {tool.input !== undefined && <InputRequest callId={tool.call_id} input={tool.input} />}
    </div>
  )
}

/** Asks the user to connect to the server, but only in the last answer, because only that answer can be regenerated. */
function ConnectionPlace({ tool: { name }, messageId }: ToolViewProps): VNode | null {
  const requests = useChangeRequests()
  useEffect(() => void connections.load(), [])
  const loaded = connections.module.value
  if (loaded === null || requests?.api === undefined || requests.store.lastAnswerId.value !== messageId) return null
  // Server names contain no underscores (SPEC MP16).
  const [server = ""] = name.split("_")
  return (
    <loaded.ConnectRequest api={requests.api} server={server} onRetry={() => requests.regenerateAnswer(messageId)} />
  )
}

const WRENCH = "M12.6 4a4 4 0 0 0-4.7 5.3l-4.4 4.4 2.8 2.8 4.4-4.4A4 4 0 0 0 16 7.4l-2.4 2.4-2.8-.6-.6-2.8z"

/** The icons of the built-in tools, on a grid of 20 units. */
const ICON_PATHS: ReadonlyMap<string, string> = new Map([
  ["weather", "M6.5 15.5a3.4 3.4 0 1 1 .5-6.8 4.5 4.5 0 0 1 8.7 1.5 2.7 2.7 0 0 1-.4 5.3z"],
  ["chart", "M4.5 16V9.5M10 16V4.5M15.5 16V7.5"],
  ["image_generate", "M3.5 4.5h13v11h-13zM3.5 13l4-4 6 6M13 8h.01"],
  ["speak", "M4 8.5v3M8 5.5v9M12 3.5v13M16 7.5v5"],
  ["canvas_create", "M5.5 3.5h6l3 3v10h-9zM11.5 3.5v3h3"],
  ["search", "M8.8 14.1a5.3 5.3 0 1 0 0-10.6 5.3 5.3 0 0 0 0 10.6zM12.7 12.7l4 4"],
  ["fetch_page", "M5.5 3.5h9v13h-9zM8 7h4M8 10h4M8 13h2"],
  ["calculate", "M5.5 3.5h9v13h-9zM5.5 7.5h9M8.5 10.5h.01M11.5 10.5h.01M8.5 13.5h.01M11.5 13.5h.01"],
  ["timer", "M10 17a6 6 0 1 0 0-12 6 6 0 0 0 0 12zM8.5 2.5h3M10 8v3l2 1.5"],
  ["list", "M8.5 5.5h8M8.5 10h8M8.5 14.5h8M3.5 5.5l1 1 1.5-2M3.5 10l1 1 1.5-2M4.5 14.5h.01"],
  ["rename_conversation", "M4.5 15.5l.7-3.2 8-8 2.5 2.5-8 8z"],
])

export function ToolIcon({ name }: { readonly name: string }): VNode {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <path d={ICON_PATHS.get(name) ?? WRENCH} />
    </svg>
  )
}

/** The name of a tool. A built-in tool is shown with a label, any other under its own name. */
function ToolName({ name }: { readonly name: string }): VNode {
  const label = getToolLabel(name)
  return label === name ? <code>{name}</code> : <b title={name}>{label}</b>
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

/** A running tool's output. It keeps its scroll position, and follows the end if the user has scrolled to the end. */
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long block must be scrollable with the keyboard. */}
      <pre tabIndex={0} ref={outputRef} onScroll={updateIsAtEnd}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}

/** Asks the user to allow or deny a call. Disappears once the user has decided, in any tab. */
function ApprovalRequest({ tool: { call_id, name }, messageId }: ToolViewProps): VNode | null {
  const fieldsetRef = useRef<HTMLFieldSetElement>(null)
  const label = getToolLabel(name)
  const requests = useChangeRequests()
  const tools = answerTools.module.value
  if (requests === null) return null
  const command = requests.commands.pending.value.get(call_id)?.command
  const sentDecision = command?.type === "approve" ? command.decision : null
  const refusal = requests.commands.refusals.value.get(call_id)
  const sendDecision = (decision: "allow" | "deny") => () => {
    if (sentDecision !== null) return
    requests.decideApproval(messageId, call_id, decision)
    // The buttons are about to disappear, so the focus moves to the call.
    fieldsetRef.current?.parentElement?.querySelector("summary")?.focus({ preventScroll: true })
  }
  return (
    <fieldset class="ask" aria-label={toolText.approvalLabel(label)} ref={fieldsetRef}>
      <p>{toolText.approvalQuestion(label)}</p>
      <button type="button" class="firm" aria-disabled={sentDecision !== null} onClick={sendDecision("allow")}>
        {sentDecision === "allow" ? toolText.allowing : toolText.allow}
      </button>
      {tools !== null && requests.api !== undefined && (
        <tools.AlwaysAllowButton
          api={requests.api}
          session={requests.id}
          tool={name}
          isDisabled={sentDecision !== null}
        />
      )}
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

/** Loaded when a call first asks the user a question. */
const inputForm = deferModule(() => import("./input/input-form.tsx"))

interface InputRequestProps {
  readonly callId: string
  readonly input: NonNullable<ToolSegment["input"]>
}

/** The form in which the call asks the user for input. Renders nothing where no answer can be sent. SPEC MP34. */
function InputRequest({ callId, input }: InputRequestProps): VNode | null {
  useEffect(() => void inputForm.load(), [])
  const requests = useChangeRequests()
  const InputForm = inputForm.module.value?.InputForm
  if (InputForm === undefined || requests?.api === undefined) return null
  return <InputForm key={input.id} api={requests.api} session={requests.id} callId={callId} input={input} />
}

/** Maximum length of a hint, in UTF-16 code units: one line on a phone. */
const MAX_HINT_CHARS = 60

/**
 * Maximum length of an argument in a hint. A longer argument, or one with several lines, is probably a document, which
 * says little about the call.
 */
const MAX_HINTED_CHARS = 200

/**
 * Joins the distinct string and number arguments, or only the short ones if there are any. These arguments are enough
 * to tell collapsed calls apart.
 */
export function createHint(args: string): string {
  const value = parseJson(args)
  if (typeof value !== "object" || value === null) return ""
  const values = Object.values(value).filter((arg) => typeof arg === "string" || typeof arg === "number")
  const distinct = [...new Set(values)]
  const short = distinct.filter((arg) => !/\n/.test(String(arg)) && String(arg).length <= MAX_HINTED_CHARS)
  const items = (short.length > 0 ? short : distinct).map(String)
  return toExcerpt(formatList(items).replace(/\s+/g, " "), MAX_HINT_CHARS)
}
