/**
 * reopen-text.ts: finds the parts from which an answer continues after it was cut off within its text, and writes their
 * rows.
 *
 * stopped answer → REOPEN → parts of a new version, the last of them open
 * Source: SPEC WR1 to WR3.
 */

import type { TurnFault } from "../../../shared/fault.ts"
import type { Message, Part } from "../../../shared/protocol/message.ts"
import { createCleaner } from "../../../shared/sanitize/clean.ts"
import { isInCode } from "./join-text.ts"
import { textPartExtras } from "../../store/row-codec.ts"
import type { SessionStore } from "../../store/session-store.ts"
import { createChunkWriter } from "../../store/text-chunks.ts"

/** The parts of a reopened step, and the state of `clean` at the end of the text. */
export interface ReopenedStep {
  readonly step: number
  /** All parts of the answer that are kept. The last one is open text. */
  readonly parts: readonly Part[]
  /** JSON of the state from which `clean` continues. */
  readonly held: string
}

type TextPart = Extract<Part, { type: "text" }>

/** The faults that leave the answer's text so far valid: its stream broke off, or it ran out of time. */
const CUT_OFF: ReadonlySet<string> = new Set<TurnFault>(["model_cut_off", "turn_timeout"])

/**
 * Returns the parts from which an answer continues in the middle of its last text; null if the answer doesn't end with
 * text or wasn't cut off. After any other fault, the model is called again from the start of its step (SPEC VE4). Cost:
 * one pass over the last text.
 */
export function reopenText({ status, reason, parts }: Message): ReopenedStep | null {
  const wasCutOff = status === "cancelled" || status === "interrupted" || CUT_OFF.has(reason ?? "")
  if (!wasCutOff) return null
  const last = parts.at(-1)
  if (last?.type !== "text" || last.text.trim() === "") return null
  const { step } = last
  // If the step contains calls, the model has to make them again.
  if (parts.some((part) => part.step === step && part.type === "tool_call")) return null
  const cleaner = createCleaner()
  const text = cleaner.push(dropPartialWord(last.text))
  if (text.trim() === "") return null
  const reopened: TextPart = { ...last, text, open: true }
  const { cut: _cut, ...open } = reopened
  const times = last.times === undefined ? {} : { times: { begin: last.times.begin } }
  const held = JSON.stringify(cleaner.save())
  return { step, parts: [...parts.slice(0, -1), { ...open, ...times }], held }
}

/**
 * Matches the last word after a space, which may have been cut off in the middle. Text in a script that is written
 * without spaces has no such word.
 */
const LAST_WORD =
  /(?<=[ \n])(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[\p{L}\p{M}\p{N}]){1,32}$/u

/** Removes the last word, which the model writes again, so that the text can't continue in the middle of a word. */
function dropPartialWord(text: string): string {
  return isInCode(text) ? text : text.replace(LAST_WORD, "")
}

/** Writes the parts of the reopened step. The finished steps before it are copied (`copySteps`). */
export function writeReopenedStep(store: SessionStore, pos: number, seq: number, reopened: ReopenedStep): void {
  const { step, parts, held } = reopened
  const writeChunk = createChunkWriter(store, pos, true)
  parts.forEach((part, at) => {
    if (part.type === "tool_call" || part.step !== step) return
    const { type: kind, open, text, times } = part
    writeChunk(seq, {
      part: at,
      kind,
      step,
      open,
      ...(part.type === "text" ? textPartExtras(part) : {}),
      ...(times === undefined ? {} : { times }),
      ms: part.type === "thinking" ? part.ms : null,
      held: open ? held : null,
      addedText: text,
    })
  })
}
