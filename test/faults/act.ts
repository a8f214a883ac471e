/**
 * act.ts: plays the plan of one session: says what it says, waits for the moment, strikes; and in the end lets it settle.
 */

import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { postMessage, readPage } from "./ask.ts"
import { waitingIn } from "./clerk.ts"
import type { Moment, TurnPlan } from "./plan.ts"
import { RECOVERED_MS, WORK_MS } from "./endings.ts"
import { answerIn, type Host, isTurnOver, RETRY_MS, type Stage, tabOf } from "./stage.ts"
import { strike } from "./strike.ts"
import { type Tab, untilTrue } from "./tab.ts"
import { clip, type Rule } from "./violation.ts"

/** Longest wait for a moment, in milliseconds: a turn that is over earlier lets the fault strike all the same. */
const MOMENT_MS = 2_500

/** So long nothing may change any more in the end, in milliseconds: what comes late comes now. */
const QUIET_MS = 150

/** A tab whose socket is a black hole learns of an end so much later, in milliseconds. */
const DEAF_MS = 3_000

export async function playStage(host: Host, stage: Stage): Promise<void> {
  for (const turn of stage.plan.turns) await playTurn(host, stage, turn)
}

async function playTurn(host: Host, stage: Stage, turn: TurnPlan): Promise<void> {
  const { fault, moment } = turn
  const tab = tabOf(stage, "tab" in fault ? fault.tab : 0)
  const isArmed = fault.kind === "cut" && moment.at === "frame"
  if (fault.kind === "cut" && moment.at === "frame") tab.proxy.cutAt(moment.n, fault.how, moment.inside)
  const from = tab.frames()
  const said = say(host, stage, turn)
  await reach(stage, tab, turn, from)
  tab.proxy.disarm()
  if (!isArmed) await strike(host, stage, turn)
  await said
  if (!turn.patient) return
  const started = Date.now()
  const turns = tabOf(stage, 0)
    .messages()
    .filter(({ status }) => !isEnded(status)).length
  await tabOf(stage, 0).until(() => isTurnOver(stage, turn.id), host.patienceMs)
  reportLate(host, stage, started, Math.max(turns, 1))
}

/** Tells where so many turns were not over soon enough after they were begun, or after the last restart. */
function reportLate(host: Host, stage: Stage, started: number, turns: number): void {
  const took = Date.now() - Math.max(started, host.server.readyAt.at(-1) ?? 0)
  if (took <= RECOVERED_MS + DEAF_MS + turns * WORK_MS) return
  const detail = `${turns} turns took ${took} ms after the last restart`
  host.report({ rule: "turn_ends", session: stage.plan.name, detail })
}

/** Says a turn's words as a page does, or over HTTP until it is answered. */
async function say(host: Host, stage: Stage, { id, content, via }: TurnPlan): Promise<void> {
  if (via === "http") return postMessage(host, stage, id, content)
  tabOf(stage, 0).room().sendMessageWithId(id, content)
}

/** Waits for a turn's moment, or until it cannot come any more. */
async function reach(stage: Stage, tab: Tab, turn: TurnPlan, from: number): Promise<void> {
  const holds = momentOf(stage, tab, turn.id, turn.moment, from)
  if (holds !== null) await tab.until(() => holds() || isTurnOver(stage, turn.id), MOMENT_MS)
}

/** Null: now. */
function momentOf(stage: Stage, tab: Tab, id: string, moment: Moment, from: number): (() => boolean) | null {
  const started = performance.now()
  switch (moment.at) {
    case "sent":
      return null
    case "shown":
      return () => tab.messages().some((message) => message.id === id)
    case "acked":
      return () => (stage.ledger.get(id)?.acks.length ?? 0) > 0
    case "frame":
      return () => tab.frames() >= from + moment.n
    case "ms":
      return () => performance.now() >= started + moment.ms
    case "waiting":
      return () => {
        const answer = answerIn(tab, id)
        return answer !== undefined && waitingIn(answer).length > 0
      }
    case "ended":
      return () => false
  }
}

/** After the last fault: waits until every turn has ended and every tab shows what a reload shows. */
export async function settleStage(host: Host, stage: Stage, differs: Differs): Promise<void> {
  const report = (rule: Rule, detail: string): void => host.report({ rule, session: stage.plan.name, detail })
  stage.isSettling = true
  for (const tab of stage.tabs) {
    tab.proxy.disarm()
    tab.room().checkConnection()
  }
  const isOut = (): boolean => stage.tabs.every((tab) => tab.room().outbox.listPending().length === 0)
  if (!(await untilTrue(isOut, host.patienceMs))) report("answered", "words were never acknowledged")
  const open = await untilEnded(host, stage)
  if (open.length > 0) report("turn_ends", clip(`not ended: ${open.join(", ")}`))
  await Promise.all(
    stage.tabs.map((tab) => tab.until(() => differsFrom(stage, tab, differs) === null, host.patienceMs / 2)),
  )
  for (const tab of stage.tabs) {
    const difference = differsFrom(stage, tab, differs)
    if (difference !== null) report("live_is_history", difference)
  }
  const before = stage.page
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS))
  stage.page = await readPage(host.server, stage.session)
  if (open.length === 0 && toCanonicalJson(before) !== toCanonicalJson(stage.page)) {
    report("nothing_later", clip(`${toCanonicalJson(before)} became ${toCanonicalJson(stage.page)}`))
  }
}

type Differs = (tab: Tab, page: HistoryPage) => string | null

function differsFrom({ page }: Stage, tab: Tab, differs: Differs): string | null {
  return page === null ? "history could not be read" : differs(tab, page)
}

/** Reads history until all of it has ended; what has not when the time is over. */
async function untilEnded(host: Host, stage: Stage): Promise<string[]> {
  const began = Date.now()
  const late = performance.now() + host.patienceMs
  let most = 0
  for (;;) {
    const page = await readPage(host.server, stage.session)
    stage.page = page ?? stage.page
    const open = page?.messages.filter(({ status }) => !isEnded(status)) ?? []
    most = Math.max(most, open.length)
    const now = performance.now()
    if ((page !== null && open.length === 0) || now > late) {
      reportLate(host, stage, began, most)
      return open.map(({ id, status }) => `${id} (${status})`)
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
