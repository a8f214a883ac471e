/**
 * mutant-plans.ts: for each mutant, a short plan with the fault and the moment that expose it.
 */

import type { Fault, Moment, Revising, RunPlan, TurnPlan } from "./plan.ts"
import { produceWords } from "./producer.ts"
import { askLater } from "./script.ts"
import type { Rule } from "./violation.ts"

/** For each mutant of mutants.ts, the rules that detect it. The suite must report at least one of these rules. */
export const DETECTED_BY = {
  ack_early: ["stored_once"],
  lost_queue: ["stored_once"],
  no_dedupe: ["no_duplicates"],
  replay_twice: ["seq_in_order"],
  resume_gap: ["seq_in_order"],
  forget_cancel: ["cancel_holds"],
  send_first: ["shown_is_stored"],
  drop_window: ["live_is_history", "shown_is_stored"],
  late_delta: ["nothing_later", "ends_once"],
  run_again: ["once_dispatched"],
  inactive_shown: ["live_is_history", "late_in_place"],
  answer_dropped: ["late_in_place"],
  record_again: ["records_once"],
  file_lost: ["files_kept"],
} as const satisfies Readonly<Record<string, readonly Rule[]>>

/**
 * Server variables for the plans of some mutants. They give a producer time to return before the server treats it as
 * gone.
 */
export const MUTANT_VARS: { readonly [name in Mutant]?: Readonly<Record<string, string>> } = {
  record_again: { TIME_SCALE: "0.2" },
}

export type Mutant = keyof typeof DETECTED_BY

export const MUTANTS = Object.keys(DETECTED_BY) as Mutant[]

/** A turn that streams text for about 600 ms, in several windows. */
const LONG = "/bench deltas=120 chars=8 delay_ms=5"
/** A turn that ends at once. */
const SHORT = "/say a word"

/** Placeholder for the key of a side effect. */
const KEY = "KEY"
/** A turn with a side effect. Its tool keeps running for a second after the effect. */
const EFFECT = `/script ${JSON.stringify([
  [{ type: "tool_call", name: "probe_effect", args: JSON.stringify({ key: KEY, ms: 1_000 }) }],
  [{ type: "text_delta", delta: "Done." }],
])}`

/** A turn that takes longer than the agent that LATER asks. */
const PAUSE = `/script ${JSON.stringify([
  [{ type: "tool_call", name: "probe_slow", args: '{"ms":3000}' }],
  [{ type: "text_delta", delta: KEY }],
])}`
/** A turn that asks another agent, which works for 1.5 s. */
const LATER = askLater(1_500, KEY)

const ACKED: Moment = { at: "acked" }
const KILL: Fault = { kind: "kill", again: false }

export function planFor(mutant: Mutant, seed: number): RunPlan {
  // The ids are short. Log lines contain a turn's id, and the log check must not mistake a longer id for recorded
  // content.
  const name = `m${MUTANTS.indexOf(mutant)}-${seed}`
  const turns = turnsFor(mutant).map((turn, at): TurnPlan => {
    const id = `${name}-${at}`
    return { via: "socket", approval: null, patient: true, ...turn, id, content: wordsFor(turn.content, id) }
  })
  return { seed, model: "scripted", contextTokens: null, sessions: [{ name, tabs: 1, turns }] }
}

/** Returns the text of a message, made unique by its id. */
function wordsFor(content: string, id: string): string {
  return content.includes(KEY) ? content.replaceAll(KEY, id) : `${content} ${id}`
}

type Turn = Pick<TurnPlan, "content" | "fault" | "moment"> & Partial<TurnPlan>

function turnsFor(mutant: Mutant): readonly Turn[] {
  switch (mutant) {
    case "ack_early":
      return [{ content: SHORT, fault: KILL, moment: ACKED }]
    case "lost_queue":
      return [
        { content: LONG, fault: { kind: "repeat", via: "socket" }, moment: ACKED, patient: false },
        { content: SHORT, fault: KILL, moment: ACKED },
      ]
    case "no_dedupe":
      return [{ content: SHORT, fault: { kind: "repeat", via: "http" }, moment: { at: "ended" } }]
    case "replay_twice":
    case "resume_gap":
      return [{ content: LONG, fault: { kind: "cut", how: "drop", tab: 0 }, moment: atFrame(3) }]
    case "forget_cancel":
      return [{ content: LONG, fault: { kind: "cancel", via: "socket", thenKill: "answered" }, moment: atFrame(4) }]
    case "send_first":
      return [{ content: LONG, fault: KILL, moment: atFrame(5) }]
    case "drop_window":
      // The frames of the first delta, of a window, and of the window that is dropped.
      return [{ content: LONG, fault: KILL, moment: atFrame(5) }]
    case "late_delta":
      return [{ content: LONG, fault: { kind: "cancel", via: "http", thenKill: null }, moment: atFrame(4) }]
    case "run_again":
      return [{ content: EFFECT, fault: KILL, moment: { at: "effect" } }]
    case "inactive_shown":
      return [{ content: LATER, fault: createRevision("edit"), moment: { at: "ended" } }]
    case "answer_dropped":
      return [
        { content: LATER, fault: createRevision("edit"), moment: { at: "ended" } },
        { content: PAUSE, fault: createRevision("switch"), moment: { at: "ended" } },
      ]
    case "record_again":
      return [{ content: produceWords(100), via: "producer", fault: KILL, moment: atFrame(3) }]
    case "file_lost":
      return [{ content: SHORT, via: "http", attach: true, fault: KILL, moment: ACKED }]
  }
}

function createRevision(how: Revising): Fault {
  return { kind: "revise", how, thenKill: null }
}

function atFrame(n: number): Moment {
  return { at: "frame", n, inside: false }
}
