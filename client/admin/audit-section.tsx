/** audit-section.tsx: the audit log: filtered pages, download and verification. Source: SPEC AD6. */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { AuditEntry, AuditPage } from "../../shared/protocol/audit-entry.ts"
import { saveBlob } from "../ui/save-file.ts"
import { adminText, auditText } from "../words/admin-text.ts"
import type { AdminApi } from "./admin-api.ts"
import { parseAuditPage, parseAuditVerification } from "./admin-responses.ts"
import { type AdminContext, useAction, useLoaded } from "./admin-state.ts"
import { FaultText, Pending, TextField, Time } from "./form-fields.tsx"

const AUDIT_PATH = "/v1/audit"
/** Maximum number of pages that one click loads to find a match, so that a rare action is found without many clicks. */
const MAX_EMPTY_PAGES = 20

interface Filter {
  readonly action: string
  readonly actor: string
}

const NO_FILTER: Filter = { action: "", actor: "" }

export function AuditSection({ api, identity }: AdminContext): VNode {
  const filter = useSignal(NO_FILTER)
  const page = useLoaded(() => loadEntries(api, filter.peek(), null), JSON.stringify(filter.value))
  const older = useAction()
  const entries = page.value?.entries ?? []
  const showOlder = async (): Promise<void> => {
    const filtered = filter.peek()
    const next = await loadEntries(api, filtered, page.value?.next ?? null)
    // The user may have chosen another filter in the meantime.
    if (filter.peek() === filtered) page.set({ ...next, entries: [...entries, ...next.entries] })
  }
  return (
    <>
      <p class="lead">{auditText.lead}</p>
      <AuditTools api={api} tenant={identity.tenant} />
      <FilterForm filter={filter} />
      <Pending of={page} />
      {page.value !== null && entries.length === 0 && <p class="pending">{auditText.empty}</p>}
      <ol class="rows log" aria-label={adminText.section.audit}>
        {entries.map((entry) => (
          <EntryRow key={entry.seq} entry={entry} />
        ))}
      </ol>
      <FaultText text={older.fault} />
      {page.value !== null && page.value.next !== null && (
        <button type="button" class="more-rows" disabled={older.isRunning} onClick={() => void older.run(showOlder)}>
          {older.isRunning ? adminText.loading : auditText.older}
        </button>
      )}
    </>
  )
}

/**
 * Loads a page of entries. With a filter, a page can be empty even though older pages have matches, so empty pages are
 * skipped.
 */
async function loadEntries(api: AdminApi, { action, actor }: Filter, before: number | null): Promise<AuditPage> {
  let cursor = before
  for (let count = 1; ; count++) {
    const query = new URLSearchParams({
      ...(cursor === null ? {} : { before: String(cursor) }),
      ...(action === "" ? {} : { action }),
      ...(actor === "" ? {} : { actor }),
    })
    const page = await api.get(`${AUDIT_PATH}?${query.toString()}`, parseAuditPage)
    if (page.entries.length > 0 || page.next === null || count >= MAX_EMPTY_PAGES) return page
    cursor = page.next
  }
}

function FilterForm({ filter }: { readonly filter: Signal<Filter> }): VNode {
  const entry = useSignal(filter.peek())
  const applyFilter = (next: Filter): void => {
    entry.value = next
    filter.value = { action: next.action.trim(), actor: next.actor.trim() }
  }
  return (
    <search>
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault()
          applyFilter(entry.peek())
        }}
      >
        <TextField
          label={auditText.action}
          hint={auditText.actionHint}
          value={entry.value.action}
          onChange={(action) => (entry.value = { ...entry.peek(), action })}
        />
        <TextField
          label={auditText.actor}
          hint={auditText.actorHint}
          value={entry.value.actor}
          onChange={(actor) => (entry.value = { ...entry.peek(), actor })}
        />
        <p class="filter-buttons">
          <button type="submit">{auditText.filter}</button>
          {(filter.value.action !== "" || filter.value.actor !== "") && (
            <button type="button" onClick={() => applyFilter(NO_FILTER)}>
              {auditText.clear}
            </button>
          )}
        </p>
      </form>
    </search>
  )
}

interface AuditToolsProps {
  readonly api: AdminApi
  readonly tenant: string
}

function AuditTools({ api, tenant }: AuditToolsProps): VNode {
  const download = useAction()
  const verify = useAction()
  const result = useSignal("")
  const checked = useSignal(0)
  const isBroken = useSignal(false)
  const verifyAll = async (): Promise<void> => {
    isBroken.value = false
    checked.value = 0
    result.value = auditText.verifying
    const { rows, firstBad } = await verifyLog(api, (count) => (checked.value = count))
    isBroken.value = firstBad !== null
    result.value = firstBad === null ? auditText.intact(rows) : auditText.broken(firstBad)
  }
  return (
    <div class="tools">
      <button type="button" disabled={verify.isRunning} onClick={() => void verify.run(verifyAll)}>
        {auditText.verify}
      </button>
      <button
        type="button"
        disabled={download.isRunning}
        onClick={() =>
          void download.run(async () => saveBlob(await api.download(`${AUDIT_PATH}/export`), `${tenant}-audit.jsonl`))
        }
      >
        {download.isRunning ? auditText.downloading : auditText.download}
      </button>
      <p role="status" class={isBroken.value ? "fault" : undefined}>
        {verify.fault === null ? result.value : ""}
      </p>
      {/* Outside the status, so that screen readers don't announce every change of the counter. */}
      {verify.isRunning && checked.value > 0 && <p>{auditText.checked(checked.value)}</p>}
      <FaultText text={verify.fault ?? download.fault} />
    </div>
  )
}

/** Checks the whole log, in as many requests as it needs. */
async function verifyLog(
  api: AdminApi,
  onProgress: (rows: number) => void,
): Promise<{ readonly rows: number; readonly firstBad: number | null }> {
  let rows = 0
  let after: string | null = null
  for (;;) {
    const body: object = after === null ? {} : { after }
    const step = await api.send("POST", `${AUDIT_PATH}/verify`, body, parseAuditVerification)
    rows += step.rows
    if (!step.ok || step.next === null) return { rows, firstBad: step.first_bad }
    onProgress(rows)
    after = step.next
  }
}

function EntryRow({ entry: { seq, at, actor, action, target, details } }: { readonly entry: AuditEntry }): VNode {
  const kinds: Readonly<Partial<Record<string, string>>> = auditText.by
  const text = details === null ? "" : formatDetails(details)
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <code>{action}</code>
          {target !== null && <bdi class="target">{target}</bdi>}
        </p>
        <p class="row-note">
          <span>#{seq}</span> <Time at={at} />{" "}
          <span>
            {kinds[actor.kind] ?? actor.kind} <bdi>{actor.id}</bdi>
            {actor.address !== null && ` ${auditText.from(actor.address)}`}
          </span>
        </p>
        {text !== "" && (
          <p class="details" dir="auto">
            {text}
          </p>
        )}
      </div>
    </li>
  )
}

/** Formats an entry's details as one line, without the fields that aren't set. */
export function formatDetails(details: object): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(", ") : formatValue(value)}`)
    .join(" · ")
}

/** Formats a value. The log stores a list as comma-separated text, so a space is added after each comma. */
function formatValue(value: unknown): string {
  return String(value).replaceAll(/,(?=\S)/g, ", ")
}
