/** writing-api.ts: the HTTP requests of the writing tools, and the parsers of their responses. */

import * as v from "valibot"
import { EFFORTS, type Effort } from "../../shared/model-effort.ts"
import type { AllowedTool, AnswerUsage, SessionAgent } from "../../shared/protocol/writing/answer-usage.ts"
import { type AnswerFeedback, type FeedbackInput, feedbackSchema } from "../../shared/protocol/writing/feedback.ts"
import type { PromptInput, SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"
import { type Api, sessionPath } from "../net/api.ts"
import { createJsonRequest, parseBody, readJson } from "../net/http-request.ts"
import { createSchemaParser } from "../net/schema-parser.ts"

export interface ListedAgent {
  readonly name: string
  readonly description: string
  /** The agent's effort. Absent if users can't choose another effort for a message. */
  readonly effort?: Effort | undefined
}

const text = v.string()
const count = v.number()

const effortSchema = v.picklist(EFFORTS)
const agentsSchema = v.object({
  agents: v.array(v.object({ name: text, description: text, effort: v.optional(effortSchema) })),
})
const followUpsSchema = v.object({ follow_ups: v.array(text) })
const sessionAgentSchema = v.object({ name: text, effort: v.nullable(effortSchema) })
const promptSchema = v.object({ id: text, name: text, text, changed: count })
const promptsSchema = v.object({ prompts: v.array(promptSchema) })
const feedbackListSchema = v.object({ feedback: v.array(v.object({ message: text, ...feedbackSchema.entries })) })
const toolsSchema = v.object({ tools: v.array(v.object({ tool: text, since: count })) })
const usageSchema = v.object({
  calls: count,
  input_tokens: count,
  cached_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  models: v.array(text),
  estimated: v.boolean(),
  cost_nano_usd: v.nullable(count),
})
const sessionSchema = v.object({ id: text })

async function request<T>(api: Api, path: string, schema: v.GenericSchema<unknown, T>, init?: RequestInit): Promise<T> {
  return await parseBody(await api.fetchAuthorized(path, init), createSchemaParser(schema))
}

/** Sends a request whose response has no body. */
async function requestNothing(api: Api, path: string, method: string): Promise<void> {
  const response = await api.fetchAuthorized(path, { method })
  if (!response.ok) await readJson(response)
}

export async function listAgents(api: Api): Promise<readonly ListedAgent[]> {
  return (await request(api, "/v1/agents", agentsSchema)).agents
}

export function readSessionAgent(api: Api, session: string): Promise<SessionAgent> {
  return request(api, sessionPath(session, "/agent"), sessionAgentSchema)
}

/** Returns questions that the user could ask after the latest answer. */
export async function suggestFollowUps(api: Api, session: string, message: string): Promise<readonly string[]> {
  const path = sessionPath(session, `/messages/${message}/follow-ups`)
  return (await request(api, path, followUpsSchema, { method: "POST" })).follow_ups
}

export async function listPrompts(api: Api): Promise<readonly SavedPrompt[]> {
  return (await request(api, "/v1/prompts", promptsSchema)).prompts
}

export function savePrompt(api: Api, id: string, prompt: PromptInput): Promise<SavedPrompt> {
  return request(api, `/v1/prompts/${id}`, promptSchema, createJsonRequest("PUT", prompt))
}

export function deletePrompt(api: Api, id: string): Promise<void> {
  return requestNothing(api, `/v1/prompts/${id}`, "DELETE")
}

export async function listFeedback(api: Api, session: string): Promise<readonly AnswerFeedback[]> {
  return (await request(api, sessionPath(session, "/feedback"), feedbackListSchema)).feedback
}

export async function setFeedback(api: Api, session: string, message: string, input: FeedbackInput): Promise<void> {
  const path = sessionPath(session, `/messages/${message}/feedback`)
  await readJson(await api.fetchAuthorized(path, createJsonRequest("PUT", input)))
}

export function removeFeedback(api: Api, session: string, message: string): Promise<void> {
  return requestNothing(api, sessionPath(session, `/messages/${message}/feedback`), "DELETE")
}

export function readUsage(api: Api, session: string, message: string): Promise<AnswerUsage> {
  return request(api, sessionPath(session, `/messages/${message}/usage`), usageSchema)
}

export async function listAllowedTools(api: Api, session: string): Promise<readonly AllowedTool[]> {
  return (await request(api, sessionPath(session, "/allowed-tools"), toolsSchema)).tools
}

export async function allowTool(api: Api, session: string, tool: string): Promise<readonly AllowedTool[]> {
  const path = sessionPath(session, `/allowed-tools/${encodeURIComponent(tool)}`)
  return (await request(api, path, toolsSchema, { method: "PUT" })).tools
}

export async function revokeTool(api: Api, session: string, tool: string): Promise<readonly AllowedTool[]> {
  const path = sessionPath(session, `/allowed-tools/${encodeURIComponent(tool)}`)
  return (await request(api, path, toolsSchema, { method: "DELETE" })).tools
}

/** Copies the conversation up to a message into a new session. Returns its id. */
export async function branchSession(api: Api, session: string, message: string, id: string): Promise<string> {
  const init = createJsonRequest("POST", { message, id })
  return (await request(api, sessionPath(session, "/branch"), sessionSchema, init)).id
}
