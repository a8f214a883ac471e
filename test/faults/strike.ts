/**
 * strike.ts: injects the planned fault into a session and counts it.
 */

import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { postCancel, postMessage, readPage } from "./ask.ts"
import { type Fault, planWords, type ThenKill, type TurnPlan } from "./plan.ts"
import { expectMessage, type Host, isQuietIn, type Stage, tabOf } from "./stage.ts"
import type { Tab } from "./tab.ts"

type Revise = Extract<Fault, { kind: "revise" }>

/** Longest wait until a command is answered or a session is idle, in milliseconds. */
const HEARD_MS = 5_000

/** Interval between retries of an unanswered cancel, in milliseconds. */
const AGAIN_MS = 400

export async function strike(host: Host, stage: Stage, turn: TurnPlan): Promise<void> {
  const { fault } = turn
  switch (fault.kind) {
    case "kill":
      await kill(host)
      return fault.again ? kill(host) : undefined
    case "evict":
      return evict(host, stage)
    case "cut":
      return void tabOf(stage, fault.tab).proxy.cut(fault.how)
    case "repeat":
      host.count(`repeat: ${fault.via}`)
      if (fault.via === "http") return postMessage(host, stage, turn.id, turn.content)
      tabOf(stage, 0).say({ type: "send", id: turn.id, content: turn.content })
      return
    case "reopen":
      host.count("reopen")
      return tabOf(stage, fault.tab).reopen()
    case "cancel":
      host.count(`cancel: ${fault.via}`)
      await orKilled(host, fault.thenKill, cancel(host, stage, turn.id, fault.via))
      return
    case "withdraw":
      return withdraw(host, stage, turn.id, fault.thenKill)
    case "revise":
      return revise(host, stage, fault)
    case "model":
      // The upstream plays and counts it.
      return
  }
}

/** A kill that joins another one is not counted. */
async function kill(host: Host): Promise<void> {
  const underWay = host.stages.filter((stage) => stage.tabs.some((tab) => !isQuietIn(tab))).length
  if (!(await host.server.crash())) return
  host.count("kill")
  host.hit(underWay)
}

/** Waits for a command, and kills the process as planned. */
async function orKilled(host: Host, thenKill: ThenKill, asked: Promise<unknown>): Promise<void> {
  if (thenKill === "soon") await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 1))])
  if (thenKill === "heard") await asked
  if (thenKill !== null) await kill(host)
  await asked
}

/** Evicts an idle object only: eviction waits for a busy one. */
async function evict(host: Host, stage: Stage): Promise<void> {
  stage.isEvicting = true
  try {
    const page = await readPage(host.server, stage.session)
    if (page === null || page.messages.some(({ status }) => status === "running" || status === "queued")) return
    await host.server.evict(stage.session)
    host.count("evict")
  } catch {
    // A kill from another session interfered.
  } finally {
    stage.isEvicting = false
  }
}

/** Retries until it is answered, as a careful client does. */
async function cancel(host: Host, stage: Stage, exchange: string, via: "page" | "socket" | "http"): Promise<void> {
  if (via === "http") return postCancel(host, stage, exchange)
  const tab = tabOf(stage, 0)
  const turn = via === "page" ? tab.room().store.activeTurn.peek() : null
  if (turn !== null && tab.room().stopAnswer()) return untilStopped(stage, tab, turn)
  const late = performance.now() + HEARD_MS
  while (performance.now() < late) {
    tab.say({ type: "cancel", exchange_id: exchange })
    if (await tab.until(() => stage.cancelHeard.has(exchange), AGAIN_MS)) return
  }
}

/** The page retries by itself until it sees the end. The answer to its command follows immediately. */
async function untilStopped(stage: Stage, tab: Tab, turn: { readonly id: string; readonly exchangeId: string }) {
  const isHeard = (): boolean => stage.cancelHeard.has(turn.exchangeId)
  await tab.until(() => isHeard() || !tab.room().commands.pending.peek().has(turn.id), HEARD_MS)
  await tab.until(isHeard, AGAIN_MS)
}

async function withdraw(host: Host, stage: Stage, id: string, thenKill: ThenKill): Promise<void> {
  const tab = tabOf(stage, 0)
  const message = tab.messages().find((one) => one.id === id)
  if (message?.status !== "queued") return
  host.count("withdraw")
  const command = tab.room()
  command.withdrawMessage(id)
  const asked = command.commands.pending.peek().get(id)?.command
  if (asked?.type === "withdraw") {
    stage.withdrawals.set(asked.id, id)
    expectCommand(stage, asked.id)
  }
  await orKilled(host, thenKill, untilHeard(tab, id))
}

/** Expects a command that creates no message of its own. */
function expectCommand(stage: Stage, id: string): void {
  expectMessage(stage, id, null)
}

/** The result of a command is shown, and no turn runs. */
function isDone(tab: Tab, target: string): boolean {
  return !tab.room().commands.pending.peek().has(target) && isQuietIn(tab)
}

function untilHeard(tab: Tab, target: string): Promise<boolean> {
  return tab.until(() => tab.room().commands.pending.peek().get(target)?.isAcknowledged !== false, HEARD_MS)
}

async function revise(host: Host, stage: Stage, { how, thenKill }: Revise): Promise<void> {
  const tab = tabOf(stage, 0)
  if (!(await tab.until(() => isQuietIn(tab) && tab.messages().length > 0, HEARD_MS))) return
  const target = targetOf(host, tab, how)
  // No other version exists yet.
  if (target === undefined) return how === "switch" ? makeVersion(host, stage, thenKill) : undefined
  host.count(`revise: ${how}`)
  command(host, stage, tab, target, how)
  await orKilled(host, thenKill, untilHeard(tab, target.id))
  // Waits until the new version is shown and its turn has started. Otherwise the next message is queued behind it.
  if (thenKill === null || host.chance.odds(0.5)) await tab.until(() => isDone(tab, target.id), HEARD_MS)
}

async function makeVersion(host: Host, stage: Stage, thenKill: ThenKill): Promise<void> {
  await revise(host, stage, { kind: "revise", how: "regenerate", thenKill: null })
  const hasVersions = tabOf(stage, 0)
    .messages()
    .some(({ versions = 1 }) => versions > 1)
  if (hasVersions) await revise(host, stage, { kind: "revise", how: "switch", thenKill })
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

function command(
  host: Host,
  stage: Stage,
  tab: Tab,
  { id, version = 1, versions = 1 }: WireMessage,
  how: Revise["how"],
) {
  const room = tab.room()
  switch (how) {
    case "regenerate":
      room.regenerateAnswer(id)
      break
    case "retry":
      room.retryAnswer(id)
      break
    case "edit":
      room.editMessage(id, planWords(host.chance, `${id}-e${host.chance.int(1_000_000)}`, host.model, false))
      break
    case "switch":
      return room.switchVersion(id, version === 1 ? versions : version - 1)
  }
  const asked = room.commands.pending.peek().get(id)?.command
  if (asked?.type === "edit") expectMessage(stage, asked.id, asked.content)
  if (asked?.type === "regenerate" || asked?.type === "retry") expectMessage(stage, asked.id, null)
}
