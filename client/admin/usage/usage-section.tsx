/** usage-section.tsx: the usage and cost of the tenant's model calls: totals, a chart and tables. Source: SPEC MT12. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { TotalsView, UsageRowView, UsageView } from "../../../shared/usage/usage-view.ts"
import { saveBlob } from "../../ui/save-file.ts"
import { adminText } from "../../words/admin-text.ts"
import { formatCost, formatCount, usageText } from "../../words/usage-text.ts"
import type { AdminApi } from "../admin-api.ts"
import { type AdminContext, useAction, useLoaded } from "../admin-state.ts"
import { FaultText, Pending, SelectField } from "../form-fields.tsx"
import { DeferredUnpricedModels } from "../prices/deferred-prices.tsx"
import { UsageChart } from "./usage-chart.tsx"
import { type Measure, nameRow, parseUsage, type Range, toBars, toDays } from "./usage-data.ts"

type Group = keyof typeof usageText.groups

export function UsageSection({ api, identity }: AdminContext): VNode {
  const range = useSignal<Range>("month")
  const measure = useSignal<Measure>("cost")
  const group = useSignal<Group>("model")
  const usage = useLoaded(() => loadUsage(api, range.peek(), "day"), range.value)
  const page = usage.value
  return (
    <>
      <p class="lead">{usageText.lead}</p>
      <div class="usage-choices">
        <SelectField
          label={usageText.range}
          options={usageText.ranges}
          value={range.value}
          onChange={(next) => (range.value = next)}
        />
        <SelectField
          label={usageText.measure}
          options={usageText.measures}
          value={measure.value}
          onChange={(next) => (measure.value = next)}
        />
      </div>
      <Pending of={usage} />
      {page !== null && (
        <>
          <Totals total={page.total} />
          <IncompleteNote page={page} />
          {page.total.unpriced_calls > 0 && <DeferredUnpricedModels api={api} range={range.value} />}
          <UsageChart
            bars={toBars(page, range.value, measure.value)}
            measure={measure.value}
            label={usageText.chartOf(usageText.measures[measure.value], usageText.ranges[range.value])}
          />
        </>
      )}
      <section>
        <div class="usage-choices">
          <SelectField
            label={usageText.by}
            options={usageText.groups}
            value={group.value}
            onChange={(next) => (group.value = next)}
          />
          <Download api={api} tenant={identity.tenant} range={range.value} group={group.value} />
        </div>
        <Breakdown key={`${range.value} ${group.value}`} api={api} range={range.value} group={group.value} />
      </section>
    </>
  )
}

function usagePath(range: Range, by: string, more: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({ ...toDays(range, Date.now()), by, ...more })
  return `/v1/usage?${query.toString()}`
}

async function loadUsage(api: AdminApi, range: Range, by: string, after: string | null = null): Promise<UsageView> {
  return await api.get(usagePath(range, by, after === null ? {} : { after }), parseUsage)
}

function Totals({ total }: { readonly total: TotalsView }): VNode {
  return (
    <>
      <dl class="usage-totals">
        <Figure label={usageText.total.cost} value={formatTotalCost(total)} note={describeUnpriced(total)} />
        <Figure
          label={usageText.total.input}
          value={formatCount(total.input_tokens)}
          note={usageText.cached(formatCount(total.cached_tokens))}
        />
        <Figure
          label={usageText.total.output}
          value={formatCount(total.output_tokens)}
          note={usageText.reasoning(formatCount(total.reasoning_tokens))}
        />
        <Figure
          label={usageText.total.calls}
          value={formatCount(total.calls)}
          note={total.retries === 0 ? "" : usageText.retries(formatCount(total.retries))}
        />
      </dl>
      {total.unpriced_calls > 0 && <p class="row-note">{usageText.unpricedHint}</p>}
    </>
  )
}

/** Says that totals across several users may not include all turns. The values for a single user are complete. */
function IncompleteNote({ page: { incomplete } }: { readonly page: UsageView }): VNode | null {
  return incomplete === undefined ? null : <p class="row-note">{usageText.incomplete(incomplete.turns_per_user)}</p>
}

interface FigureProps {
  readonly label: string
  readonly value: string
  readonly note: string
}

function Figure({ label, value, note }: FigureProps): VNode {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
      {note !== "" && (
        <dd class="row-note" dir="auto">
          {note}
        </dd>
      )}
    </div>
  )
}

function formatTotalCost({ cost_nano_usd: cost }: TotalsView): string {
  return cost === null ? usageText.unknown : formatCost(cost)
}

function describeUnpriced({ unpriced_calls: count }: TotalsView): string {
  return count === 0 ? "" : `+ ${usageText.unpriced(count)}`
}

interface BreakdownProps {
  readonly api: AdminApi
  readonly range: Range
  readonly group: Group
}

function Breakdown({ api, range, group }: BreakdownProps): VNode {
  const usage = useLoaded(() => loadUsage(api, range, group))
  const more = useAction()
  const page = usage.value
  const showMore = async (): Promise<void> => {
    if (page === null) return
    const next = await loadUsage(api, range, group, page.next)
    usage.set({ ...next, rows: [...page.rows, ...next.rows] })
  }
  return (
    <>
      <Pending of={usage} />
      {page !== null && page.rows.length === 0 && (
        <p class="pending">{page.next === null ? usageText.none : usageText.noneOnPage}</p>
      )}
      {page !== null && page.rows.length > 0 && <UsageTable rows={page.rows} group={group} />}
      {page !== null && group !== "user" && <IncompleteNote page={page} />}
      <FaultText text={more.fault} />
      {page !== null && page.next !== null && (
        <button type="button" class="more-rows" disabled={more.isRunning} onClick={() => void more.run(showMore)}>
          {more.isRunning ? adminText.loading : usageText.more}
        </button>
      )}
    </>
  )
}

function UsageTable({ rows, group }: { readonly rows: readonly UsageRowView[]; readonly group: Group }): VNode {
  return (
    <div class="usage-scroll">
      <table class="usage-table">
        <thead>
          <tr>
            <th scope="col">{usageText.groups[group]}</th>
            <th scope="col">{usageText.total.cost}</th>
            <th scope="col">{usageText.total.input}</th>
            <th scope="col">{usageText.total.output}</th>
            <th scope="col">{usageText.total.calls}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.provider ?? ""} ${nameRow(row)}`}>
              <th scope="row">
                <bdi>{nameRow(row)}</bdi>
                {row.provider !== undefined && (
                  <span class="row-note">
                    <bdi>{row.provider}</bdi>
                  </span>
                )}
              </th>
              <td>
                {formatTotalCost(row)}
                {row.unpriced_calls > 0 && (
                  <span class="row-note">
                    <bdi>{describeUnpriced(row)}</bdi>
                  </span>
                )}
              </td>
              <td>{formatCount(row.input_tokens)}</td>
              <td>{formatCount(row.output_tokens)}</td>
              <td>{formatCount(row.calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Download({ api, tenant, range, group }: BreakdownProps & { readonly tenant: string }): VNode {
  const download = useAction()
  const saveCsv = async (): Promise<void> =>
    saveBlob(await api.download(usagePath(range, group, { format: "csv" })), `${tenant}-usage-by-${group}.csv`)
  return (
    <div class="usage-download">
      <button type="button" disabled={download.isRunning} onClick={() => void download.run(saveCsv)}>
        {download.isRunning ? usageText.downloading : usageText.download}
      </button>
      <FaultText text={download.fault} />
    </div>
  )
}
