/** feedback-section.tsx: shows how users rated each agent's answers, and why. Source: SPEC AD23. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { feedbackText } from "../../words/admin/feedback-text.ts"
import { formatCount } from "../../words/usage-text.ts"
import { type AdminContext, useLoaded } from "../admin-state.ts"
import { Pending, SelectField } from "../form-fields.tsx"
import { type AgentFeedback, listMonths, parseFeedbackCounts, sumByAgent } from "./feedback-data.ts"

export { FeedbackSection as Section }

export function FeedbackSection({ api }: AdminContext): VNode {
  const loaded = useLoaded(() => api.get("/v1/feedback", parseFeedbackCounts))
  const month = useSignal("")
  const counts = loaded.value?.counts ?? []
  const rows = sumByAgent(counts, month.value)
  const months = Object.fromEntries(listMonths(counts).map((name) => [name, feedbackText.monthOf(name)]))
  return (
    <>
      <p class="lead">{feedbackText.lead}</p>
      <Pending of={loaded} />
      {loaded.value !== null && rows.length === 0 && <p class="pending">{feedbackText.empty}</p>}
      {rows.length > 0 && (
        <>
          <div class="usage-choices">
            <SelectField
              label={feedbackText.month}
              options={{ "": feedbackText.allMonths, ...months }}
              value={month.value}
              onChange={(value) => (month.value = value)}
            />
          </div>
          <FeedbackTable rows={rows} />
        </>
      )}
    </>
  )
}

function FeedbackTable({ rows }: { readonly rows: readonly AgentFeedback[] }): VNode {
  return (
    <div class="usage-scroll">
      <table class="usage-table">
        <thead>
          <tr>
            <th scope="col">{feedbackText.agent}</th>
            <th scope="col">{feedbackText.up}</th>
            <th scope="col">{feedbackText.down}</th>
            <th scope="col">{feedbackText.share}</th>
            <th scope="col" class="words">
              {feedbackText.reasons}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ agent, up, down, reasons }) => (
            <tr key={agent}>
              <th scope="row">
                <bdi>{agent}</bdi>
              </th>
              <td>{formatCount(up)}</td>
              <td>{formatCount(down)}</td>
              <td>{feedbackText.shareOf(up, up + down)}</td>
              <td class="words">
                {reasons.map(([reason, count]) => feedbackText.reasonCount(reason, formatCount(count))).join(" · ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
