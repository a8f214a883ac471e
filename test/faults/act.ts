/**
 * act.ts: plays the plan of one session: says what it says, waits for the moment, breaks what it breaks.
 *
 * plan → ACT → ledger (what was sent, acknowledged, refused), tabs
 */

import type { HistoryPage, ServerFrame, WireMessage } from "../../shared/frame.ts"
import { isEnded } from "../../shared/message.ts"
import type { Chance } from "./chance.ts"
import type { Fault, FaultKind, Moment, SessionPlan, TurnPlan } from "./plan.ts"
import { startProxy } from "./proxy.ts"
import type { TestServer } from "./server.ts"
import { createShelf, openTab, type Tab, untilTrue } from "./tab.ts"
import { clip, type Rule, type Violation } from "./violation.ts"

/** What is known of one message that was sent. */
export interface Said {
  readonly id: string
  readonly content: string
  /** The seqs it was acknowledged with. */
  readonly acks: number[]
  readonly refusals: string[]
}

/** One session while its plan is played, and what is left of it for the checks. */
export interface Stage {
  readonly session: string
  readonly plan: SessionPlan
  readonly tabs: readonly Tab[]
  readonly ledger: ReadonlyMap<string, Said>
  /** History as the last reload read it. */
  page: HistoryPage | null
}

export interface Host {
  readonly server: TestServer
  readonly chance: Chance
  readonly report: (violation: Violation) => void
  /** A fault struck. */
  readonly count: (kind: FaultKind) => void
}

/** Longest wait for a moment, in milliseconds: a turn that is over earlier lets the fault strike all the same. */
const MOMENT_MS = 2_500
/** A turn ends within 30 s of recovery (issue 3). */
export const TURN_END_MS = 30_000
/** A request is tried again so often, in milliseconds, while the server is away. */
const RETRY_MS = 30

export async function openStage(host: Host, plan: SessionPlan): Promise<Stage> {
  const session = await host.server.createSession()
  const ledger = new Map<string, Said>()
  for (const { id, content } of plan.turns) ledger.set(id, { id, content, acks: [], refusals: [] })
  const report = (rule: Rule, detail: string): void => host.report({ rule, session: plan.name, detail })
  const shelf = createShelf()
  const tabs: Tab[] = []
  for (let at = 0; at < plan.tabs; at++) {
    const proxy = await startProxy(host.server.port, () => host.count("cut"))
    const onFrame = (frame: ServerFrame): void => note(ledger, frame)
    const own = at === 0 ? shelf : createShelf()
    tabs.push(openTab({ url: host.server.url, session, proxy, shelf: own, chance: host.chance, report, onFrame }))
  }
  return { session, plan, tabs, ledger, page: null }
}

function note(ledger: ReadonlyMap<string, Said>, frame: ServerFrame): void {
  if (frame.type === "ack") ledger.get(frame.id)?.acks.push(frame.seq)
  if (frame.type === "error" && frame.id !== undefined) ledger.get(frame.id)?.refusals.push(frame.code)
}

export async function playStage(host: Host, stage: Stage): Promise<void> {
  for (const turn of stage.plan.turns) {
    const tab = tabOf(stage, "tab" in turn.fault ? turn.fault.tab : 0)
    const isArmed = turn.fault.kind === "cut" && turn.moment.at === "frame"
    if (turn.fault.kind === "cut" && turn.moment.at === "frame") {
      tab.proxy.cutAt(turn.moment.n, turn.fault.how, turn.moment.inside)
    }
    const from = tab.frames()
    const sent = say(host, stage, turn)
    await reach(stage, tab, turn, from)
    tab.proxy.disarm()
    if (!isArmed) await strike(host, stage, turn, turn.fault)
    await sent
    if (turn.patient) await untilEnded(stage, turn.id)
  }
}

function tabOf({ tabs }: Stage, at: number): Tab {
  const tab = tabs[at] ?? tabs[0]
  if (tab === undefined) throw new Error("a stage has a tab")
  return tab
}

/** Says a turn's words as a page does, or over HTTP until it is answered. */
async function say(host: Host, stage: Stage, { id, content, via }: TurnPlan): Promise<void> {
  if (via === "http") return post(host, stage, id, content)
  tabOf(stage, 0).room().sendAs(id, content)
}

async function post(host: Host, stage: Stage, id: string, content: string): Promise<void> {
  const said = stage.ledger.get(id)
  const answer = await ask(host.server, `/v1/sessions/${stage.session}/messages`, { id, content })
  if (answer === null) {
    return host.report({ rule: "answered", session: stage.plan.name, detail: `POST of ${id} was never answered` })
  }
  const { status, body } = answer
  if (status === 202) said?.acks.push(Number(Reflect.get(body, "seq")))
  else said?.refusals.push(String(Reflect.get(body, "code")))
}

interface Answer {
  readonly status: number
  readonly body: object
}

/** Asks until there is an answer; null where none came in time. A server that is away, or was killed meanwhile, is asked again. */
export async function ask(server: TestServer, path: string, body?: object): Promise<Answer | null> {
  const late = performance.now() + TURN_END_MS
  const headers = { authorization: `Bearer ${server.token()}`, "content-type": "application/json" }
  while (performance.now() < late) {
    try {
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) }
      const signal = AbortSignal.timeout(TURN_END_MS)
      const response = await fetch(server.url() + path, { ...init, signal })
      const answer: unknown = await response.json()
      if (typeof answer === "object" && answer !== null) return { status: response.status, body: answer }
    } catch {
      // Away.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  return null
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
    case "ended":
      return () => false
  }
}

function answerTo(tab: Tab, id: string): WireMessage | undefined {
  return tab.messages().find((message) => message.exchange_id === id && message.role === "assistant")
}

/** Some tab has seen the turn's end, or its message was refused. */
function isTurnOver(stage: Stage, id: string): boolean {
  if ((stage.ledger.get(id)?.refusals.length ?? 0) > 0) return true
  return stage.tabs.some((tab) => isEnded(answerTo(tab, id)?.status ?? "running"))
}

async function untilEnded(stage: Stage, id: string): Promise<void> {
  await tabOf(stage, 0).until(() => isTurnOver(stage, id), TURN_END_MS)
}

async function strike(host: Host, stage: Stage, turn: TurnPlan, fault: Fault): Promise<void> {
  switch (fault.kind) {
    case "kill":
      // A kill that joins another is that other one.
      if (await host.server.crash()) host.count("kill")
      return
    case "evict":
      return evict(host, stage)
    case "cut":
      return void tabOf(stage, fault.tab).proxy.cut(fault.how)
    case "repeat":
      host.count("repeat")
      if (fault.via === "http") return post(host, stage, turn.id, turn.content)
      tabOf(stage, 0).say({ type: "send", id: turn.id, content: turn.content })
      return
    case "reopen":
      host.count("reopen")
      return tabOf(stage, fault.tab).reopen()
    case "model":
      return host.count("model")
  }
}

/** Only where nothing runs: an object that works is not put out of memory, it would be waited for. */
async function evict(host: Host, stage: Stage): Promise<void> {
  const page = await readPage(host.server, stage.session)
  if (page === null || page.messages.some(({ status }) => status === "running" || status === "queued")) return
  try {
    await host.server.evict(stage.session)
    host.count("evict")
  } catch {
    // Another session's kill came between.
  }
}

/** Most messages of one page. */
const PAGE_LIMIT = 120

export async function readPage(server: TestServer, session: string): Promise<HistoryPage | null> {
  const answer = await ask(server, `/v1/sessions/${session}/conversation/recent?limit=${PAGE_LIMIT}`)
  return answer?.status === 200 ? (answer.body as HistoryPage) : null
}

/** After the last fault: waits until every turn has ended and every tab shows what a reload shows. */
export async function settleStage(host: Host, stage: Stage, sameAs: (tab: Tab, page: HistoryPage) => string | null) {
  const report = (rule: Rule, detail: string): void => host.report({ rule, session: stage.plan.name, detail })
  for (const tab of stage.tabs) {
    tab.proxy.disarm()
    tab.room().wake()
  }
  const isOut = (): boolean => stage.tabs.every((tab) => tab.room().outbox.waiting().length === 0)
  if (!(await untilTrue(isOut, TURN_END_MS))) report("answered", "words were never acknowledged")
  const late = performance.now() + TURN_END_MS
  for (;;) {
    const page = await readPage(host.server, stage.session)
    stage.page = page ?? stage.page
    const open = page?.messages.filter(({ status }) => !isEnded(status)) ?? []
    if (page !== null && open.length === 0) break
    if (performance.now() > late) {
      report("turn_ends", `not ended: ${clip(JSON.stringify(open.map(({ id, status }) => ({ id, status }))))}`)
      break
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
  const { page } = stage
  if (page === null) return
  for (const tab of stage.tabs) {
    await tab.until(() => sameAs(tab, page) === null, TURN_END_MS / 2)
    const difference = sameAs(tab, page)
    if (difference !== null) report("live_is_history", difference)
  }
}

export async function closeStage(stage: Stage): Promise<void> {
  for (const tab of stage.tabs) {
    tab.close()
    await tab.proxy.close()
  }
}
