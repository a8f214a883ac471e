/**
 * act.ts: plays the plan of one session: sends its messages, injects each fault at its moment, and waits for the end.
 */

import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { postMessage, readExport, readPage, uploadText } from "./retried-requests.ts"
import { listWaitingCalls } from "./approver.ts"
import type { Moment, TurnPlan } from "./plan.ts"
import { RECOVERED_MS, WORK_MS } from "./endings.ts"
import { answerIn, type Host, isTurnOver, RETRY_MS, type TestSession, tabOf } from "./test-session.ts"
import { hasWaitingCall } from "./late-answers.ts"
import { injectFault } from "./inject-fault.ts"
import { produceAnswer } from "./producer.ts"
import { type Tab, untilTrue } from "./tab.ts"
import { clipText, type Rule } from "./violation.ts"

/**
 * Maximum wait for a fault's moment, in milliseconds. If the turn ends before that moment, the fault is injected
 * anyway.
 */
const MOMENT_MS = 2_500

/** Time after the end of all turns during which nothing may change, in milliseconds. A change reveals a late write. */
const QUIET_MS = 150

/** Maximum wait for the agents' answers, in milliseconds. */
const ANSWERS_MS = 10_000

/** Extra time in which a tab with a blackholed socket must learn that a turn has ended, in milliseconds. */
const BLACKHOLE_MS = 3_000

export async function playSession(host: Host, session: TestSession): Promise<void> {
  for (const turn of session.plan.turns) await playTurn(host, session, turn)
}

async function playTurn(host: Host, session: TestSession, turn: TurnPlan): Promise<void> {
  const { fault, moment } = turn
  const tab = tabOf(session, "tab" in fault ? fault.tab : 0)
  const isArmed = fault.kind === "cut" && moment.at === "frame"
  if (fault.kind === "cut" && moment.at === "frame") tab.proxy.cutAt(moment.n, fault.how, moment.inside)
  const from = tab.frames()
  const sending = sendMessage(host, session, turn)
  await waitForMoment(host, session, tab, turn, from)
  tab.proxy.disarm()
  if (!isArmed) await injectFault(host, session, turn)
  if (fault.kind === "cut") for (const observer of session.observers) observer.drop()
  await Promise.all(session.observers.map((observer) => observer.check()))
  await sending
  if (!turn.patient) return
  const started = Date.now()
  const turns = tabOf(session, 0)
    .messages()
    .filter(({ status }) => !isEnded(status)).length
  await tabOf(session, 0).until(() => isTurnOver(session, turn.id), host.patienceMs)
  reportLate(host, session, started, Math.max(turns, 1))
}

/**
 * Reports a violation if the turns took too long. The time is measured from their start or from the last restart,
 * whichever is later.
 */
function reportLate(host: Host, session: TestSession, started: number, turns: number): void {
  const [from, now] = [Math.max(started, host.server.readyAt.at(-1) ?? 0), Date.now()]
  const took = now - from
  if (took <= RECOVERED_MS + BLACKHOLE_MS + turns * WORK_MS + host.countBusyMs(from, now)) return
  const detail = `${turns} turns took ${took} ms after the last restart`
  host.report({ rule: "turn_ends", session: session.plan.name, detail })
}

/** Sends the message of a turn as a page does, or over HTTP with retries until a response arrives. */
async function sendMessage(host: Host, session: TestSession, turn: TurnPlan): Promise<void> {
  const { id, content, via } = turn
  if (via === "producer") {
    host.count("answer of a producer")
    return produceAnswer(host, session, turn)
  }
  const file = turn.attach === true ? await uploadText(host, session, noteOf(id)) : null
  if (file !== null) {
    host.count("message with a file")
    session.files.set(id, file.id)
  }
  if (via === "http") return postMessage(host, session, id, content, file === null ? [] : [file.id])
  const extras = file === null ? {} : { attachments: [file] }
  tabOf(session, 0).controller().sendMessageWithId(id, content, extras)
}

/** Returns the text that is uploaded with a message. */
function noteOf(id: string): string {
  return `the note of ${id}`
}

/** Waits for a turn's planned moment, or until that moment can no longer occur. */
async function waitForMoment(host: Host, session: TestSession, tab: Tab, turn: TurnPlan, from: number): Promise<void> {
  const holds =
    turn.moment.at === "effect" ? () => hasEffect(host, turn.id) : momentOf(session, tab, turn.id, turn.moment, from)
  if (holds !== null) await tab.until(() => holds() || isTurnOver(session, turn.id), MOMENT_MS)
}

/** Returns a condition that is true once the moment has come, or null if the moment is now. */
function momentOf(
  session: TestSession,
  tab: Tab,
  id: string,
  moment: Exclude<Moment, { readonly at: "effect" }>,
  from: number,
): (() => boolean) | null {
  const started = performance.now()
  switch (moment.at) {
    case "sent":
      return null
    case "shown":
      return () => tab.messages().some((message) => message.id === id)
    case "acked":
      return () => (session.ledger.get(id)?.acks.length ?? 0) > 0
    case "frame":
      return () => tab.frames() >= from + moment.n
    case "ms":
      return () => performance.now() >= started + moment.ms
    case "waiting":
      return () => {
        const answer = answerIn(tab, id)
        return answer !== undefined && listWaitingCalls(answer).length > 0
      }
    case "ended":
      return () => false
  }
}

/**
 * Returns whether a side effect of the turn has happened. The effect's key is the turn's id, or begins with that id.
 */
function hasEffect({ effects }: Host, id: string): boolean {
  return [...effects.keys()].some((key) => key.startsWith(`${id}/`) || key.startsWith(`${id}-`))
}

/** Waits, after the last fault, until every turn has ended and every tab shows what a reload would show. */
export async function settleSession(host: Host, session: TestSession, differs: Differs): Promise<void> {
  const report: Report = (rule, detail) => host.report({ rule, session: session.plan.name, detail })
  session.isSettling = true
  for (const tab of session.tabs) {
    tab.proxy.disarm()
    tab.controller().checkConnection()
  }
  const isOutboxEmpty = (): boolean => session.tabs.every((tab) => tab.controller().outbox.listPending().length === 0)
  if (!(await untilTrue(isOutboxEmpty, host.patienceMs))) report("answered", "a message was never acknowledged")
  const open = await untilEnded(host, session)
  await untilAnswersArrived(host, session)
  await checkFiles(host, session, report)
  if (open.length > 0) report("turn_ends", clipText(`not ended: ${open.join(", ")}`))
  await Promise.all(
    session.tabs.map((tab) => tab.until(() => differsFrom(session, tab, differs) === null, host.patienceMs / 2)),
  )
  await checkObservers(host, session, report)
  for (const tab of session.tabs) {
    const difference = differsFrom(session, tab, differs)
    if (difference !== null) report("live_is_history", difference)
  }
  const before = session.page
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
  session.page = await readPage(host.server, session.id)
  if (open.length === 0 && toCanonicalJson(before) !== toCanonicalJson(session.page)) {
    report("nothing_later", clipText(`${toCanonicalJson(before)} became ${toCanonicalJson(session.page)}`))
  }
}

/** Waits until the agents have answered all questions, including those asked by inactive versions. */
async function untilAnswersArrived(host: Host, session: TestSession): Promise<void> {
  const late = performance.now() + ANSWERS_MS
  while (performance.now() < late) {
    const file = await readExport(host.server, session.id)
    if (file !== null && !hasWaitingCall(file)) break
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  // Each answer begins a turn, which must end too.
  await untilEnded(host, session)
}

/** Uploads each file again, and checks that the same bytes get the id that the first upload returned. */
async function checkFiles(host: Host, session: TestSession, report: Report): Promise<void> {
  for (const [message, id] of session.files) {
    const again = await uploadText(host, session, noteOf(message))
    if (again !== null && again.id !== id) report("files_kept", `the file ${id} of ${message} is now ${again.id}`)
  }
}

async function checkObservers(host: Host, { observers, page }: TestSession, report: Report): Promise<void> {
  for (const observer of observers) {
    const difference = (): string | null => (page === null ? null : observer.differenceFrom(page))
    await untilTrue(() => difference() === null, host.patienceMs / 2)
    const found = difference()
    if (found !== null) report("live_is_history", found)
  }
}

type Report = (rule: Rule, detail: string) => void

type Differs = (tab: Tab, page: HistoryPage) => string | null

function differsFrom({ page }: TestSession, tab: Tab, differs: Differs): string | null {
  return page === null ? "history could not be read" : differs(tab, page)
}

/** Reads the history until every message has ended. Returns the messages that did not end in time. */
async function untilEnded(host: Host, session: TestSession): Promise<string[]> {
  const began = Date.now()
  const late = performance.now() + host.patienceMs
  let most = 0
  for (;;) {
    const page = await readPage(host.server, session.id)
    session.page = page ?? session.page
    const open = page?.messages.filter(({ status }) => !isEnded(status)) ?? []
    most = Math.max(most, open.length)
    const now = performance.now()
    if ((page !== null && open.length === 0) || now > late) {
      reportLate(host, session, began, most)
      return open.map(({ id, status }) => `${id} (${status})`)
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
