/**
 * test-session.ts: one session under test: its tabs, and a record of all messages and commands.
 */

import type { ClientFrame } from "../../shared/protocol/client-frame.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import type { CountBusyMs } from "./busy-meter.ts"
import type { Chance } from "./chance.ts"
import type { ModelKind, SessionPlan } from "./plan.ts"
import { readPage } from "./retried-requests.ts"
import { type Observer, openObserver } from "./observer.ts"
import { startProxy } from "./proxy.ts"
import type { TestServer } from "./server.ts"
import { createMemoryStorage, openTab, type Tab } from "./tab.ts"
import type { Answered } from "./tap.ts"
import type { Rule, Violation } from "./violation.ts"

/** The record of one message, or of a command that creates a message. */
export interface LedgerEntry {
  readonly id: string
  /** The text of a user message; null for an answer. */
  readonly content: string | null
  /** The seqs in its acknowledgements. */
  readonly acks: number[]
  readonly refusals: string[]
}

export interface TestSession {
  readonly id: string
  readonly plan: SessionPlan
  readonly tabs: readonly Tab[]
  readonly ledger: Map<string, LedgerEntry>
  /** The exchanges for which a cancel was requested. */
  readonly cancelRequested: Set<string>
  /** The exchanges whose cancel request was accepted or refused. */
  readonly cancelAnswered: Set<string>
  /** The accepted cancels: the acknowledged seqs, keyed by exchange. */
  readonly cancelled: Map<string, number[]>
  /** The withdrawals: the id of each withdrawn message, keyed by the id of the command. */
  readonly withdrawals: Map<string, string>
  /** The independent clients: one receives live frames, the other only whole messages. */
  readonly observers: readonly Observer[]
  /**
   * The status of each external answer that the server reported to its producer, by message id; null if none was
   * reported.
   */
  readonly produced: Map<string, string | null>
  /** The uploaded file of each message that was sent with one. */
  readonly files: Map<string, string>
  /** Whether the object is being evicted. If so, no new command may start. */
  isEvicting: boolean
  /** Whether all plans have been played. If so, calls that are still waiting are denied. */
  isSettling: boolean
  /** The history that the last reload read. */
  page: HistoryPage | null
}

export interface Host {
  /** The sessions of the run. */
  readonly sessions: readonly TestSession[]
  readonly server: TestServer
  readonly model: ModelKind
  readonly chance: Chance
  readonly countBusyMs: CountBusyMs
  /** The number of requests for each side effect, by `<key>/<call id>`. */
  readonly effects: ReadonlyMap<string, number>
  readonly report: (violation: Violation) => void
  /** How long to wait for an expected event, in milliseconds. */
  readonly patienceMs: number
  /** Counts the turns that were running when the process was killed. */
  readonly hit: (turns: number) => void
  /** Counts an injected fault by its description. */
  readonly count: (fault: string) => void
}

/** Factor for the time limits of the server. */
export const TIME_SCALE = 0.04

/** Maximum wait for a response, and for all turns to end, in milliseconds. */
export const TURN_END_MS = 30_000
/** Interval between retries of a request while the server is down, in milliseconds. */
export const RETRY_MS = 30

/**
 * Error codes that refuse a message or command itself. A refusal with the same id but another code concerns a cancel of
 * the exchange.
 */
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

/** Returns empty records of what clients did in a session. */
export function createRecordsOfCommands() {
  return {
    produced: new Map<string, string | null>(),
    files: new Map<string, string>(),
    ledger: new Map<string, LedgerEntry>(),
    withdrawals: new Map<string, string>(),
    cancelRequested: new Set<string>(),
    cancelAnswered: new Set<string>(),
    cancelled: new Map<string, number[]>(),
  }
}

export async function openTestSession(host: Host, plan: SessionPlan): Promise<TestSession> {
  const sessionId = await host.server.createSession()
  const tabs: Tab[] = []
  const session: TestSession = {
    id: sessionId,
    plan,
    tabs,
    observers: (plan.isObserved === false ? [] : [true, false]).map((isLive) =>
      openObserver({
        openSocket: () => openSocket(host.server, sessionId),
        isLive,
        readHistory: () => readPage(host.server, sessionId),
        report: (rule, detail) => host.report({ rule, session: plan.name, detail }),
      }),
    ),
    ...createRecordsOfCommands(),
    isEvicting: false,
    isSettling: false,
    page: null,
  }
  for (const { id, content, via } of plan.turns) expectMessage(session, id, via === "producer" ? null : content)
  let ids = 0
  const nextId = (): string => `${plan.name}-r${++ids}`
  for (let at = 0; at < plan.tabs; at++) {
    const proxy = await startProxy(host.server.port, (how) => host.count(`cut: ${how}`))
    const onFrameSent = (frame: ClientFrame): void => {
      if (frame.type === "cancel") session.cancelRequested.add(frame.exchange_id)
    }
    const onAnswer = (request: ClientFrame, answer: Answered): void => recordAnswer(session, request, answer)
    const report = (rule: Rule, detail: string): void => host.report({ rule, session: plan.name, detail })
    const { chance } = host
    const deps = { session: sessionId, proxy, storage: createMemoryStorage(), chance, nextId, report }
    tabs.push(openTab({ ...deps, onFrameSent, onAnswer }))
  }
  return session
}

function openSocket(server: TestServer, session: string): WebSocket {
  const url = `${server.url().replace("http", "ws")}/v1/sessions/${session}/socket`
  return new WebSocket(url, ["cuecard.v1", `token.${server.token()}`])
}

export function expectMessage({ ledger }: TestSession, id: string, content: string | null): LedgerEntry {
  const entry = ledger.get(id) ?? { id, content, acks: [], refusals: [] }
  ledger.set(id, entry)
  return entry
}

function recordAnswer(session: TestSession, request: ClientFrame, answer: Answered): void {
  if (request.type === "approve") return
  if (request.type === "cancel") {
    session.cancelAnswered.add(request.exchange_id)
    if (answer.type === "ack") recordCancel(session, request.exchange_id, answer.seq)
    return
  }
  const id = answer.id ?? ""
  if (answer.type === "ack") session.ledger.get(id)?.acks.push(answer.seq)
  else recordRefusal(session.ledger, id, answer.code)
}

export function recordRefusal(ledger: ReadonlyMap<string, LedgerEntry>, id: string, code: string): void {
  if (OWN_REFUSALS.has(code)) ledger.get(id)?.refusals.push(code)
}

/** Records an accepted cancel. */
export function recordCancel({ cancelled }: TestSession, exchange: string, seq: number): void {
  cancelled.set(exchange, [...(cancelled.get(exchange) ?? []), seq])
}

export function tabOf({ tabs }: TestSession, at: number): Tab {
  const tab = tabs[at] ?? tabs[0]
  if (tab === undefined) throw new Error("the session has no tab")
  return tab
}

export function answerIn(tab: Tab, id: string): WireMessage | undefined {
  return tab.messages().findLast((message) => message.exchange_id === id && message.role === "assistant")
}

/** Returns whether a tab has seen the end of the turn, or its message was refused or withdrawn. */
export function isTurnOver(session: TestSession, id: string): boolean {
  if ((session.ledger.get(id)?.refusals.length ?? 0) > 0) return true
  if (session.tabs.some((tab) => tab.shown.has(id) && !tab.messages().some((message) => message.id === id))) return true
  return session.tabs.some((tab) => isEnded(answerIn(tab, id)?.status ?? "running"))
}

/** Returns whether the tab shows no running or queued turn. */
export function hasNoOpenTurn(tab: Tab): boolean {
  return tab.messages().every(({ status }) => isEnded(status))
}

export async function closeTestSession(session: TestSession): Promise<void> {
  for (const observer of session.observers) observer.close()
  for (const tab of session.tabs) {
    tab.close()
    await tab.proxy.close()
  }
}
