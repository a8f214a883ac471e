/** usage-dialog.tsx: the tokens of an answer and, where the tenant shows it, its cost. Source: SPEC WR14. */

import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { AnswerUsage } from "../../../shared/protocol/writing/answer-usage.ts"
import type { Api } from "../../net/api.ts"
import { describeError } from "../../net/http-request.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { formatList } from "../../words/format/list-format.ts"
import { formatCount } from "../../words/format/number-format.ts"
import { formatLocale } from "../../words/languages/language.ts"
import { writingText } from "../../words/writing-text.ts"
import { readUsage } from "../writing-api.ts"

interface UsageDialogProps {
  readonly api: Api
  readonly session: string
  readonly messageId: string
  /** How long the answer took, in milliseconds; null if unknown. */
  readonly ms: number | null
  readonly onClose: () => void
}

export function UsageDialog({ api, session, messageId, ms, onClose }: UsageDialogProps): VNode {
  const [usage, setUsage] = useState<AnswerUsage | null>(null)
  const [error, setError] = useState("")
  useEffect(() => {
    readUsage(api, session, messageId).then(setUsage, (refusal: unknown) => setError(describeError(refusal)))
  }, [])
  return (
    <Dialog title={writingText.usageTitle} onCancel={onClose}>
      {usage === null && error === "" && <p>{writingText.loading}</p>}
      {usage !== null && usage.calls === 0 && <p>{writingText.noUsage}</p>}
      {usage !== null && usage.calls > 0 && <UsageTable usage={usage} ms={ms} />}
      {usage?.estimated === true && <p class="lead">{writingText.estimated}</p>}
      {error !== "" && (
        <p class="fault" role="alert">
          {error}
        </p>
      )}
      <div class="ways">
        <button type="button" class="firm" data-first="" onClick={onClose}>
          {writingText.done}
        </button>
      </div>
    </Dialog>
  )
}

function UsageTable({ usage, ms }: { readonly usage: AnswerUsage; readonly ms: number | null }): VNode {
  const { usageRows } = writingText
  const rows: readonly (readonly [string, string])[] = [
    [usageRows.model, formatList(usage.models)],
    [usageRows.calls, formatCount(usage.calls)],
    [usageRows.input, formatCount(usage.input_tokens)],
    ...(usage.cached_tokens > 0 ? [[usageRows.cached, formatCount(usage.cached_tokens)] as const] : []),
    [usageRows.output, formatCount(usage.output_tokens)],
    ...(usage.reasoning_tokens > 0 ? [[usageRows.reasoning, formatCount(usage.reasoning_tokens)] as const] : []),
    ...(usage.cost_nano_usd === null ? [] : [[usageRows.cost, formatCost(usage.cost_nano_usd)] as const]),
    ...(ms === null ? [] : [[usageRows.time, formatSeconds(ms)] as const]),
  ]
  return (
    <table class="usage">
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <bdi>{value}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const NANO_PER_DOLLAR = 1e9
/** Number of significant digits of a cost: enough to show even the cost of a short answer. */
const COST_DIGITS = 3

/** Formats a cost in the chosen language: "$0.00123". */
export function formatCost(nanoUsd: number): string {
  return new Intl.NumberFormat(formatLocale.value, {
    style: "currency",
    currency: "USD",
    maximumSignificantDigits: COST_DIGITS,
  }).format(nanoUsd / NANO_PER_DOLLAR)
}

function formatSeconds(ms: number): string {
  return new Intl.NumberFormat(formatLocale.value, {
    style: "unit",
    unit: "second",
    maximumFractionDigits: 1,
  }).format(ms / 1000)
}
