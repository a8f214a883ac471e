/**
 * checks.ts: checks a finished run. Each check compares what clients saw with what is stored.
 *
 * sessions (ledger, tabs, history) + rows → CHECKS → violations
 * Pure.
 */

import { toComparedJson, toLiveJson } from "./compared-message.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { listCalls, isEnded, type Message, type ToolCall } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { computeLatenessMs, describeWrongEnding } from "./endings.ts"
import { findLateViolations, isAsynchronous } from "./late-answers.ts"
import { findProducerViolations } from "./producer.ts"
import { findUnexpectedStates } from "./prefixes.ts"
import type { StoredSession } from "./rows.ts"
import type { CountBusyMs } from "./busy-meter.ts"
import type { TestSession } from "./test-session.ts"
import type { Tab } from "./tab.ts"
import { clipText, type Rule, type Violation } from "./violation.ts"

type Report = (rule: Rule, detail: string) => void

/** The data about a whole run that the checks need. */
export interface Facts {
  /** Number of times that each side effect happened, by `<key>/<call id>`. */
  readonly effects: ReadonlyMap<string, number>
  readonly kills: number
  /** Times at which the server was ready again after a kill, in milliseconds since 1970. */
  readonly readyAt: readonly number[]
  readonly hasSmallContext: boolean
  /** How long other work on the machine delayed the server. */
  readonly countBusyMs: CountBusyMs
}

/** Runs all checks on one session. The server must be stopped. */
export function checkSession(session: TestSession, stored: StoredSession | undefined, facts: Facts): Violation[] {
  const found: Violation[] = []
  const report: Report = (rule, detail) => void found.push({ rule, session: session.plan.name, detail })
  if (stored === undefined) {
    report("stored_once", "the session is not stored")
    return found
  }
  try {
    checkStored(session, stored, facts, report)
  } catch (error) {
    // The code that reads the rows throws if a row is missing.
    report("rows_whole", clipText(error instanceof Error ? (error.stack ?? error.message) : String(error)))
  }
  return found
}

function checkStored(session: TestSession, stored: StoredSession, facts: Facts, report: Report): void {
  checkSends(session, stored, report)
  checkOrder(session, stored, report)
  checkDoubles(stored, report)
  checkRows(session.page, stored, report)
  checkEnds(session, stored, facts, report)
  checkCancels(session, stored, report)
  checkEffects(session, stored, facts.effects, report)
  checkFiles(session, stored, report)
  for (const { rule, detail } of findProducerViolations(session, stored)) report(rule, detail)
  for (const { rule, detail } of findLateViolations(session.plan.name, stored)) report(rule, detail)
  for (const tab of session.tabs) checkShown(tab, stored, report)
}

/** Checks that every stored message has the file that was sent with it. */
function checkFiles({ files }: TestSession, { all }: StoredSession, report: Report): void {
  for (const [id, file] of files) {
    const message = all.find((message) => message.id === id)
    if (message !== undefined && !message.attachments.some((asset) => asset.id === file))
      report("files_kept", `${id} was sent with ${file} but has ${message.attachments.length} files`)
  }
}

/**
 * Checks that every acknowledged message is stored once with its text, or was withdrawn, and that no refused message is
 * stored.
 */
function checkSends({ ledger, withdrawals }: TestSession, { all, withdrawn }: StoredSession, report: Report): void {
  for (const { id, content, acks, refusals } of ledger.values()) {
    const rows = all.filter((message) => message.id === id)
    const count = rows.length + (withdrawn.has(id) ? 1 : 0)
    const isMessage = !withdrawals.has(id)
    if (acks.length > 0 && count !== 1 && isMessage)
      report("stored_once", `${id} was acknowledged but is stored ${count} times`)
    if (acks.length === 0 && refusals.length > 0 && count > 0)
      report("refused_not_stored", `${id}: ${refusals.join(", ")}`)
    for (const row of rows) {
      if (content !== null && row.words !== content)
        report("words_kept", `${id}: ${clipText(row.words)} is stored, but ${clipText(content)} was sent`)
    }
  }
}

/**
 * Checks that messages are stored in the order of their acknowledgements. Only acknowledgements of waiting messages are
 * compared, because a later acknowledgement carries the seq of the turn's start.
 */
function checkOrder({ ledger }: TestSession, { all, seqs }: StoredSession, report: Report): void {
  let before = { id: "", seq: 0 }
  for (const { id, role } of all) {
    const seq = Math.min(...(ledger.get(id)?.acks ?? []))
    if (role !== "user" || seq >= (seqs.get(id) ?? seq + 1)) continue
    if (seq < before.seq)
      report(
        "order_kept",
        `${id} was acknowledged with seq ${seq} but is stored after ${before.id}, which was acknowledged with seq ${before.seq}`,
      )
    before = { id, seq }
  }
}

/**
 * Checks that a cancelled answer is stored as cancelled and does not change afterwards, and that a withdrawn message
 * starts no turn (SPEC FS3).
 */
function checkCancels(session: TestSession, { all, seqs, withdrawn }: StoredSession, report: Report): void {
  for (const [exchange, acknowledgedSeqs] of session.cancelled) {
    const answers = all.filter((message) => message.exchange_id === exchange && message.role === "assistant")
    for (const seq of new Set(acknowledgedSeqs)) {
      const isCancelled = answers.some(({ id, status }) => status === "cancelled" && seqs.get(id) === seq)
      if (isCancelled || withdrawn.get(exchange) === seq) continue
      const stored = answers.map(({ id, status }) => `${status} at ${seqs.get(id)}`).join(", ")
      report("cancel_holds", `${exchange} was cancelled with seq ${seq} but is stored as ${stored}`)
    }
  }
  for (const [command, message] of session.withdrawals) {
    const isAcknowledged = (session.ledger.get(command)?.acks.length ?? 0) > 0
    if (isAcknowledged && !withdrawn.has(message)) report("cancel_holds", `${message} was withdrawn but is stored`)
  }
}

/**
 * Checks that the side effect of each tool call happened at most once, exactly once if the call succeeded, and never if
 * the call was denied or is unknown (SPEC FS2). A retry keeps the ids of calls, so several answers can contain the same
 * call.
 */
function checkEffects({ plan }: TestSession, { all }: StoredSession, effects: Facts["effects"], report: Report): void {
  const calls = new Map<string, ToolCall[]>()
  for (const call of all.flatMap(listCalls)) {
    const key = keyIn(call)
    if (key !== null) calls.set(`${key}/${call.call_id}`, [...(calls.get(`${key}/${call.call_id}`) ?? []), call])
  }
  for (const [key, same] of calls) {
    const count = effects.get(key) ?? 0
    const isAllowed = same.some(({ approval }) => approval === null || approval === "allowed")
    if (count > 1) report("once_dispatched", `${key} happened ${count} times`)
    if (count > 0 && !isAllowed) report("once_dispatched", `${key} happened without approval`)
    if (count === 0 && same.some(({ status }) => status === "ok"))
      report("once_dispatched", `${key} is stored as ok but never happened`)
  }
  for (const key of effects.keys()) {
    if (key.startsWith(`${plan.name}-`) && !calls.has(key))
      report("once_dispatched", `${key} happened, but no call is stored`)
  }
}

function keyIn({ name, args }: ToolCall): string | null {
  if (name !== "probe_effect" && name !== "probe_ask") return null
  const key = /"key":"([^"]+)"/.exec(args)?.[1]
  return key ?? null
}

/** Checks that no id and no text is stored twice. The text of each message in a run is unique. */
function checkDoubles({ all }: StoredSession, report: Report): void {
  const users = all.filter(({ role }) => role === "user")
  for (const id of doublesOf(all.map((message) => message.id))) report("no_duplicates", `the id ${id}`)
  for (const words of doublesOf(users.map((message) => message.words)))
    report("no_duplicates", `the text ${clipText(words)}`)
}

function doublesOf(values: readonly string[]): string[] {
  return values.filter((value, at) => values.indexOf(value) !== at)
}

/** Checks that the last reload shows what the rows contain, and that its seq is the highest stored one. */
function checkRows(page: HistoryPage | null, { path, lastSeq, epoch }: StoredSession, report: Report): void {
  if (page === null) return report("answered", "history could not be read")
  const difference = differenceOf(page.messages, path.map(messageToWire), toComparedJson)
  if (difference !== null) report("history_is_rows", difference)
  if (page.seq !== lastSeq || page.epoch !== epoch) {
    report("seq_is_rows", `${page.epoch} ${page.seq} was sent, ${epoch} ${lastSeq} is stored`)
  }
}

function checkEnds(
  { cancelRequested }: TestSession,
  { all }: StoredSession,
  { kills, readyAt, hasSmallContext, countBusyMs }: Facts,
  report: Report,
): void {
  for (const message of all) {
    const { id, status, role, exchange_id } = message
    if (!isEnded(status)) report("turn_ends", `${id} is stored as ${status}`)
    if (role !== "assistant") continue
    const question = all.find((message) => message.id === exchange_id)?.words ?? ""
    const isCancelRequested = cancelRequested.has(exchange_id)
    const wrong = describeWrongEnding(message, { question, kills, isCancelRequested, hasSmallContext })
    if (wrong !== null) report("ends_correctly", wrong)
    const late = computeLatenessMs(message, readyAt, countBusyMs)
    if (late > 0) report("turn_ends", `${id} ended ${late} ms too late after ${clipText(question, 60)}`)
  }
}

/**
 * Describes how a tab differs from a page of history, or returns null if they match. A tab has at least the first page.
 */
export function liveDifference(tab: Tab, page: HistoryPage): string | null {
  const shown = tab.messages()
  const unsent = tab
    .controller()
    .outbox.entries.peek()
    .filter(({ error }) => error === null)
  if (unsent.length > 0) return `not yet in the transcript: ${unsent.map(({ id }) => id).join(", ")}`
  if (shown.length < Math.min(page.messages.length, MIN_SHOWN))
    return `${shown.length} of ${page.messages.length} messages`
  return differenceOf(shown, page.messages.slice(-shown.length), toLiveJson)
}

/** Number of messages that a tab loads first. */
const MIN_SHOWN = 24

function differenceOf(a: readonly WireMessage[], b: readonly WireMessage[], bytes: (message: WireMessage) => string) {
  if (a.length !== b.length) return `${a.length} messages, and ${b.length}`
  for (const [at, message] of a.entries()) {
    const other = b[at]
    if (other === undefined) return `nothing at ${at}`
    const [one, two] = [bytes(message), bytes(other)]
    if (one !== two) return `message ${at} differs: ${cutAtDifference(one, two)}`
  }
  return null
}

/** Returns both texts, from shortly before their first difference. */
function cutAtDifference(a: string, b: string): string {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  const from = Math.max(0, at - 80)
  return `${clipText(a.slice(from), 240)} ≠ ${clipText(b.slice(from), 240)}`
}

/**
 * Checks that every state that a tab showed is a prefix of the stored message, and that an ended message does not
 * change.
 */
function checkShown(tab: Tab, { all, withdrawn }: StoredSession, report: Report): void {
  for (const [id, states] of tab.shown) {
    if (withdrawn.has(id)) continue
    const final = all.find((message) => message.id === id)
    if (final === undefined) {
      report("shown_is_stored", `${id} was shown but is not stored: ${clipText(toCanonicalJson(states.at(-1)))}`)
      continue
    }
    const [unexpected] = findUnexpectedStates(final, states)
    if (unexpected !== undefined) report("shown_is_stored", describeUnexpectedState(unexpected, final))
    checkEnded(id, states, final, report)
  }
}

function describeUnexpectedState(unexpected: WireMessage, final: Message): string {
  return `${unexpected.id}: ${cutAtDifference(toLiveJson(unexpected), toLiveJson(messageToWire(final)))}`
}

function checkEnded(id: string, states: readonly WireMessage[], final: Message, report: Report): void {
  const ended = states.filter(({ status, role }) => role === "assistant" && isEnded(status))
  const last = endJson(messageToWire(final))
  const other = ended.find((state) => endJson(state) !== last)
  if (other !== undefined) report("ends_once", `${id}: ${cutAtDifference(endJson(other), last)}`)
}

/** Returns an ended message as JSON, without what an agent's late answer can still change after the end of the turn. */
function endJson({ segments, status, reason, metrics }: WireMessage): string {
  const fixed = segments.map((segment) => {
    if (segment.type !== "tool" || !isAsynchronous(segment)) return segment
    const { status: _status, result: _result, error: _error, ...rest } = segment
    return rest
  })
  return toCanonicalJson({ segments: fixed, status, reason, metrics })
}
