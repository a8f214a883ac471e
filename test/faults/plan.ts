/**
 * plan.ts: a seed becomes what is said in each session of a run, and what goes wrong there when.
 *
 * Pure but for the seed. What a moment finds under way depends on the machine; what is tried does not.
 */

import { type Chance, createChance } from "./chance.ts"
import type { Cut } from "./proxy.ts"
import { MODEL_FAULTS, type ModelFault } from "./upstream.ts"

/** Which model a run's server asks. */
export type ModelKind = "scripted" | "upstream"

export type Fault =
  | { readonly kind: "kill" }
  | { readonly kind: "evict" }
  | { readonly kind: "cut"; readonly how: Cut; readonly tab: number }
  | { readonly kind: "repeat"; readonly via: "socket" | "http" }
  | { readonly kind: "reopen"; readonly tab: number }
  /** The model's own: the turn's words ask for it. */
  | { readonly kind: "model"; readonly play: ModelFault }

export type FaultKind = Fault["kind"]

/** When a fault strikes, counted from the moment in which the turn's message is sent. */
export type Moment =
  | { readonly at: "sent" }
  /** The message was shown, its acknowledgement perhaps not. */
  | { readonly at: "shown" }
  | { readonly at: "acked" }
  /** The n-th numbered frame came; with `inside` in the middle of it, where a connection is cut. */
  | { readonly at: "frame"; readonly n: number; readonly inside: boolean }
  | { readonly at: "ms"; readonly ms: number }
  | { readonly at: "ended" }

export interface TurnPlan {
  readonly id: string
  readonly content: string
  readonly via: "socket" | "http"
  readonly fault: Fault
  readonly moment: Moment
  /** Waits for the turn's end before the next; else that one is queued. */
  readonly patient: boolean
}

export interface SessionPlan {
  readonly name: string
  readonly tabs: number
  readonly turns: readonly TurnPlan[]
}

export interface RunPlan {
  readonly seed: number
  readonly model: ModelKind
  readonly sessions: readonly SessionPlan[]
}

export interface Size {
  readonly sessions: number
  readonly turns: number
}

const TURN_KINDS = ["kill", "evict", "cut", "cut", "cut", "repeat", "repeat", "reopen"] as const
const CUTS: readonly Cut[] = ["drop", "drop", "blackhole", "half_to_client", "half_to_server"]

export function planRun(seed: number, { sessions, turns }: Size): RunPlan {
  const chance = createChance(seed)
  const model: ModelKind = chance.odds(0.5) ? "upstream" : "scripted"
  const plans = Array.from({ length: sessions }, (_, at) => planSession(chance, `s${seed}-${at}`, model, turns))
  return { seed, model, sessions: plans }
}

function planSession(chance: Chance, name: string, model: ModelKind, turns: number): SessionPlan {
  const tabs = chance.odds(0.5) ? 2 : 1
  const plans = Array.from({ length: turns }, (_, at) => planTurn(chance, `${name}-${at}`, model, tabs))
  return { name, tabs, turns: plans }
}

function planTurn(chance: Chance, id: string, model: ModelKind, tabs: number): TurnPlan {
  const isModels = model === "upstream" && chance.odds(0.4)
  const fault = isModels ? modelFault(chance) : planFault(chance, tabs)
  const content = fault.kind === "model" ? `play ${fault.play} ${id}` : planWords(chance, id, model)
  const moment: Moment = fault.kind === "evict" ? { at: "ended" } : planMoment(chance)
  // An object is put out of memory only where nothing runs.
  const patient = fault.kind === "evict" || chance.odds(0.75)
  return { id, content, via: chance.odds(0.8) ? "socket" : "http", fault, moment, patient }
}

function modelFault(chance: Chance): Fault {
  return { kind: "model", play: chance.pick(MODEL_FAULTS) }
}

function planFault(chance: Chance, tabs: number): Fault {
  const kind = chance.pick(TURN_KINDS)
  switch (kind) {
    case "kill":
    case "evict":
      return { kind }
    case "cut":
      return { kind, how: chance.pick(CUTS), tab: chance.int(tabs) }
    case "repeat":
      return { kind, via: chance.odds(0.5) ? "socket" : "http" }
    case "reopen":
      return { kind, tab: chance.int(tabs) }
  }
}

function planMoment(chance: Chance): Moment {
  const at = chance.pick(["sent", "shown", "acked", "frame", "frame", "frame", "ms", "ended"] as const)
  switch (at) {
    case "frame":
      return { at, n: chance.between(1, 8), inside: chance.odds(0.3) }
    case "ms":
      return { at, ms: chance.between(1, 600) }
    default:
      return { at }
  }
}

const CITIES = ["Oslo", "Lima", "Cairo", "Delhi", "Paris", "Tokyo"]

/** A message that no other resembles, and that makes the model do something. */
function planWords(chance: Chance, id: string, model: ModelKind): string {
  if (model === "upstream") return `play ${chance.pick(["words", "thought", "tools"])} ${id}`
  switch (chance.int(4)) {
    case 0:
      return `/say ${wordsOf(chance, id)}`
    case 1:
      return `/think ${wordsOf(chance, id)}`
    case 2:
      return `What is the weather in ${chance.pick(CITIES)} and ${chance.pick(CITIES)}? (${id})`
    default: {
      const deltas = chance.between(30, 120)
      return `/bench deltas=${deltas} chars=${chance.between(1, 12)} tools=${chance.int(3)} delay_ms=5 ${id}`
    }
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
