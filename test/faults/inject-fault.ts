/**
 * inject-fault.ts: injects the planned fault into a session and counts it.
 */

import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { postCancel, postMessage, readPage } from "./retried-requests.ts"
import { type Fault, planWords, type ThenKill, type TurnPlan } from "./plan.ts"
import { repeatRecords } from "./producer.ts"
import { expectMessage, type Host, hasNoOpenTurn, type TestSession, tabOf } from "./test-session.ts"
import type { Tab } from "./tab.ts"

type Revise = Extract<Fault, { kind: "revise" }>

/** Maximum wait for the response to a command, or for a session to become idle, in milliseconds. */
const ANSWER_MS = 5_000

/** Interval between retries of an unanswered cancel, in milliseconds. */
const CANCEL_RETRY_MS = 400

export async function injectFault(host: Host, session: TestSession, turn: TurnPlan): Promise<void> {
  const { fault } = turn
  switch (fault.kind) {
    case "kill":
      await killServer(host)
      return fault.again ? killServer(host) : undefined
    case "evict":
      return evictObject(host, session)
    case "cut":
      return void tabOf(session, fault.tab).proxy.cut(fault.how)
    case "repeat":
      host.count(`repeat: ${turn.via === "producer" ? "records" : fault.via}`)
      if (turn.via === "producer") return repeatRecords(host, session, turn)
      if (fault.via === "http") return postMessage(host, session, turn.id, turn.content)
      tabOf(session, 0).say({ type: "send", id: turn.id, content: turn.content })
      return
    case "reopen":
      host.count("reopen")
      return tabOf(session, fault.tab).reopen()
    case "cancel":
      host.count(`cancel: ${fault.via}`)
      await killAsPlanned(host, fault.thenKill, cancelTurn(host, session, turn.id, fault.via))
      return
    case "withdraw":
      return withdrawQueued(host, session, turn.id, fault.thenKill)
    case "revise":
      return reviseTurn(host, session, fault)
    case "model":
      // The upstream plays and counts this fault.
      return
  }
}

/** Kills the server. If another kill is already in progress, joins that kill and doesn't count this one. */
async function killServer(host: Host): Promise<void> {
  const busySessions = host.sessions.filter((session) => session.tabs.some((tab) => !hasNoOpenTurn(tab))).length
  if (!(await host.server.crash())) return
  host.count("kill")
  host.hit(busySessions)
}

/** Waits for a pending command. If planned, kills the process before or after the command's answer. */
async function killAsPlanned(host: Host, thenKill: ThenKill, pending: Promise<unknown>): Promise<void> {
  if (thenKill === "soon") await Promise.race([pending, new Promise((resolve) => setTimeout(resolve, 1))])
  if (thenKill === "answered") await pending
  if (thenKill !== null) await killServer(host)
  await pending
}

/** Evicts the session's object if it is idle. Evicting a busy object would wait for its work to end. */
async function evictObject(host: Host, session: TestSession): Promise<void> {
  session.isEvicting = true
  try {
    const page = await readPage(host.server, session.id)
    if (page === null || page.messages.some(({ status }) => status === "running" || status === "queued")) return
    await host.server.evict(session.id)
    host.count("evict")
  } catch {
    // Another session's kill interfered.
  } finally {
    session.isEvicting = false
  }
}

/** Cancels an exchange, and retries until the command is answered, as a careful client does. */
async function cancelTurn(
  host: Host,
  session: TestSession,
  exchange: string,
  via: "page" | "socket" | "http",
): Promise<void> {
  if (via === "http") return postCancel(host, session, exchange)
  const tab = tabOf(session, 0)
  const turn = via === "page" ? tab.controller().store.activeTurn.peek() : null
  if (turn !== null && tab.controller().stopAnswer()) return untilStopped(session, tab, turn)
  const late = performance.now() + ANSWER_MS
  while (performance.now() < late) {
    tab.say({ type: "cancel", exchange_id: exchange })
    if (await tab.until(() => session.cancelAnswered.has(exchange), CANCEL_RETRY_MS)) return
  }
}

/**
 * Waits until the page, which retries on its own, has seen the end of the turn. The answer to the page's command
 * arrives right after that.
 */
async function untilStopped(
  session: TestSession,
  tab: Tab,
  turn: { readonly id: string; readonly exchangeId: string },
) {
  const isAnswered = (): boolean => session.cancelAnswered.has(turn.exchangeId)
  await tab.until(() => isAnswered() || !tab.controller().commands.pending.peek().has(turn.id), ANSWER_MS)
  await tab.until(isAnswered, CANCEL_RETRY_MS)
}

async function withdrawQueued(host: Host, session: TestSession, id: string, thenKill: ThenKill): Promise<void> {
  const tab = tabOf(session, 0)
  const message = tab.messages().find((message) => message.id === id)
  if (message?.status !== "queued") return
  host.count("withdraw")
  const controller = tab.controller()
  controller.withdrawMessage(id)
  const pending = controller.commands.pending.peek().get(id)?.command
  if (pending?.type === "withdraw") {
    session.withdrawals.set(pending.id, id)
    expectCommand(session, pending.id)
  }
  await killAsPlanned(host, thenKill, untilAnswered(tab, id))
}

/** Expects a command that creates no message. */
function expectCommand(session: TestSession, id: string): void {
  expectMessage(session, id, null)
}

/** Returns whether the result of a command is shown and no turn is running or queued. */
function isDone(tab: Tab, target: string): boolean {
  return !tab.controller().commands.pending.peek().has(target) && hasNoOpenTurn(tab)
}

function untilAnswered(tab: Tab, target: string): Promise<boolean> {
  return tab.until(() => tab.controller().commands.pending.peek().get(target)?.isAcknowledged !== false, ANSWER_MS)
}

async function reviseTurn(host: Host, session: TestSession, { how, thenKill }: Revise): Promise<void> {
  const tab = tabOf(session, 0)
  if (!(await tab.until(() => hasNoOpenTurn(tab) && tab.messages().length > 0, ANSWER_MS))) return
  const target = targetOf(host, tab, how)
  // No other version exists yet.
  if (target === undefined) return how === "switch" ? makeVersion(host, session, thenKill) : undefined
  host.count(`revise: ${how}`)
  sendCommand(host, session, tab, target, how)
  await killAsPlanned(host, thenKill, untilAnswered(tab, target.id))
  // Wait until the new version is shown and no turn is running. Otherwise, the next message is queued.
  if (thenKill === null || host.chance.odds(0.5)) await tab.until(() => isDone(tab, target.id), ANSWER_MS)
}

async function makeVersion(host: Host, session: TestSession, thenKill: ThenKill): Promise<void> {
  await reviseTurn(host, session, { kind: "revise", how: "regenerate", thenKill: null })
  const hasVersions = tabOf(session, 0)
    .messages()
    .some(({ versions = 1 }) => versions > 1)
  if (hasVersions) await reviseTurn(host, session, { kind: "revise", how: "switch", thenKill })
}

function targetOf(host: Host, tab: Tab, how: Revise["how"]): WireMessage | undefined {
  const messages = tab.messages()
  const answers = messages.filter(({ role, status }) => role === "assistant" && isEnded(status))
  switch (how) {
    case "regenerate":
      return answers.at(-1)
    case "retry":
      return answers.findLast(({ status }) => status !== "completed") ?? answers.at(-1)
    case "edit":
      return host.chance.pick(messages.filter(({ role }) => role === "user"))
    case "switch":
      return messages.find(({ versions = 1 }) => versions > 1)
  }
}

function sendCommand(
  host: Host,
  session: TestSession,
  tab: Tab,
  { id, version = 1, versions = 1 }: WireMessage,
  how: Revise["how"],
) {
  const controller = tab.controller()
  switch (how) {
    case "regenerate":
      controller.regenerateAnswer(id)
      break
    case "retry":
      controller.retryAnswer(id)
      break
    case "edit":
      controller.editMessage(id, planWords(host.chance, `${id}-e${host.chance.int(1_000_000)}`, host.model, false))
      break
    case "switch":
      return controller.switchVersion(id, version === 1 ? versions : version - 1)
  }
  const pending = controller.commands.pending.peek().get(id)?.command
  if (pending?.type === "edit") expectMessage(session, pending.id, pending.content)
  if (pending?.type === "regenerate" || pending?.type === "retry") expectMessage(session, pending.id, null)
}
