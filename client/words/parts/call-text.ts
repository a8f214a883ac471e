/** call-text.ts: the strings of tool calls. */

import type { CallStatus } from "../../../shared/protocol/message.ts"
import { formatCount } from "../format/number-format.ts"
import { translate } from "../languages/language.ts"
import { formatSize } from "../format/file-size.ts"
import type { UserNeed } from "./message-text.ts"

export const toolText = translate("tool", {
  arguments: "Arguments",
  output: "Output",
  result: "Result",
  allowed: "Allowed",
  denied: "Denied",
  needsApproval: "Needs approval",
  needsInput: "Needs an answer",
  status: {
    queued: "Queued",
    running: "Running",
    waiting: "Waiting",
    ok: "Done",
    failed: "Failed",
    interrupted: "Interrupted",
  } satisfies Record<CallStatus, string>,
  /** `count` is at least 2. */
  calls: (count: number, failed: number) => `${count} tool calls${failed === 0 ? "" : ` · ${failed} failed`}`,
  onlyPart: "Showing only a part.",
  /** `whole`: the lines, the size, or both. */
  partOf: (whole: string) => `Showing part of ${whole}.`,
  partSoFar: (whole: string) => `Showing part of ${whole} so far.`,
  /** `size` is empty if unknown. */
  lines: (count: number, size: string) =>
    `${formatCount(count)} ${count === 1 ? "line" : "lines"}${size === "" ? "" : ` (${size})`}`,
  showAll: (chars: number) => `Show all (${formatCount(chars)} more characters)`,
  /** Announced to screen readers when a tool starts. */
  using: (tool: string) => `Using ${tool}.`,
  approvalLabel: (tool: string) => `Allow ${tool}?`,
  approvalQuestion: (tool: string) => `Allow Cuecard to run ${tool}?`,
  allow: "Allow",
  allowing: "Allowing…",
  deny: "Deny",
  denying: "Denying…",
})

/** Describes the size of text that is shown only in part. Zeros mean that the size is unknown. */
export function formatTruncation(lines: number, bytes: number, isSettled: boolean): string {
  const size = bytes > 0 ? formatSize(bytes) : ""
  const whole = lines > 0 ? toolText.lines(lines, size) : size
  if (whole === "") return toolText.onlyPart
  return isSettled ? toolText.partOf(whole) : toolText.partSoFar(whole)
}

export function formatCallStatus(status: CallStatus, need: UserNeed = null): string {
  if (status !== "waiting" || need === null) return toolText.status[status]
  return need === "approval" ? toolText.needsApproval : toolText.needsInput
}
