/**
 * tool-conversations.ts: creates the conversations that use a tenant's own tools: an MCP server that asks the user, one
 * with an app, one that needs the user's account, and a card with a form. Also creates a canvas document in two
 * versions.
 */

import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Cuecard } from "cuecard/testing"
import { expect } from "vitest"
import { readTemplate } from "../shared/card/card-templates.ts"
import { BOOKING_FORM } from "../support/asking-mcp.ts"
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "../support/oidc-provider.ts"
import { answerMcp, stopMcp } from "../support/upstream-mcp.ts"
import { callApi, tokenFor } from "./admin-pages.ts"
import { connectServer } from "./connect-server.ts"
import { BOOKING_APP } from "./mcp-app-documents.ts"
import { writeConversation } from "./state-conversations.ts"

/** What the form in a card shows. */
export const OFFER = {
  offer: "o-71",
  restaurant: "Trattoria Sole",
  address: "12 Harbour Street",
  date: "2026-05-09",
  max_guests: 6,
}
const OFFER_CALL = { type: "tool_call", name: "probe_json", args: JSON.stringify({ json: JSON.stringify(OFFER) }) }
const OFFER_TEXT = { type: "text_delta", delta: "A table. <span id='probe_json_1'>Shall I book it?</span>" }
const createDocument = (n: number): string =>
  `/call canvas_create ${JSON.stringify({
    title: "Plan",
    html: `<!doctype html>\n<html lang="en"><title>Plan</title><h1>Plan ${n}</h1>\n<p>A line of the document that is longer than a phone is wide.</p>`,
    height: 200,
  })}`

/**
 * The questions of each conversation. All except those about the document go to the agent `guide`, whose tools belong
 * to the servers.
 */
const QUESTIONS = {
  canvas: [createDocument(1), createDocument(2)],
  form: [`/script ${JSON.stringify([[OFFER_CALL], [OFFER_TEXT]])}`],
  question: ['/call trips_ask {"text":"two"}'],
  app: ['/call plans_show {"text":"two"}'],
  connection: ['/call files_echo {"text":"one"}'],
} as const

export type ToolConversations = Readonly<Record<keyof typeof QUESTIONS, string>>

export interface StartedTools {
  readonly conversations: ToolConversations
  readonly close: () => Promise<void>
}

/** Creates the conversations. `watch` is called with each new conversation before its first question. */
export async function writeToolConversations(
  cuecard: Cuecard,
  watch?: (name: keyof ToolConversations, id: string) => Promise<void>,
): Promise<StartedTools> {
  const upstream = createServer((request, reply) => void answerMcp(request, reply))
  await new Promise<void>((done) => upstream.listen(0, "127.0.0.1", done))
  const base = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`
  const provider = await startOidcProvider({ redirectUris: [`${cuecard.url}/auth/connections/demo/files`] })
  const root = await tokenFor(cuecard, "root", "owner")
  const put = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await callApi(cuecard, root, "PUT", path, body)
    expect(status, `${path} ${JSON.stringify(answer)}`).toBe(200)
  }
  const asks = [{ who: { method: "elicitation/create", params: BOOKING_FORM } }]
  await fetch(`${base}/set/state-trips`, { method: "POST", body: JSON.stringify({ asks }) })
  await fetch(`${base}/set/state-plans`, { method: "POST", body: JSON.stringify({ app: { html: BOOKING_APP } }) })
  await put("/v1/mcp-servers/trips", { url: `${base}/serve/state-trips`, tools: ["ask"], approval: "never" })
  const plans = { url: `${base}/serve/state-plans`, tools: ["show", "refresh"], reads: ["show"], approval: "never" }
  await put("/v1/mcp-servers/plans", plans)
  const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET, scope: "files" }
  const auth = { type: "oauth", per: "user", issuer: provider.issuer, ...client }
  const files = { url: `${base}/serve/state-files`, auth }
  await put("/v1/mcp-servers/files", files)
  await connectServer(cuecard, root, "files", "root")
  await put("/v1/mcp-servers/files", { ...files, tools: ["echo"], approval: "never" })
  await putForm(put)
  await put("/v1/agents/guide", { description: "Plans trips.", prompt: "p", mcp_servers: ["trips", "plans", "files"] })
  const prompt = { name: "Greeting", text: "Write a friendly greeting to {name}, in two sentences." }
  expect((await callApi(cuecard, cuecard.token, "PUT", "/v1/prompts/greeting", prompt)).status).toBe(200)
  const entries = Object.entries(QUESTIONS).map(async ([name, questions]) => {
    const agent = name === "canvas" ? undefined : "guide"
    const options = { agent, watch: async (id: string) => await watch?.(name as keyof ToolConversations, id) }
    return [name, await writeConversation(cuecard, questions, options)] as const
  })
  return {
    conversations: Object.fromEntries(await Promise.all(entries)) as ToolConversations,
    close: async () => {
      stopMcp()
      upstream.closeAllConnections()
      upstream.close()
      await provider.close()
    },
  }
}

/** Stores the shipped form as a card for the tests' results, adapted to their tools. */
export async function putForm(put: (path: string, body: object) => Promise<void>): Promise<void> {
  const form = readTemplate("form")
  const { book, decline } = form.actions as { readonly book: object; readonly decline: object }
  const actions = { book: { ...book, tool: "probe_effect" }, decline: { ...decline, tool: "probe_fail" } }
  await put("/v1/cards/form", { ...form, for: "probe_json", actions })
}
