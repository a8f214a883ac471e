/** harness.test.ts: tests that `cuecard/testing` starts a server, blocks outside addresses, and cleans up. */

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { afterAll, afterEach, expect, test } from "vitest"
import { readBuild } from "../../testing/built-worker.ts"

const running: Cuecard[] = []

async function startServer(...[options]: Parameters<typeof startCuecard>): Promise<Cuecard> {
  const cuecard = await startCuecard(options)
  running.push(cuecard)
  return cuecard
}

afterEach(async () => {
  for (const cuecard of running.splice(0)) await cuecard.close()
})

async function callServer(cuecard: Cuecard, path: string, body?: string, token = cuecard.token) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(
    `${cuecard.url}${path}`,
    body === undefined ? { headers } : { method: "POST", headers, body },
  )
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: text.startsWith("{") ? JSON.parse(text) : null,
  }
}

interface Shown {
  readonly status: string
  readonly reason: string | null
  readonly content: string
}

/** Sends a message in a new session and waits for the answer. */
async function answerTo(cuecard: Cuecard, content: string): Promise<Shown> {
  const { id } = await cuecard.createSession()
  expect((await callServer(cuecard, `/v1/sessions/${id}/messages`, JSON.stringify({ content }))).status).toBe(202)
  const readLast = async (): Promise<Shown> =>
    (await callServer(cuecard, `/v1/sessions/${id}/conversation/recent`)).json.messages.at(-1)
  await expect.poll(async () => (await readLast()).status, { timeout: 20_000 }).not.toMatch(/queued|running/)
  return await readLast()
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A separate folder for temporary files, so that it contains nothing but what these tests create. */
const OUTER = tmpdir()
const TEMP = mkdtempSync(join(OUTER, "harness-"))
process.env["TMPDIR"] = TEMP
afterAll(() => {
  process.env["TMPDIR"] = OUTER
  rmSync(TEMP, { recursive: true })
})

test("[TE3] the n-th list of a script defines the n-th model call of each turn", async () => {
  const cuecard = await startServer({
    script: [
      [{ type: "tool_call", name: "weather", args: '{"location":"Oslo"}' }, { type: "finish" }],
      [{ type: "text_delta", delta: "So <span id='weather_1'>mild</span>." }, { type: "finish" }],
    ],
  })
  for (let turn = 0; turn < 2; turn += 1) {
    expect(await answerTo(cuecard, "?")).toMatchObject({
      status: "completed",
      content: "So <span id='weather_1'>mild</span>.",
    })
  }
})

test("[TE3] without a script the scripted model answers immediately", async () => {
  const cuecard = await startServer()
  expect(await answerTo(cuecard, "/say hi")).toMatchObject({ status: "completed", content: "hi" })
})

test("[TE4] serves the page with its headers, and the API", async () => {
  const cuecard = await startServer()
  const page = await callServer(cuecard, "/")
  expect(page.status).toBe(200)
  expect(page.text).toContain('<div id="app">')
  expect(page.headers.get("content-security-policy")).toMatch(/default-src 'none'; script-src 'self'; style-src 'self'/)
  expect(page.headers.get("x-content-type-options")).toBe("nosniff")
  expect(page.headers.get("referrer-policy")).toBe("no-referrer")
  expect((await callServer(cuecard, "/healthz")).json).toEqual({ ok: true })
  expect(await callServer(cuecard, "/v1/nothing")).toMatchObject({ status: 404, json: { code: "route_unknown" } })
})

test("[TE4] the page has no inline scripts or styles, as its policy requires", async () => {
  const { text } = await callServer(await startServer(), "/")
  expect(text).not.toMatch(/<script(?![^>]*\bsrc=)[^>]*>/)
  expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=/)
})

test("[TE5] issues tokens for any user, with any lifetime", async () => {
  const cuecard = await startServer()
  const eve = await cuecard.tokenFor({ tenant: "evil", user: "eve" })
  expect(await callServer(cuecard, "/v1/sessions", undefined, eve)).toMatchObject({
    status: 200,
    json: { sessions: [] },
  })
  const late = await cuecard.tokenFor({ expiresIn: -60 })
  expect(await callServer(cuecard, "/v1/sessions", undefined, late)).toMatchObject({
    status: 401,
    json: { code: "token_expired" },
  })
  const { id } = await cuecard.createSession("Trip")
  expect((await callServer(cuecard, "/v1/sessions")).json.sessions).toMatchObject([{ id, title: "Trip" }])
})

test("[TE6] vars override all other settings, and log lines of the Worker are passed to onLog", async () => {
  const lines: string[] = []
  const JWT_SECRET = "another secret, of at least thirty-two bytes"
  const cuecard = await startServer({
    vars: { JWT_SECRET, ALLOWED_ORIGINS: "https://app.example" },
    onLog: (line) => lines.push(line),
  })
  expect((await callServer(cuecard, "/v1/sessions")).status).toBe(200)
  const preflight = {
    method: "OPTIONS",
    headers: { origin: "https://app.example", "access-control-request-method": "GET" },
  }
  expect((await fetch(`${cuecard.url}/v1/sessions`, preflight)).status).toBe(204)
  await answerTo(cuecard, "/say hi")
  await expect.poll(() => lines.map((line) => JSON.parse(line).event)).toContain("turn_end")
})

test("[TE7] only loopback addresses can be reached", async () => {
  const requestUrls: string[] = []
  const upstream = createServer((incoming, answer) => {
    requestUrls.push(String(incoming.url))
    answer.writeHead(500).end()
  })
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve))
  const { port } = upstream.address() as AddressInfo
  const MODEL = { MODEL: "openai", MODEL_NAME: "m", MODEL_API_KEY: "k" }
  const near = await startServer({ vars: { ...MODEL, MODEL_BASE_URL: `http://127.0.0.1:${port}/v1` } })
  expect((await answerTo(near, "hi")).status).toBe("failed")
  expect(requestUrls).not.toEqual([])
  const lines: string[] = []
  const vars = { ...MODEL, MODEL_BASE_URL: "http://model.example/v1" }
  const far = await startServer({ vars, onLog: (line) => lines.push(line) })
  expect(await answerTo(far, "hi")).toMatchObject({ status: "failed", reason: "model_unreachable" })
  expect(lines.join()).toContain("cuecard/testing has no network: model.example")
  upstream.close()
})

test("[TE2] close leaves no process and no folder behind, a second close does nothing, and several servers run in parallel", async () => {
  const servers = await Promise.all([startCuecard(), startCuecard(), startCuecard()])
  expect(new Set(servers.map(({ url }) => url)).size).toBe(3)
  const pids = servers.map((server) => server.pid())
  expect(new Set(pids).size).toBe(3)
  expect(pids.every(isAlive)).toBe(true)
  for (const server of servers) await Promise.all([server.close(), server.close()])
  expect(pids.some(isAlive)).toBe(false)
  expect(readdirSync(TEMP)).toEqual([])
})

test("[TE2] a start that fails leaves nothing behind", async () => {
  const blocker = createServer()
  await new Promise<void>((resolve) => blocker.listen(0, "127.0.0.1", resolve))
  const { port } = blocker.address() as AddressInfo
  await expect(startCuecard({ port })).rejects.toThrow(/in use/i)
  expect(readdirSync(TEMP)).toEqual([])
  blocker.close()
})

test("[TE8] kill sends SIGKILL, and the next server on the same port and folder has everything that was acknowledged", async () => {
  const first = await startServer()
  const pid = first.pid()
  const { id } = await first.createSession("kept")
  const sent = await callServer(first, `/v1/sessions/${id}/messages`, '{"id":"m1","content":"/say hi"}')
  expect(sent.status).toBe(202)
  await first.kill()
  expect(isAlive(pid)).toBe(false)
  const second = await startServer({ persist: first.persist, port: Number(new URL(first.url).port) })
  expect(second.url).toBe(first.url)
  const page = await callServer(second, `/v1/sessions/${id}/conversation/recent`, undefined, first.token)
  expect(page.json.messages[0]).toMatchObject({ id: "m1", content: "/say hi" })
  await second.close()
  await first.close()
  expect(readdirSync(TEMP)).toEqual([])
})

test("[TE8] a folder that was passed in isn't deleted", async () => {
  const persist = mkdtempSync(join(tmpdir(), "kept-"))
  const cuecard = await startServer({ persist })
  await cuecard.createSession()
  await cuecard.close()
  expect(readdirSync(persist)).not.toEqual([])
  rmSync(persist, { recursive: true })
})

test("[TE9] a missing build and a production build are reported with the command that creates the right build", () => {
  const dist = mkdtempSync(join(tmpdir(), "dist-"))
  expect(() => readBuild(dist)).toThrow("npm run build")
  mkdirSync(join(dist, "cuecard"))
  writeFileSync(join(dist, "cuecard/wrangler.json"), JSON.stringify({ vars: { ENVIRONMENT: "production" } }))
  expect(() => readBuild(dist)).toThrow(/production.*npm run build/)
  rmSync(dist, { recursive: true })
})

test("[RT4] over real HTTP, a chunked body is cut off at the size limit, and an incorrect length is refused", async () => {
  const cuecard = await startServer()
  const { id } = await cuecard.createSession()
  const path = `/v1/sessions/${id}/messages`
  const { hostname, port } = new URL(cuecard.url)
  const headers = { authorization: `Bearer ${cuecard.token}`, "transfer-encoding": "chunked" }
  const status = await new Promise((resolve, reject) => {
    const sending = request({ hostname, port, path, method: "POST", headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    sending.on("error", reject)
    for (let n = 0; n < 16; n += 1) sending.write(Buffer.alloc(64 * 1024, "x"))
    sending.end()
  })
  expect(status).toBe(413)
  const lie = [
    `POST ${path} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: Bearer ${cuecard.token}`,
    "content-type: application/json",
    "content-length: 9",
  ]
  const answer = await rawAnswer(hostname, Number(port), `${lie.join("\r\n")}\r\n\r\n{"content":"whole"}`)
  expect(answer).toMatch(/^HTTP\/1.1 400 /)
  expect(answer).toContain("body_malformed")
  expect((await callServer(cuecard, `/v1/sessions/${id}/conversation/recent`)).json.messages).toEqual([])
})

function rawAnswer(host: string, port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ""
    const socket = connect(port, host, () => socket.write(text))
    socket.on("error", reject)
    socket.on("data", (data) => {
      answer += String(data)
      if (answer.includes("}")) socket.destroy()
    })
    socket.on("close", () => resolve(answer))
  })
}

test("[AU6] over real HTTP, a page whose host name resolves to a local server gets no data", async () => {
  const { url, token } = await startServer()
  const { hostname, port } = new URL(url)
  const requestAs = (host: string) =>
    new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${token}` }
      request({ hostname, port, path: "/v1/sessions", headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on("error", reject)
        .end()
    })
  expect(await requestAs("localhost")).toBe(200)
  expect(await requestAs(`rebound.example:${port}`)).toBe(503)
})

test("[TE10] Miniflare is pinned to the tested version", () => {
  const { dependencies } = createRequire(import.meta.url)("../../package.json") as {
    dependencies: Record<string, string>
  }
  expect(dependencies["miniflare"]).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
})
