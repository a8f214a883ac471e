/**
 * new-tenant.test.ts: runs the commands in docs/set-up-a-tenant.md exactly as printed, with a new server. Only the URLs
 * of the services are replaced. The model is an endpoint on loopback.
 */

import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import { createClient } from "cuecard/client"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { SignResponse } from "../../shared/protocol/http-body.ts"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"
import { answerTo, callsIn, isEnded, StateClient } from "../state/state-client.ts"

const run = promisify(execFile)
/** The folder for the guide's files. It is inside the repository, so that the guide's service finds its library. */
const FOLDER = resolve("node_modules/.cache/cuecard/new-tenant")
const MODEL_KEY = "sk-new-tenant-0123456789"
const ORDER = {
  order: "1042",
  state: "sent",
  total: 79.8,
  currency: "EUR",
  items: [{ name: "Desk lamp", count: 2, price: 39.9 }],
}

interface ModelRequest {
  readonly key: string | undefined
  readonly body: { readonly model: string; readonly messages: readonly { role: string; content: string }[] }
}

const cleanups: (() => unknown)[] = []
const modelRequests: ModelRequest[] = []
const vars: Record<string, string> = {}
let cuecard: Cuecard
let guide = ""

beforeAll(async () => {
  guide = await readFile("docs/set-up-a-tenant.md", "utf8")
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  cleanups.push(() => rm(FOLDER, { recursive: true, force: true }))
  cuecard = await startCuecard()
  cleanups.push(() => cuecard.close())
})

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function listen(answer: (request: IncomingMessage, reply: ServerResponse) => unknown): Promise<string> {
  const server = createServer((request, reply) => void answer(request, reply))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanups.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
}

const callOf = (index: number, name: string, args: object) => ({
  index,
  id: `call_${name}`,
  type: "function",
  function: { name, arguments: JSON.stringify(args) },
})

/**
 * Answers as a model that calls both tools, and then writes the tag that the order's result has cued. After a
 * reservation, it writes only text.
 */
async function answerModel(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  let text = ""
  for await (const chunk of request.setEncoding("utf8")) text += chunk
  const body = JSON.parse(text) as ModelRequest["body"]
  modelRequests.push({ key: request.headers.authorization, body })
  const results = body.messages.filter(({ role }) => role === "tool").map(({ content }) => content)
  const tag = /<span id='(\w+)'>/.exec(results.join())?.[1]
  const calls = [callOf(0, "orders", { order: "1042" }), callOf(1, "stock_find", { item: "Desk lamp" })]
  const isReserved = results.at(-1)?.includes("Reserved") === true
  const words = isReserved ? "They are reserved." : `There are 12. <span id='${tag}'>Your order.</span>`
  const delta = results.length === 0 ? { tool_calls: calls } : { content: words }
  const choices = [{ index: 0, delta, finish_reason: results.length === 0 ? "tool_calls" : "stop" }]
  reply.writeHead(200, { "content-type": "text/event-stream" })
  reply.end(`data: ${JSON.stringify({ id: "1", model: "m", choices })}\n\ndata: [DONE]\n\n`)
}

const listBlocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block = ""]) => block)

/**
 * Runs the guide's command that contains the given text, with the URLs of this test. Variables that the command exports
 * are stored.
 */
async function runBlock(part: string): Promise<string> {
  const block = listBlocks("sh").find((block) => block.includes(part))
  if (block === undefined) throw new Error(`the guide has no command with ${part}`)
  const command = block
    .replaceAll("http://127.0.0.1:3000", vars["ORDERS"] ?? "")
    .replaceAll("http://127.0.0.1:3001/mcp", vars["MCP"] ?? "")
    .replaceAll("curl ", "curl -sS --fail-with-body ")
  const script = `set -eu -o pipefail\n[ ! -f vars ] || . ./vars\n${command}\nexport -p > vars`
  const { stdout } = await run("bash", ["-c", script], { cwd: FOLDER, env: { ...process.env, ...vars } })
  return stdout
}

async function createTenant(): Promise<void> {
  expect(listBlocks("sh")[0]).toBe("npm run tenant -- create acme\n")
  const { stdout } = await run(process.execPath, ["scripts/tenant.ts", "create", "acme", "--url", cuecard.url])
  vars["URL"] = cuecard.url
  vars["CUECARD_KEY"] = /^ {2}(ck_acme_\w+)$/m.exec(stdout)?.[1] ?? ""
  const model = await listen(answerModel)
  Object.assign(vars, { MODEL_URL: `${model}/v1`, MODEL_NAME: "their-model", MODEL_KEY })
  await runBlock("export AUTH=")
}

/** Runs one of the guide's programs on the port of a URL. Returns what the program prints. */
async function startProgram(name: string, code = "", address = "", env: object = {}): Promise<string[]> {
  const listening = `.listen(${new URL(address).port}, "127.0.0.1", () => console.log("listening"))`
  await writeFile(join(FOLDER, name), code.replace(/\.listen\(\d+\)/, listening))
  const child = spawn(process.execPath, [join(FOLDER, name)], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  })
  cleanups.push(() => child.kill("SIGKILL"))
  const lines: string[] = []
  const output = createInterface({ input: child.stdout })
  output.on("line", (line) => lines.push(line))
  await once(output, "line")
  return lines
}

/** Returns a URL on which nothing listens yet. */
async function reserveAddress(): Promise<string> {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
}

/** Adds the guide's tools and servers. Returns what the MCP server prints. */
async function addToolsAndServers(): Promise<readonly string[]> {
  const [orders, stock] = listBlocks("js")
  vars["ORDERS"] = await reserveAddress()
  const { secret } = JSON.parse(await runBlock("/v1/tools/orders")) as { secret: string }
  await startProgram("orders.mjs", orders, vars["ORDERS"], { TOOL_SECRET: secret })
  await runBlock("/v1/cards/order")
  const address = await reserveAddress()
  vars["MCP"] = `${address}/mcp`
  const printed = await startProgram("stock.mjs", stock, address)
  expect(await runBlock(`'{"url": "http://127.0.0.1:3001/mcp"}'`)).toContain('"app":"ui://stock/level"')
  await runBlock('"tools": ["find", "reserve"]')
  await runBlock("/v1/agents/shop")
  return printed
}

/** Loads the document of the app that a session shows. */
async function loadApp(you: StateClient, session: string, url: string): Promise<string> {
  const { signed } = await you.send<SignResponse>("POST", `/v1/sessions/${session}/media/sign`, { urls: [url] })
  const loaded = await fetch(new URL(signed[0]?.href ?? "", cuecard.url), { headers: { "sec-fetch-dest": "iframe" } })
  return await loaded.text()
}

/** Sends the form of the order's card. Returns the status and the code of a refusal. */
async function sendForm(you: StateClient, session: string, id: string, call_id: string) {
  const body = { id, content: "", action: { call_id, name: "reserve", fields: { count: 2 } } }
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const sent = await you.request(`/v1/sessions/${session}/messages`, init)
  const { code = null } = (await sent.json()) as { code?: string }
  return { isAccepted: sent.ok, code }
}

test("[NT1] the guide's commands set up a new tenant; its answers are the same live, after a reload and after an import, and its form takes effect once", async () => {
  await createTenant()
  expect(await runBlock("/v1/models/fast")).not.toContain(MODEL_KEY)
  const printed = await addToolsAndServers()
  await runBlock('"id": "first"')
  const token = /TOKEN="([^"]+)"/.exec(await readFile(join(FOLDER, "vars"), "utf8"))?.[1] ?? ""
  expect(token).toMatch(/^ey/)
  const client = createClient({ url: cuecard.url, getToken: async () => token })
  cleanups.push(() => client.close())
  const conversation = client.openSession("first")
  // A conversation is connected only while it has a subscriber.
  conversation.subscribe(() => {})
  await expect.poll(() => conversation.getSnapshot().connection, { timeout: 20_000 }).toBe("live")
  await runBlock("/v1/sessions/first/messages")
  const readLive = (id = "q1") => answerTo(conversation.getSnapshot().messages, id)
  await expect.poll(() => isEnded(readLive()), { timeout: 20_000 }).toBe(true)
  expect(readLive()).toMatchObject({ status: "completed" })
  const card = expect.objectContaining({ type: "rich", synthesis: "Your order.", payload: ORDER })
  expect(readLive()?.segments).toEqual(expect.arrayContaining([card]))
  const [order, found] = callsIn(readLive())
  expect([order, found]).toMatchObject([
    { name: "orders", status: "ok" },
    { name: "stock_find", status: "ok", app: expect.stringMatching(/^\/canvas\/documents\//) },
  ])
  for (const { key, body } of modelRequests) expect([key, body.model]).toEqual([`Bearer ${MODEL_KEY}`, "their-model"])

  const you = new StateClient(cuecard, token)
  expect(await loadApp(you, "first", found?.app ?? "")).toContain(" in stock")
  expect(await sendForm(you, "first", "c1", order?.call_id ?? "")).toMatchObject({ isAccepted: true })
  await expect.poll(() => callsIn(readLive("c1"))[0]?.status, { timeout: 20_000 }).toBe("waiting")
  expect(printed).toEqual(["listening"])
  await conversation.approve(callsIn(readLive("c1"))[0]?.call_id ?? "")
  await expect.poll(() => isEnded(readLive("c1")), { timeout: 20_000 }).toBe(true)
  expect(callsIn(readLive("c1"))).toMatchObject([{ name: "stock_reserve", status: "ok" }])
  // The same click must change nothing the second time, and another click must be refused.
  await sendForm(you, "first", "c1", order?.call_id ?? "")
  expect(await sendForm(you, "first", "c2", order?.call_id ?? "")).toEqual({
    isAccepted: false,
    code: "action_refused",
  })

  const live = ["q1", "c1"].map((id) => readLive(id)?.segments)
  const stored = await you.messages("first")
  expect(["q1", "c1"].map((id) => answerTo(stored, id)?.segments)).toEqual(live)
  await runBlock("format=markdown")
  const markdown = await readFile(join(FOLDER, "first.md"), "utf8")
  expect(markdown).toMatch(/Order 1042[\s\S]*\| Item +\| Count[\s\S]*\| Desk lamp/)
  expect(markdown).toContain("12 of Desk lamp")
  await runBlock('"id": "second"')
  const copied = await you.until("second", (messages) => isEnded(answerTo(messages, "c1")))
  expect(["q1", "c1"].map((id) => answerTo(copied, id)?.segments)).toEqual(live)
  expect(await loadApp(you, "second", found?.app ?? "")).toContain(" in stock")
  expect(await sendForm(you, "second", "c3", order?.call_id ?? "")).toEqual({
    isAccepted: false,
    code: "action_refused",
  })
  expect(await you.text("/v1/sessions/second/events?format=markdown")).toContain(
    markdown.slice(markdown.indexOf("Order 1042")),
  )
  expect(printed).toEqual(["listening", "reserved 2 for order 1042"])
})
