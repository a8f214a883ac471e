/**
 * follow-ups.ts: asks the model which questions the user could ask next. Loaded on demand.
 *
 * page → newest answer → FOLLOW-UPS (one model call) → buttons below the answer
 * Nothing is stored. The questions for the newest answer are kept in memory, for the user's other tabs. Source: SPEC
 * FU1-FU4.
 */

import { isJsonObject, parseJson } from "../../../shared/json.ts"
import type { Message } from "../../../shared/protocol/message.ts"
import { plainText } from "../../../shared/segment/segmenter.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { removeControls } from "../../../shared/text/title.ts"
import { createFollowUpPrompt } from "../../model/background-prompts.ts"
import { describeError } from "../../platform/log.ts"
import { SessionErasedError } from "../../store/storage-gate.ts"
import type { LiveSession } from "../live-session.ts"
import { askInBackground, type BackgroundRequest } from "./background-call.ts"

/** Time limit of the model call, in milliseconds. */
const FOLLOW_UPS_MS = 20_000
/** How much of the question and of the answer the model gets, in UTF-16 code units. */
const MAX_EXCERPT_CHARS = 3_000
const MAX_FOLLOW_UPS = 3
/** A longer question doesn't fit on a button. */
const MAX_QUESTION_CHARS = 100

const FOLLOW_UPS_SCHEMA = {
  type: "object",
  properties: { follow_ups: { type: "array", items: { type: "string" }, description: "Up to three questions" } },
  required: ["follow_ups"],
  additionalProperties: false,
}

interface Asked {
  readonly answer: string
  readonly questions: Promise<readonly string[]>
}

const askedBySession = new WeakMap<LiveSession, Asked>()

/**
 * Returns questions for the newest answer. Returns an empty list for any other message, if the tenant hasn't enabled
 * suggestions, or on failure.
 */
export async function suggestFollowUps(session: LiveSession, answer: string): Promise<readonly string[]> {
  if (session.agentView.settings?.follow_ups !== true) return []
  const request = createRequest(session, answer)
  if (request === null) return []
  const asked = askedBySession.get(session)
  if (asked?.answer === answer) return await asked.questions
  const questions = requestFollowUps(session, request)
  askedBySession.set(session, { answer, questions })
  return await questions
}

/** Requests the questions from the model. Never rejects. */
async function requestFollowUps(session: LiveSession, request: BackgroundRequest): Promise<readonly string[]> {
  try {
    const { model } = session.host.currentAgent()
    if (!model.ok || !(await session.gate.check()).ok) return []
    return readFollowUps(await askInBackground(session, model.value, request, FOLLOW_UPS_MS))
  } catch (error) {
    if (!(error instanceof SessionErasedError)) session.log("follow_ups_failed", { error: describeError(error) })
    return []
  } finally {
    await session.gate.giveBack()
  }
}

/**
 * Creates the request. Returns null unless the message is the newest one, and a finished answer of the session's own
 * model to a user.
 */
function createRequest({ store }: LiveSession, id: string): BackgroundRequest | null {
  const answer = store.findMessageAt(store.readEnds().tip ?? 0)
  const question = answer?.parent == null ? null : store.findMessageAt(answer.parent)
  if (answer?.message.id !== id || !isOwnAnswer(answer.message) || question?.message.role !== "user") return null
  const [asked, answered] = [question.message, answer.message].map((message) =>
    cutText(plainText(message), MAX_EXCERPT_CHARS),
  )
  return {
    purpose: "follow_ups",
    system: createFollowUpPrompt(),
    messages: [
      { role: "user", content: asked ?? "" },
      { role: "assistant", parts: [{ type: "text", text: answered ?? "" }] },
      { role: "user", content: "Now write those questions." },
    ],
    tools: [],
    schema: FOLLOW_UPS_SCHEMA,
  }
}

function isOwnAnswer({ role, status, mode, origin }: Message): boolean {
  return role === "assistant" && status === "completed" && mode !== "external" && origin === null
}

/** Returns the questions in the model's output, which is JSON, possibly in a code block. Each is one line. */
export function readFollowUps(output: string): readonly string[] {
  const value = parseJson(output.replace(/^\s*```\w*|```\s*$/g, ""))
  const list = isJsonObject(value) && Array.isArray(value["follow_ups"]) ? value["follow_ups"] : []
  const questions = list.flatMap((item: unknown) => (typeof item === "string" ? [toLine(item)] : []))
  const fitting = questions.filter((question) => question !== "" && question.length <= MAX_QUESTION_CHARS)
  return [...new Set(fitting)].slice(0, MAX_FOLLOW_UPS)
}

const toLine = (text: string): string => removeControls(text.toWellFormed()).replace(/\s+/g, " ").trim()
