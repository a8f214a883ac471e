/**
 * strike.ts: does to a session what its plan says, and counts what it did.
 */

import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { isEnded } from "../../shared/protocol/message.ts"
import { postCancel, postMessage, readPage } from "./ask.ts"
import { type Fault, planWords, type ThenKill, type TurnPlan } from "./plan.ts"
import { expectMessage, type Host, isQuietIn, type Stage, tabOf } from "./stage.ts"
import type { Tab } from "./tab.ts"

type Revise = Extract<Fault, { kind: "revise" }>

/** Longest wait until a command is heard or a session is quiet, in milliseconds. */
const HEARD_MS = 5_000

/** A cancel without an answer is said again so often, in milliseconds. */
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
      // The upstream plays it, and counts it.
      return
  }
}

/** A kill that joins another is that other one. */
async function kill(host: Host): Promise<void> {
  const underWay = host.stages.filter((stage) => stage.tabs.some((tab) => !isQuietIn(tab))).length
  if (!(await host.server.crash())) return
  host.count("kill")
  host.hit(underWay)
}

/** Waits for what was asked, and kills the process when the plan says so. */
async function orKilled(host: Host, thenKill: ThenKill, asked: Promise<unknown>): Promise<void> {
  if (thenKill === "soon") await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 1))])
  if (thenKill === "heard") await asked
  if (thenKill !== null) await kill(host)
  await asked
}

/** Only where nothing runs: an object that works is not put out of memory, it would be waited for. */
async function evict(host: Host, stage: Stage): Promise<void> {
  stage.isEvicting = true
  try {
    const page = await readPage(host.server, stage.session)
    if (page === null || page.messages.some(({ status }) => status === "running" || status === "queued")) return
    await host.server.evict(stage.session)
    host.count("evict")
  } catch {
    // Another session's kill came between.
  } finally {
    stage.isEvicting = false
  }
}

/** Until it is answered, as a careful client would. */
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

/** The page asks again itself, until it sees the end; its answer comes right behind. */
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

/** A command that leaves no message of its own: only its acknowledgement is of interest. */
function expectCommand(stage: Stage, id: string): void {
  expectMessage(stage, id, null)
}

/** A command's work is shown, and nothing is under way. */
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
  // There is no other version yet.
  if (target === undefined) return how === "switch" ? makeVersion(host, stage, thenKill) : undefined
  host.count(`revise: ${how}`)
  command(host, stage, tab, target, how)
  await orKilled(host, thenKill, untilHeard(tab, target.id))
  // The new version is shown and has its turn, or else what comes next is queued behind it.
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
