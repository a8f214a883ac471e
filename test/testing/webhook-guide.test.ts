/**
 * webhook-guide.test.ts: tests that the examples in docs/webhook-tools.md work with a real server: the requests and the
 * service.
 */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingMessage } from "node:http"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { Webhook } from "standardwebhooks"
import { afterAll, beforeAll, expect, test } from "vitest"
import { answerTo, callsIn, clientOf, isEnded, StateClient } from "../state/state-client.ts"

/** The folder for the guide's service. It is inside the repository, so that the service finds its library. */
const FOLDER = "node_modules/.cache/cuecard/webhook-guide"
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor as typeof Function

const cleanups: (() => unknown)[] = []
let cuecard: Cuecard
let root: StateClient
let guide = ""

beforeAll(async () => {
  guide = await readFile("docs/webhook-tools.md", "utf8")
  cuecard = await startCuecard()
  cleanups.push(() => cuecard.close())
  root = new StateClient(cuecard, await cuecard.tokenFor({ user: "root", role: "admin" }))
})

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

const listBlocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map(([, block = ""]) => block)

interface GuideRequest {
  readonly path: string
  readonly body: { readonly [field: string]: unknown }
}

/** Returns the PUT requests in the guide's commands, in order. */
function listRequests(): GuideRequest[] {
  return listBlocks("sh").map((command) => ({
    path: /chat\.example\.com(\S+)/.exec(command)?.[1] ?? "",
    body: JSON.parse(/-d '([\s\S]*)'/.exec(command)?.[1] ?? ""),
  }))
}

const put = async <T = { secret: string }>({ path, body }: GuideRequest, change: object = {}): Promise<T> =>
  await root.send<T>("PUT", path, { ...body, ...change })

/** Runs the guide's service. Returns its URL. */
async function startGuideService(secret: string): Promise<string> {
  await mkdir(FOLDER, { recursive: true })
  cleanups.push(() => rm(FOLDER, { recursive: true, force: true }))
  const [code = ""] = listBlocks("js")
  const listening = `.listen(0, "127.0.0.1", function () { console.log(this.address().port) })`
  await writeFile(`${FOLDER}/service.mjs`, code.replace(".listen(3000)", listening))
  const child = spawn(process.execPath, [`${FOLDER}/service.mjs`], { env: { ...process.env, TOOL_SECRET: secret } })
  cleanups.push(() => child.kill("SIGKILL"))
  const [port] = (await once(child.stdout, "data")) as [Buffer]
  return `http://127.0.0.1:${String(port).trim()}/hooks/order-status`
}

/** Starts a service that responds with what `answer` returns: a body, or null for status 202. */
async function startService(answer: (body: string, request: IncomingMessage) => object | null): Promise<string> {
  const server = createServer(async (request, reply) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    const answered = answer(body, request)
    if (answered === null) reply.writeHead(202).end()
    else reply.end(JSON.stringify(answered))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanups.push(() => server.close())
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`
}

/** Sends a message to one of the guide's agents. Returns the answer once it has ended. */
async function ask(agent: string, content: string) {
  const ada = await clientOf(cuecard, "ada")
  const { id } = await ada.send<{ id: string }>("POST", "/v1/sessions", { agent })
  await ada.send("POST", `/v1/sessions/${id}/messages`, { id: "q1", content })
  const readAnswer = async () => answerTo(await ada.messages(id), "q1")
  await expect.poll(async () => isEnded(await readAnswer()), { timeout: 30_000 }).toBe(true)
  return await readAnswer()
}

test("[TW1] [TW3] the guide's tool, agent and service answer a call", async () => {
  const [tool, agent] = listRequests()
  if (tool === undefined || agent === undefined) throw new Error("the guide has no commands")
  const { secret } = await put(tool, { url: "http://127.0.0.1:9/" })
  await put(tool, { url: await startGuideService(secret) })
  await put(agent)
  const answer = await ask("shop", '/call order_status {"order": "1042"}')
  expect(callsIn(answer)).toMatchObject([{ status: "ok", result: JSON.stringify({ order: "1042", state: "sent" }) }])
})

test("[TW5] the guide's code sends a result later", async () => {
  const [tool, agent] = listRequests()
  if (tool === undefined || agent === undefined) throw new Error("the guide has no commands")
  const later = { path: tool.path.replace("order_status", "late_status"), body: tool.body }
  const { secret } = await put(later, { url: "http://127.0.0.1:9/" })
  const webhook = new Webhook(secret)
  const [, code = ""] = listBlocks("js")
  const send = new AsyncFunction(
    "webhook",
    "call_id",
    "result_path",
    code.replace("https://chat.example.com", cuecard.url),
  )
  const url = await startService((body, request) => {
    webhook.verify(body, request.headers as Record<string, string>)
    const { call_id, result_path } = JSON.parse(body).data
    void send(webhook, call_id, result_path)
    return null
  })
  await put(later, { url })
  await put(agent, { tools: ["late_status"] })
  const answer = await ask("shop", '/call late_status {"order": "1042"}')
  expect(callsIn(answer)).toMatchObject([{ status: "ok", result: JSON.stringify({ order: "1042", state: "sent" }) }])
})

test("[EA6] [EA7] the guide's agent, whose questions a service answers, shows the service's text", async () => {
  const agent = listRequests().at(-1)
  if (agent === undefined) throw new Error("the guide has no commands")
  let webhook: Webhook | null = null
  const url = await startService((body, request) => {
    webhook?.verify(body, request.headers as Record<string, string>)
    return { text: `To “${JSON.parse(body).data.text}”: until six.` }
  })
  webhook = new Webhook((await put(agent, { url })).secret)
  const answer = await ask("desk", "Are you open today?")
  expect(answer).toMatchObject({ status: "completed", content: "To “Are you open today?”: until six." })
})
