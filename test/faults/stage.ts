/**
 * stage.ts: one session under test: its tabs, and what is known of everything that was said and asked in it.
 */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import type { Chance } from "./chance.ts"
import type { ModelKind, SessionPlan } from "./plan.ts"
import { startProxy } from "./proxy.ts"
import type { TestServer } from "./server.ts"
import { createShelf, openTab, type Tab } from "./tab.ts"
import type { Answered } from "./tap.ts"
import type { Rule, Violation } from "./violation.ts"

/** What is known of one message that was sent, or of a command that makes one. */
export interface Said {
  readonly id: string
  /** A user's words; null: an answer of the model's. */
  readonly content: string | null
  /** The seqs it was acknowledged with. */
  readonly acks: number[]
  readonly refusals: string[]
}

export interface Stage {
  readonly session: string
  readonly plan: SessionPlan
  readonly tabs: readonly Tab[]
  readonly ledger: Map<string, Said>
  /** Exchanges that somebody asked to stop. */
  readonly cancelAsked: Set<string>
  /** Exchanges of which a cancel was answered, with yes or no. */
  readonly cancelHeard: Set<string>
  /** Cancels that were answered with yes: exchange, and the seqs that were told. */
  readonly cancelled: Map<string, number[]>
  /** Withdrawals: the id of the command, and what it took back. */
  readonly withdrawals: Map<string, string>
  /** Nobody may begin anything: the object is being put out of memory. */
  isEvicting: boolean
  /** All plans are played: whoever still waits is refused. */
  isSettling: boolean
  /** History as the last reload read it. */
  page: HistoryPage | null
}

export interface Host {
  /** All sessions of the run. */
  readonly stages: readonly Stage[]
  readonly server: TestServer
  readonly model: ModelKind
  readonly chance: Chance
  readonly report: (violation: Violation) => void
  /** How long to wait for what has to come, in milliseconds. */
  readonly patienceMs: number
  /** So many turns were under way when the process was killed. */
  readonly hit: (turns: number) => void
  /** A fault struck; in words, for the table. */
  readonly count: (fault: string) => void
}

/** The server's time limits are so much shorter. */
export const TIME_SCALE = 0.02

/** Longest wait for an answer to a request, and for what has to come in the end. */
export const TURN_END_MS = 30_000
/** A request is tried again so often, in milliseconds, while the server is away. */
export const RETRY_MS = 30

/** Refusals of a message or command itself; others that bear its id are about a cancel of its exchange. */
const OWN_REFUSALS: ReadonlySet<string> = new Set([
  "queue_full",
  "message_empty",
  "message_too_large",
  "context_exceeded",
  "frame_invalid",
  "turn_running",
  "turn_whole",
  "version_unknown",
])

export async function openStage(host: Host, plan: SessionPlan): Promise<Stage> {
  const session = await host.server.createSession()
  const tabs: Tab[] = []
  const stage: Stage = {
    session,
    plan,
    tabs,
    ledger: new Map(),
    withdrawals: new Map(),
    cancelAsked: new Set(),
    cancelHeard: new Set(),
    cancelled: new Map(),
    isEvicting: false,
    isSettling: false,
    page: null,
  }
  for (const { id, content } of plan.turns) expectMessage(stage, id, content)
  let ids = 0
  const nextId = (): string => `${plan.name}-r${++ids}`
  for (let at = 0; at < plan.tabs; at++) {
    const proxy = await startProxy(host.server.port, (how) => host.count(`cut: ${how}`))
    const onSaid = (frame: ClientFrame): void => {
      if (frame.type === "cancel") stage.cancelAsked.add(frame.exchange_id)
    }
    const onAnswer = (asked: ClientFrame, answer: Answered): void => note(stage, asked, answer)
    const report = (rule: Rule, detail: string): void => host.report({ rule, session: plan.name, detail })
    const { chance } = host
    const deps = { session, proxy, shelf: createShelf(), chance, nextId, report }
    tabs.push(openTab({ ...deps, onSaid, onAnswer }))
  }
  return stage
}

export function expectMessage({ ledger }: Stage, id: string, content: string | null): Said {
  const said = ledger.get(id) ?? { id, content, acks: [], refusals: [] }
  ledger.set(id, said)
  return said
}

function note(stage: Stage, asked: ClientFrame, answer: Answered): void {
  if (asked.type === "approve") return
  if (asked.type === "cancel") {
    stage.cancelHeard.add(asked.exchange_id)
    if (answer.type === "ack") noteCancelled(stage, asked.exchange_id, answer.seq)
    return
  }
  const id = answer.id ?? ""
  if (answer.type === "ack") stage.ledger.get(id)?.acks.push(answer.seq)
  else refuse(stage.ledger, id, answer.code)
}

export function refuse(ledger: ReadonlyMap<string, Said>, id: string, code: string): void {
  if (OWN_REFUSALS.has(code)) ledger.get(id)?.refusals.push(code)
}

/** A cancel was answered with yes. */
export function noteCancelled({ cancelled }: Stage, exchange: string, seq: number): void {
  cancelled.set(exchange, [...(cancelled.get(exchange) ?? []), seq])
}

export function tabOf({ tabs }: Stage, at: number): Tab {
  const tab = tabs[at] ?? tabs[0]
  if (tab === undefined) throw new Error("a stage has a tab")
  return tab
}

export function answerIn(tab: Tab, id: string): WireMessage | undefined {
  return tab.messages().findLast((message) => message.exchange_id === id && message.role === "assistant")
}

/** Some tab has seen the turn's end, or its message was refused or taken back. */
export function isTurnOver(stage: Stage, id: string): boolean {
  if ((stage.ledger.get(id)?.refusals.length ?? 0) > 0) return true
  if (stage.tabs.some((tab) => tab.shown.has(id) && !tab.messages().some((message) => message.id === id))) return true
  return stage.tabs.some((tab) => isEnded(answerIn(tab, id)?.status ?? "running"))
}

/** Nothing is under way or waits to be, as far as a tab knows. */
export function isQuietIn(tab: Tab): boolean {
  return tab.messages().every(({ status }) => isEnded(status))
}

export async function closeStage(stage: Stage): Promise<void> {
  for (const tab of stage.tabs) {
    tab.close()
    await tab.proxy.close()
  }
}
