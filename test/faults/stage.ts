/**
 * stage.ts: one session under test: its tabs, and what is known of everything that was said and asked in it.
 */

import type { HistoryPage, ServerFrame, WireMessage } from "../../shared/frame.ts"
import { isEnded } from "../../shared/message.ts"
import type { Chance } from "./chance.ts"
import type { ModelKind, SessionPlan } from "./plan.ts"
import { startProxy } from "./proxy.ts"
import type { TestServer } from "./server.ts"
import { createShelf, openTab, type Tab } from "./tab.ts"
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
  /** Cancels that were answered with yes over HTTP: exchange, and the seq that was told. */
  readonly cancelled: Map<string, number>
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

/** A turn ends within 30 s of recovery (issue 3). */
export const TURN_END_MS = 30_000
/** A request is tried again so often, in milliseconds, while the server is away. */
export const RETRY_MS = 30

/** Refusals of a message or command itself; others that bear its id are about a cancel of its exchange. */
const OWN_REFUSALS: ReadonlySet<string> = new Set([
  ...["queue_full", "message_empty", "message_too_large", "context_exceeded", "frame_invalid"],
  ...["turn_running", "turn_whole", "version_unknown"],
])

export async function openStage(host: Host, plan: SessionPlan): Promise<Stage> {
  const session = await host.server.createSession()
  const tabs: Tab[] = []
  const stage: Stage = {
    ...{ session, plan, tabs, ledger: new Map(), cancelled: new Map(), withdrawals: new Map() },
    ...{ isEvicting: false, isSettling: false, page: null },
  }
  for (const { id, content } of plan.turns) expectMessage(stage, id, content)
  let ids = 0
  const nextId = (): string => `${plan.name}-r${++ids}`
  for (let at = 0; at < plan.tabs; at++) {
    const proxy = await startProxy(host.server.port, (how) => host.count(`cut: ${how}`))
    const onFrame = (frame: ServerFrame): void => note(stage, frame)
    const report = (rule: Rule, detail: string): void => host.report({ rule, session: plan.name, detail })
    const { server, chance } = host
    tabs.push(openTab({ url: server.url, session, proxy, shelf: createShelf(), chance, nextId, report, onFrame }))
  }
  return stage
}

export function expectMessage({ ledger }: Stage, id: string, content: string | null): Said {
  const said = ledger.get(id) ?? { id, content, acks: [], refusals: [] }
  ledger.set(id, said)
  return said
}

function note({ ledger }: Stage, frame: ServerFrame): void {
  if (frame.type === "ack") ledger.get(frame.id)?.acks.push(frame.seq)
  if (frame.type === "error" && frame.id !== undefined) refuse(ledger, frame.id, frame.code)
}

export function refuse(ledger: ReadonlyMap<string, Said>, id: string, code: string): void {
  if (OWN_REFUSALS.has(code)) ledger.get(id)?.refusals.push(code)
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
