/**
 * tool.tsx: a tool call: what was asked, what it said while it ran, what came back.
 *
 * Folded; its badge says how it stands. Arguments and results are JSON, printed again and coloured once somebody looks.
 */

import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { parseJson, type Segment } from "../../shared/frame.ts"
import type { CallStatus } from "../../shared/message.ts"
import { excerpt } from "../excerpt.ts"
import { JsonText } from "./json.tsx"

type ToolSegment = Extract<Segment, { type: "tool" }>

const BADGES: Readonly<Record<CallStatus, string>> = {
  queued: "QUEUED",
  running: "RUNNING",
  waiting: "WAITING",
  ok: "OK",
  failed: "FAILED",
  interrupted: "INTERRUPTED",
}

export function ToolView({ tool }: { readonly tool: ToolSegment }): VNode {
  const [opened, setOpened] = useState(false)
  const { name, args, status, output, result, error, truncated } = tool
  const hint = hintOf(args)
  return (
    <details data-segment="tool" data-state={status} onToggle={(event) => event.currentTarget.open && setOpened(true)}>
      <summary>
        <code>{name}</code>
        {hint !== "" && <span class="hint">{hint}</span>}
        <span class="badge">[{BADGES[status]}]</span>
      </summary>
      <div class="call">
        <JsonText title="Arguments" text={args} coloured={opened} />
        {output !== undefined && output !== "" && <JsonText title="Output" text={output} coloured={false} />}
        {result !== undefined && <JsonText title="Result" text={result} coloured={opened} />}
        {truncated !== undefined && (
          <p class="note">
            Shown in part: {truncated.lines.toLocaleString("en")} lines, {truncated.bytes.toLocaleString("en")} bytes in
            all.
          </p>
        )}
        {error !== undefined && <p class="fault">{error.message}</p>}
      </div>
    </details>
  )
}

/** Longest hint, in UTF-16 code units: one line on a phone. */
const MAX_HINT_CHARS = 60

/** The plain values of the arguments: enough to tell two calls apart while they are folded. */
export function hintOf(args: string): string {
  const value = parseJson(args)
  if (typeof value !== "object" || value === null) return ""
  const words = Object.values(value).filter((one) => typeof one === "string" || typeof one === "number")
  return excerpt(words.join(", ").replace(/\s+/g, " "), MAX_HINT_CHARS)
}
