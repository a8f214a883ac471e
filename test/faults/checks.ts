/**
 * checks.ts: what must hold after a run, each as a function from what was seen and what is stored to what is wrong.
 *
 * stages (ledger, tabs, history) + rows → CHECKS → violations
 * Pure: nothing is asked and nothing is changed here.
 */

import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { listCalls, isEnded, type Message, type ToolCall } from "../../shared/protocol/message.ts"
import { messageToWire } from "../../shared/segment/segmenter.ts"
import { lateBy, wrongEnding } from "./endings.ts"
import { strangeStates } from "./prefixes.ts"
import type { StoredSession } from "./rows.ts"
import type { Stage } from "./stage.ts"
import type { Tab } from "./tab.ts"
import { clip, type Rule, type Violation } from "./violation.ts"

type Report = (rule: Rule, detail: string) => void

/** What is known of a whole run. */
export interface Facts {
  /** Side effects that happened, by `<key>/<call id>`. */
  readonly effects: ReadonlyMap<string, number>
  readonly kills: number
  /** When the server was ready again after each of them, in milliseconds since 1970. */
  readonly readyAt: readonly number[]
  readonly hasSmallContext: boolean
}

/** Everything that can be said of one session once its server has stopped. */
export function checkSession(stage: Stage, stored: StoredSession | undefined, facts: Facts): Violation[] {
  const found: Violation[] = []
  const report: Report = (rule, detail) => void found.push({ rule, session: stage.plan.name, detail })
  if (stored === undefined) {
    report("stored_once", "the session is not stored")
    return found
  }
  try {
    checkStored(stage, stored, facts, report)
  } catch (error) {
    // Rows with a hole: whatever reads them stumbles.
    report("rows_whole", clip(error instanceof Error ? (error.stack ?? error.message) : String(error)))
  }
  return found
}

function checkStored(stage: Stage, stored: StoredSession, facts: Facts, report: Report): void {
  checkSends(stage, stored, report)
  checkOrder(stage, stored, report)
  checkDoubles(stored, report)
  checkRows(stage.page, stored, report)
  checkEnds(stage, stored, facts, report)
  checkCancels(stage, stored, report)
  checkEffects(stage, stored, facts.effects, report)
  for (const tab of stage.tabs) checkShown(tab, stored, report)
}

/** Acknowledged: stored once, with its words, or taken back. Refused: not stored. */
function checkSends({ ledger, withdrawals }: Stage, { all, withdrawn }: StoredSession, report: Report): void {
  for (const { id, content, acks, refusals } of ledger.values()) {
    const rows = all.filter((message) => message.id === id)
    const count = rows.length + (withdrawn.has(id) ? 1 : 0)
    const isMessage = !withdrawals.has(id)
    if (acks.length > 0 && count !== 1 && isMessage)
      report("stored_once", `${id} was acknowledged and is stored ${count} times`)
    if (acks.length === 0 && refusals.length > 0 && count > 0) report("refused_away", `${id}: ${refusals.join(", ")}`)
    for (const row of rows) {
      if (content !== null && row.words !== content)
        report("words_kept", `${id}: ${clip(row.words)} was sent as ${clip(content)}`)
    }
  }
}

/**
 * Order is the order of acknowledgement. Only seqs that were told while a message waited are compared: one that is asked
 * about later is told the seq of its beginning.
 */
function checkOrder({ ledger }: Stage, { all, seqs }: StoredSession, report: Report): void {
  let before = { id: "", seq: 0 }
  for (const { id, role } of all) {
    const seq = Math.min(...(ledger.get(id)?.acks ?? []))
    if (role !== "user" || seq >= (seqs.get(id) ?? seq + 1)) continue
    if (seq < before.seq)
      report("order_kept", `${id} was told ${seq} and stands behind ${before.id}, told ${before.seq}`)
    before = { id, seq }
  }
}

/** Law 7: what was cancelled is stored so, and nothing changed it later; what was taken back begins no turn. */
function checkCancels(stage: Stage, { all, seqs, withdrawn }: StoredSession, report: Report): void {
  for (const [exchange, told] of stage.cancelled) {
    const answers = all.filter((message) => message.exchange_id === exchange && message.role === "assistant")
    for (const seq of new Set(told)) {
      const isCancelled = answers.some(({ id, status }) => status === "cancelled" && seqs.get(id) === seq)
      if (isCancelled || withdrawn.get(exchange) === seq) continue
      const stored = answers.map(({ id, status }) => `${status} at ${seqs.get(id)}`).join(", ")
      report("cancel_holds", `${exchange} was cancelled with seq ${seq}, and is stored as ${stored}`)
    }
  }
  for (const [command, message] of stage.withdrawals) {
    const isAcknowledged = (stage.ledger.get(command)?.acks.length ?? 0) > 0
    if (isAcknowledged && !withdrawn.has(message)) report("cancel_holds", `${message} was taken back, and is stored`)
  }
}

/**
 * Law 8: each call has its side effect at most once, and once where it went well; none where it was denied or never known.
 * A retry keeps calls with their ids, so several answers may tell of the same one.
 */
function checkEffects({ plan }: Stage, { all }: StoredSession, effects: Facts["effects"], report: Report): void {
  const calls = new Map<string, ToolCall[]>()
  for (const call of all.flatMap(listCalls)) {
    const key = keyIn(call)
    if (key !== null) calls.set(`${key}/${call.call_id}`, [...(calls.get(`${key}/${call.call_id}`) ?? []), call])
  }
  for (const [key, same] of calls) {
    const count = effects.get(key) ?? 0
    const isAllowed = same.some(({ approval }) => approval === null || approval === "allowed")
    if (count > 1) report("once_dispatched", `${key} happened ${count} times`)
    if (count > 0 && !isAllowed) report("once_dispatched", `${key} happened without leave`)
    if (count === 0 && same.some(({ status }) => status === "ok"))
      report("once_dispatched", `${key} is told and never happened`)
  }
  for (const key of effects.keys()) {
    if (key.startsWith(`${plan.name}-`) && !calls.has(key))
      report("once_dispatched", `${key} happened, and no call is stored`)
  }
}

function keyIn({ name, args }: ToolCall): string | null {
  if (name !== "probe_effect" && name !== "probe_ask") return null
  const key = /"key":"([^"]+)"/.exec(args)?.[1]
  return key ?? null
}

/** No id and no words twice: each message of a run has words of its own. */
function checkDoubles({ all }: StoredSession, report: Report): void {
  const users = all.filter(({ role }) => role === "user")
  for (const id of doublesOf(all.map((message) => message.id))) report("none_doubled", `the id ${id}`)
  for (const words of doublesOf(users.map((message) => message.words)))
    report("none_doubled", `the words ${clip(words)}`)
}

function doublesOf(values: readonly string[]): string[] {
  return values.filter((value, at) => values.indexOf(value) !== at)
}

/** What the last reload read is what the rows hold, and the seq that it told is the highest. */
function checkRows(page: HistoryPage | null, { path, lastSeq, epoch }: StoredSession, report: Report): void {
  if (page === null) return report("answered", "history could not be read")
  const difference = differenceOf(page.messages, path.map(messageToWire), toCanonicalJson)
  if (difference !== null) report("history_is_rows", difference)
  if (page.seq !== lastSeq || page.epoch !== epoch) {
    report("seq_is_rows", `${page.epoch} ${page.seq} was told, ${epoch} ${lastSeq} is stored`)
  }
}

function checkEnds(
  { cancelAsked }: Stage,
  { all }: StoredSession,
  { kills, readyAt, hasSmallContext }: Facts,
  report: Report,
): void {
  for (const message of all) {
    const { id, status, role, exchange_id } = message
    if (!isEnded(status)) report("turn_ends", `${id} is stored as ${status}`)
    if (role !== "assistant") continue
    const question = all.find((one) => one.id === exchange_id)?.words ?? ""
    const isCancelAsked = cancelAsked.has(exchange_id)
    const wrong = wrongEnding(message, { question, kills, isCancelAsked, hasSmallContext })
    if (wrong !== null) report("ends_rightly", wrong)
    const late = lateBy(message, readyAt)
    if (late > 0) report("turn_ends", `${id} ended ${late} ms too late after ${clip(question, 60)}`)
  }
}

/** What a tab shows, as bytes: ops do not move `content`, so it is left out. */
function liveJson({ content: _content, ...message }: WireMessage): string {
  return toCanonicalJson(message)
}

/** How a tab differs from a page of history; null where it shows just the same. It holds at least a first page. */
export function liveDifference(tab: Tab, page: HistoryPage): string | null {
  const shown = tab.messages()
  const unsent = tab
    .room()
    .outbox.entries.peek()
    .filter(({ error }) => error === null)
  if (unsent.length > 0) return `not yet in the transcript: ${unsent.map(({ id }) => id).join(", ")}`
  if (shown.length < Math.min(page.messages.length, MIN_SHOWN))
    return `${shown.length} of ${page.messages.length} messages`
  return differenceOf(shown, page.messages.slice(-shown.length), liveJson)
}

/** A tab reads so many messages at first. */
const MIN_SHOWN = 24

function differenceOf(a: readonly WireMessage[], b: readonly WireMessage[], bytes: (message: WireMessage) => string) {
  if (a.length !== b.length) return `${a.length} messages, and ${b.length}`
  for (const [at, message] of a.entries()) {
    const other = b[at]
    if (other === undefined) return `nothing at ${at}`
    const [one, two] = [bytes(message), bytes(other)]
    if (one !== two) return `message ${at} differs: ${around(one, two)}`
  }
  return null
}

/** Both texts from shortly before they part. */
function around(a: string, b: string): string {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  const from = Math.max(0, at - 80)
  return `${clip(a.slice(from), 240)} ≠ ${clip(b.slice(from), 240)}`
}

/** Law 3: every state shown is a prefix of what is stored; law 7: what has ended does not change any more. */
function checkShown(tab: Tab, { all, withdrawn }: StoredSession, report: Report): void {
  for (const [id, states] of tab.shown) {
    if (withdrawn.has(id)) continue
    const final = all.find((message) => message.id === id)
    if (final === undefined) {
      report("shown_is_stored", `${id} was shown and is not stored: ${clip(toCanonicalJson(states.at(-1)))}`)
      continue
    }
    const [strange] = strangeStates(final, states)
    if (strange !== undefined) report("shown_is_stored", strangeDetail(strange, final))
    checkEnded(id, states, final, report)
  }
}

function strangeDetail(strange: WireMessage, final: Message): string {
  return `${strange.id}: ${around(liveJson(strange), liveJson(messageToWire(final)))}`
}

function checkEnded(id: string, states: readonly WireMessage[], final: Message, report: Report): void {
  const ended = states.filter(({ status, role }) => role === "assistant" && isEnded(status))
  const last = endJson(messageToWire(final))
  const other = ended.find((state) => endJson(state) !== last)
  if (other !== undefined) report("ends_once", `${id}: ${around(endJson(other), last)}`)
}

function endJson({ segments, status, reason, metrics }: WireMessage): string {
  return toCanonicalJson({ segments, status, reason, metrics })
}
