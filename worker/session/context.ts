/**
 * context.ts: what goes to the model: the newest whole turns that fit, and this turn so far.
 *
 * store → CONTEXT → model
 * Older turns go back without spans, trailers and escapes; this turn's tool results go verbatim, trailer and all,
 * since the model reads its tags there. A tool's call and result are never parted.
 */

import { cleanToModel } from "../../shared/clean.ts"
import { resultData, splitResult } from "../../shared/cue.ts"
import { MODEL_CONTEXT_TOKENS } from "../../shared/limits.ts"
import type { Message, ToolCall } from "../../shared/message.ts"
import { stripSpans } from "../../shared/segment.ts"
import type { AssistantPiece, ModelMessage } from "../model/adapter.ts"
import type { StoredMessage } from "./store.ts"

/** Text units that a token is taken for. An estimate that holds for European text; ideographs run over. */
const CHARS_PER_TOKEN = 4

/**
 * The messages for the next model call of a turn.
 *
 * Shapes  (this turn's assistant message, its parent's position, look-up) → ModelMessage[], oldest first.
 * Cost    reads whole turns, newest first, until MODEL_CONTEXT_TOKENS is full: flat in the length of a session.
 */
export function contextFor(
  current: Message,
  parent: number | null,
  at: (pos: number) => StoredMessage | null,
): ModelMessage[] {
  const now = fitResults(messagesOf(current, true), (MODEL_CONTEXT_TOKENS * CHARS_PER_TOKEN) / 2)
  let room = MODEL_CONTEXT_TOKENS * CHARS_PER_TOKEN - charsOf(now)
  const older: ModelMessage[][] = []
  let turn: ModelMessage[] = []
  let isOwn = true
  for (let pos = parent; pos !== null; ) {
    const stored = at(pos)
    if (stored === null) break
    turn = [...messagesOf(stored.message, false), ...turn]
    pos = stored.parent
    if (stored.message.role === "assistant") continue
    room -= charsOf(turn)
    // This turn's own question always goes along, however long.
    if (room < 0 && !isOwn) break
    older.push(turn)
    turn = []
    isOwn = false
  }
  return [...older.reverse().flat(), ...now]
}

function messagesOf(message: Message, isCurrent: boolean): ModelMessage[] {
  if (message.role !== "assistant") return [{ role: "user", content: message.words }]
  const messages: ModelMessage[] = []
  const steps = Map.groupBy(message.parts, (part) => part.step)
  for (const parts of steps.values()) {
    const pieces: AssistantPiece[] = []
    const results: ModelMessage[] = []
    for (const part of parts) {
      if (part.type === "text") {
        const text = cleanToModel(stripSpans(part.text))
        if (text.trim() !== "") pieces.push({ type: "text", text })
      }
      if (part.type === "tool_call" && (isCurrent || !part.call.ephemeral)) {
        const { call_id, name, args } = part.call
        pieces.push({ type: "tool_call", call_id, name, args })
        results.push(resultMessage(part.call, isCurrent))
      }
    }
    if (pieces.length > 0) messages.push({ role: "assistant", pieces }, ...results)
  }
  return messages
}

/** This turn's results may fill so much and no more: the longest lose their tail, never their trailer. */
function fitResults(messages: readonly ModelMessage[], room: number): ModelMessage[] {
  const results = messages.filter((message) => message.role === "tool")
  if (charsOf(results) <= room) return [...messages]
  const each = Math.floor(room / results.length)
  return messages.map((message) => {
    if (message.role !== "tool" || message.result.length <= each) return message
    const { head, trailer } = splitResult(message.result)
    const kept = head.slice(0, Math.max(each - trailer.length, 0)).toWellFormed()
    const note = `[${head.length - kept.length} more characters are left out here]`
    return { ...message, result: [`${kept}\n${note}`, trailer].filter((text) => text !== "").join("\n\n") }
  })
}

function resultMessage(call: ToolCall, isCurrent: boolean): ModelMessage {
  const { call_id, name, status, error } = call
  const whole = call.result ?? JSON.stringify({ error: error?.message ?? "No result." })
  const result = isCurrent ? whole : resultData({ name, result: whole })
  return { role: "tool", call_id, name, result, ok: status === "ok" }
}

function charsOf(messages: readonly ModelMessage[]): number {
  let chars = 0
  for (const message of messages) {
    switch (message.role) {
      case "user":
        chars += message.content.length
        break
      case "tool":
        chars += message.result.length
        break
      case "assistant":
        for (const piece of message.pieces) chars += piece.type === "text" ? piece.text.length : piece.args.length
    }
  }
  return chars
}
