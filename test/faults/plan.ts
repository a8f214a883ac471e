/**
 * plan.ts: turns a seed into the plan of a run: the messages of each session, the faults to inject, and when to inject
 * each of them.
 *
 * The plan depends only on the seed. The state when a fault occurs depends on the speed of the machine.
 */

import { type Chance, createChance } from "./chance.ts"
import type { Cut } from "./proxy.ts"
import { produceWords } from "./producer.ts"
import { laterWords, scriptWords } from "./script.ts"
import { MODEL_FAULTS, type ModelFault } from "./upstream.ts"

/** The model that a run uses. */
export type ModelKind = "scripted" | "upstream"

/**
 * Whether and when the server is killed after a request. `soon`: 1 ms after the request. `answered`: as soon as the
 * request is answered. Null: no kill.
 */
export type ThenKill = "soon" | "answered" | null

export type Fault =
  /** `again`: kills the server a second time as soon as it is back, while it is recovering. */
  | { readonly kind: "kill"; readonly again: boolean }
  | { readonly kind: "evict" }
  | { readonly kind: "cut"; readonly how: Cut; readonly tab: number }
  | { readonly kind: "repeat"; readonly via: "socket" | "http" }
  | { readonly kind: "reopen"; readonly tab: number }
  | { readonly kind: "cancel"; readonly via: "page" | "socket" | "http"; readonly thenKill: ThenKill }
  | { readonly kind: "withdraw"; readonly thenKill: ThenKill }
  | { readonly kind: "revise"; readonly how: Revising; readonly thenKill: ThenKill }
  /** A model fault, which the turn's text requests. */
  | { readonly kind: "model"; readonly play: ModelFault }

export type Revising = "regenerate" | "edit" | "retry" | "switch"

/** The moment, after the message has been sent, at which a fault is injected. */
export type Moment =
  | { readonly at: "sent" }
  /** The message is shown, possibly before its acknowledgement. */
  | { readonly at: "shown" }
  | { readonly at: "acked" }
  /** The n-th numbered frame arrived. With `inside`, a cut occurs in the middle of the frame. */
  | { readonly at: "frame"; readonly n: number; readonly inside: boolean }
  | { readonly at: "ms"; readonly ms: number }
  /** A call has requested its side effect from the upstream, so the call is running. */
  | { readonly at: "effect" }
  /** A call is waiting for approval. */
  | { readonly at: "waiting" }
  | { readonly at: "ended" }

/** The decision about a waiting call. If null, nobody allows or denies it, and the next message settles it. */
export interface PlannedApproval {
  readonly decision: "allow" | "deny"
  readonly tab: number
  readonly afterMs: number
  /** Another tab makes the opposite decision at the same time. */
  readonly disputed: boolean
}

export interface TurnPlan {
  readonly id: string
  readonly content: string
  /** `producer`: an external producer sends the answer, and there is no question. */
  readonly via: "socket" | "http" | "producer"
  /** A file is uploaded first and sent with the message. */
  readonly attach?: boolean
  readonly fault: Fault
  readonly moment: Moment
  readonly approval: PlannedApproval | null
  /** Whether the next message is sent only after this turn has ended. Otherwise, the next message is queued. */
  readonly patient: boolean
}

export interface SessionPlan {
  readonly name: string
  readonly tabs: number
  /** Whether independent clients follow the session. Default: yes. */
  readonly isObserved?: boolean
  readonly turns: readonly TurnPlan[]
}

export interface RunPlan {
  readonly seed: number
  readonly model: ModelKind
  /** A small context size, so that older messages are summarised; null means the default. */
  readonly contextTokens: number | null
  readonly sessions: readonly SessionPlan[]
}

export interface Size {
  readonly sessions: number
  readonly turns: number
}

const TURN_KINDS = [
  ...(["kill", "evict", "cut", "cut", "cut", "repeat", "repeat", "reopen"] as const),
  ...(["cancel", "cancel", "withdraw", "revise", "revise"] as const),
] as const
const CUTS: readonly Cut[] = ["drop", "drop", "blackhole", "half_to_client", "half_to_server"]

/** A context that holds only the prompt, a message and one or two turns. */
const SMALL_CONTEXT_TOKENS = 4_000

export function planRun(seed: number, { sessions, turns }: Size): RunPlan {
  const chance = createChance(seed)
  const model: ModelKind = chance.odds(0.4) ? "upstream" : "scripted"
  const plans = Array.from({ length: sessions }, (_, at) => planSession(chance, `s${seed}-${at}`, model, turns))
  const contextTokens = chance.odds(0.3) ? SMALL_CONTEXT_TOKENS : null
  return { seed, model, contextTokens, sessions: plans }
}

function planSession(chance: Chance, name: string, model: ModelKind, turns: number): SessionPlan {
  const tabs = chance.odds(0.5) ? 2 : 1
  const plans: TurnPlan[] = []
  for (let at = 0; at < turns; at++) {
    const before = plans.at(-1)
    const planned = planTurn(chance, `${name}-${at}`, model, tabs)
    const turn = planSender(chance, planned, before?.patient !== false)
    // A message can be withdrawn only from the queue, so the turn before it must still be running.
    if (turn.fault.kind === "withdraw" && before !== undefined) plans[at - 1] = { ...before, patient: false }
    plans.push(turn)
  }
  return { name, tabs, turns: plans }
}

function planTurn(chance: Chance, id: string, model: ModelKind, tabs: number): TurnPlan {
  const fault: Fault =
    model === "upstream" && chance.odds(0.4)
      ? { kind: "model", play: chance.pick(MODEL_FAULTS) }
      : planFault(chance, tabs)
  const asks = fault.kind !== "model" && chance.odds(0.25)
  const content = fault.kind === "model" ? `play ${fault.play} ${id}` : planWords(chance, id, model, asks)
  const isAlone = fault.kind === "evict" || fault.kind === "revise"
  const approval = planApproval(chance, tabs) ?? (isAlone ? DENIAL : null)
  // If nobody allows or denies the call, only the next message ends the turn.
  const patient = isAlone || (chance.odds(0.75) && !(asks && approval === null))
  const moment = planMoment(chance, fault, asks)
  return { id, content, via: chance.odds(0.8) ? "socket" : "http", fault, moment, approval, patient }
}

/**
 * Attaches a file to some messages, and has an external producer write some answers if nothing is queued before them.
 */
function planSender(chance: Chance, turn: TurnPlan, isIdle: boolean): TurnPlan {
  const { kind } = turn.fault
  if (kind === "model" || kind === "withdraw") return turn
  const content = produceWords(chance.between(10, 60))
  if (isIdle && chance.odds(0.12)) return { ...turn, content, via: "producer", approval: null, patient: true }
  return kind !== "repeat" && chance.odds(0.12) ? { ...turn, attach: true } : turn
}

/** The default decision about a call, used if the plan contains none. */
export const DENIAL: PlannedApproval = { decision: "deny", tab: 0, afterMs: 0, disputed: false }

function planApproval(chance: Chance, tabs: number): PlannedApproval | null {
  if (chance.odds(0.2)) return null
  const decision = chance.odds(0.7) ? "allow" : "deny"
  return { decision, tab: chance.int(tabs), afterMs: chance.between(0, 400), disputed: tabs > 1 && chance.odds(0.3) }
}

function planFault(chance: Chance, tabs: number): Fault {
  const kind = chance.pick(TURN_KINDS)
  switch (kind) {
    case "kill":
      return { kind, again: chance.odds(0.2) }
    case "evict":
      return { kind }
    case "cut":
      return { kind, how: chance.pick(CUTS), tab: chance.int(tabs) }
    case "repeat":
      return { kind, via: chance.odds(0.5) ? "socket" : "http" }
    case "reopen":
      return { kind, tab: chance.int(tabs) }
    case "cancel":
      return { kind, via: chance.pick(["page", "socket", "http"]), thenKill: planKill(chance) }
    case "withdraw":
      return { kind, thenKill: planKill(chance) }
    case "revise":
      return { kind, how: chance.pick(["regenerate", "edit", "retry", "switch"]), thenKill: planKill(chance) }
  }
}

function planKill(chance: Chance): ThenKill {
  return chance.pick(["soon", "answered", ...Array.from({ length: 6 }, () => null)])
}

const MOMENTS = ["sent", "shown", "acked", "frame", "frame", "frame", "ms", "ended"] as const

function planMoment(chance: Chance, fault: Fault, asks: boolean): Moment {
  // An object is evicted, or another version requested, only while no turn is running.
  if (fault.kind === "evict") return { at: asks ? "waiting" : "ended" }
  if (fault.kind === "revise") return { at: "ended" }
  if (fault.kind === "withdraw") return { at: chance.pick(["shown", "acked"]) }
  if (fault.kind === "cancel" && chance.odds(0.85)) return planInside(chance, asks)
  const at = asks && chance.odds(0.5) ? "waiting" : chance.pick(MOMENTS)
  switch (at) {
    case "frame":
      return { at, n: chance.between(1, 8), inside: chance.odds(0.3) }
    case "ms":
      return { at, ms: chance.between(1, 600) }
    default:
      return { at }
  }
}

/** Chooses a moment at which the turn is probably running. */
function planInside(chance: Chance, asks: boolean): Moment {
  if (asks && chance.odds(0.5)) return { at: "waiting" }
  const at = chance.pick(["shown", "acked", "frame", "frame", "frame", "ms"] as const)
  if (at === "frame") return { at, n: chance.between(2, 4), inside: false }
  return at === "ms" ? { at, ms: chance.between(1, 150) } : { at }
}

const CITIES = ["Oslo", "Lima", "Cairo", "Delhi", "Paris", "Tokyo"]

/** Returns a unique message that makes the model do something. */
export function planWords(chance: Chance, id: string, model: ModelKind, asks: boolean): string {
  // This message asks another agent. The agent's answer arrives after the turn, possibly while another version is
  // active.
  if (model === "scripted" && !asks && chance.odds(0.2)) return laterWords(chance, id)
  if (model === "upstream") return `play ${asks ? "asks" : chance.pick(["words", "thought", "tools", "effects"])} ${id}`
  if (asks) return scriptWords(chance, id, true)
  switch (chance.int(6)) {
    case 0:
      return `/say ${wordsOf(chance, id)}`
    case 1:
      return `/think ${wordsOf(chance, id)}`
    case 2:
      return `What is the weather in ${chance.pick(CITIES)} and ${chance.pick(CITIES)}? (${id})`
    case 3: {
      const deltas = chance.between(30, 120)
      return `/bench deltas=${deltas} chars=${chance.between(1, 12)} tools=${chance.int(3)} delay_ms=5 ${id}`
    }
    default:
      return scriptWords(chance, id, false)
  }
}

const PIECES = [
  "plain",
  "words",
  "`code`",
  "a < b",
  "<b>bold</b>",
  "<span id='weather_1'>",
  "</span>",
  "ünïcödé",
  "🌦️",
  "\n\n",
  "**so**",
]

function wordsOf(chance: Chance, id: string): string {
  return [id, ...Array.from({ length: chance.between(20, 90) }, () => chance.pick(PIECES))].join(" ")
}
