/**
 * auto-title.ts: asks the model for a title after the first finished answer. Loaded on demand.
 *
 * first answer → TITLE (one model call) → session row, directory, viewers
 * No turn waits for the title. The request is recorded before the call, so a restart doesn't ask again. If anything
 * fails, the title remains the first words of the conversation.
 */

import type { Message } from "../../../shared/protocol/message.ts"
import { plainText } from "../../../shared/segment/segmenter.ts"
import { cutText } from "../../../shared/text/cut-text.ts"
import { toTitle } from "../../../shared/text/title.ts"
import { isJsonObject, parseJson } from "../../../shared/json.ts"
import { MAX_TITLE_CHARS } from "../../../shared/limits.ts"
import { createTitlePrompt } from "../../model/background-prompts.ts"
import { describeError } from "../../platform/log.ts"
import { SessionErasedError } from "../../store/storage-gate.ts"
import type { LiveSession } from "../live-session.ts"
import { askInBackground, type BackgroundRequest } from "./background-call.ts"

/** Time limit of the model call, in milliseconds. */
const TITLE_MS = 20_000
/** How much of the question and of the answer the model gets, in UTF-16 code units: enough to name the subject. */
const MAX_EXCERPT_CHARS = 2_000

const TITLE_SCHEMA = {
  type: "object",
  properties: { title: { type: "string", description: "The title, of at most six words" } },
  required: ["title"],
  additionalProperties: false,
}

/** Asks for a title if this kind of session gets one. `show` updates the lists. Never rejects. */
export async function titleSession(session: LiveSession, show: (title: string) => Promise<void>): Promise<void> {
  try {
    const request = createRequest(session)
    const { model } = session.host.currentAgent()
    if (request === null || !model.ok || !(await session.gate.check()).ok) return
    // Nothing is awaited between the check and the write, so two callers don't both ask.
    if (session.store.readTitleSource() !== "words") return
    session.store.setTitleSource("asked")
    const title = readTitle(await askInBackground(session, model.value, request, TITLE_MS))
    // The user may have renamed the session in the meantime.
    if (session.store.readTitleSource() !== "asked") return
    if (title === "") return session.log("title_failed", {})
    session.store.setTitle(title, "model")
    await show(title)
  } catch (error) {
    if (!(error instanceof SessionErasedError)) session.log("title_failed", { error: describeError(error) })
  } finally {
    await session.gate.giveBack()
  }
}

/** Maximum number of messages up to the first finished answer. Several attempts may have failed before it. */
const MAX_FIRST_MESSAGES = 10

/**
 * Creates the request. Returns null unless the conversation begins with a question and has a finished answer of the
 * session's own model.
 */
function createRequest({ store, row }: LiveSession): BackgroundRequest | null {
  // Agents' sessions and temporary ones are not in any list.
  if (row.id !== row.family.session || row.erasesAt !== null) return null
  const first = store.listPathAfter(0, MAX_FIRST_MESSAGES).map((pos) => store.findMessageAt(pos)?.message)
  const [question] = first
  const answer = first.find(isFinishedAnswer)
  if (question?.role !== "user" || answer === undefined) return null
  const [asked, answered] = [question, answer].map((message) => cutText(plainText(message), MAX_EXCERPT_CHARS))
  return {
    purpose: "title",
    system: createTitlePrompt(),
    messages: [
      { role: "user", content: asked ?? "" },
      { role: "assistant", parts: [{ type: "text", text: answered ?? "" }] },
      { role: "user", content: "Now write that title." },
    ],
    tools: [],
    schema: TITLE_SCHEMA,
  }
}

function isFinishedAnswer(message: Message | undefined): message is Message {
  const isOurs = message?.role === "assistant" && message.mode !== "external" && message.origin === null
  return isOurs && message.status === "completed"
}

/** Returns the title in the model's output: a field of JSON, or plain text. */
export function readTitle(output: string): string {
  const value = parseJson(output)
  if (isJsonObject(value)) return typeof value["title"] === "string" ? cleanTitle(value["title"]) : ""
  // JSON that was cut off isn't a title.
  return output.trimStart().startsWith("{") ? "" : cleanTitle(output)
}

/** Reduces the output to one line without Markdown, quotation marks or a full stop; empty if it isn't a title. */
export function cleanTitle(output: string): string {
  const [line = ""] = output.split("\n").filter((text) => text.trim() !== "")
  const bare = line
    .replace(/<[^>]*>|[*_`#]+/g, "")
    .trim()
    .replace(/^(?:title|titel|titre|título|标题|タイトル|शीर्षक|العنوان|כותרת)\s*[:：]\s*/i, "")
    .replace(/^["'“”„«»‘’「『《]+|["'“”«»‘’」』》]+$/g, "")
    .replace(/[.。]+$/, "")
    .trim()
  return bare.length > MAX_TITLE_CHARS ? "" : toTitle(bare)
}
