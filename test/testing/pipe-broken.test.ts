/** pipe-broken.test.ts: tests the pipe with servers, programs and users that misbehave. */

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, test } from "vitest"

const POLL = { timeout: 15_000, interval: 50 }
/** A token with only a scope, because nothing else in it is read here. */
const TOKEN = `x.${Buffer.from(JSON.stringify({ scope: "external" })).toString("base64url")}.x`

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

interface Server {
  readonly url: string
  /** The paths and bodies of the requests received so far. */
  readonly requests: { url: string; body: string }[]
}

/** Starts a server that calls a handler for each request as soon as the request's headers have arrived. */
async function serveRequests(
  answer: (request: IncomingMessage, response: ServerResponse, n: number) => void,
): Promise<Server> {
  const requests: { url: string; body: string }[] = []
  const server = createServer((request, response) => {
    const seen = { url: request.url ?? "", body: "" }
    requests.push(seen)
    request.on("error", () => {})
    request.on("data", (chunk) => {
      if (seen.body.length < 100_000) seen.body += String(chunk)
    })
    answer(request, response, requests.length)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" })
  response.end(JSON.stringify(body))
}

interface Piping {
  readonly child: ChildProcess
  readonly output: () => string
  readonly exit: Promise<number | null>
}

function startPipe(url: string, session: string, ...args: string[]): Piping {
  const child = spawn(process.execPath, ["scripts/pipe/pipe.ts", "--session", session, "--url", url, ...args], {
    env: { ...process.env, CUECARD_TOKEN: TOKEN },
  })
  let output = ""
  child.stderr?.on("data", (chunk) => {
    output += String(chunk)
  })
  child.stdin?.on("error", () => {})
  cleanups.push(() => child.kill("SIGKILL"))
  return { child, output: () => output, exit: new Promise((done) => child.on("exit", (code) => done(code))) }
}

/** Returns the command of a program that runs the JavaScript `code`. */
function createProgramArgs(code: string): string[] {
  return ["--format", "codex", "--", process.execPath, "-e", code]
}

const LINES = 20
/** Returns the code of a program that writes LINES lines, reports each line to the URL, and then does nothing. */
const wordsFor = (url: string): string => `
for (let i = 0; i < ${LINES}; i++) {
  console.log(JSON.stringify({ type: "item.completed", item: { id: "i" + i, type: "agent_message", text: "word" } }))
  await fetch("${url}/written")
}
setInterval(() => {}, 1000)`

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("a busy session", () => {
  test("[PI6] is polled at intervals with an empty body, however many lines the program writes; Ctrl-C stops at once", async () => {
    const server = await serveRequests((request, response) => {
      request.resume().on("end", () => sendJson(response, 409, { code: "turn_running" }))
    })
    const listPolls = () => server.requests.filter(({ url }) => url !== "/written")
    const piping = startPipe(server.url, "s1", ...createProgramArgs(wordsFor(server.url)))
    await expect.poll(() => server.requests.length - listPolls().length, POLL).toBe(LINES)
    await expect.poll(() => listPolls().length, POLL).toBeGreaterThan(0)
    // There must be far fewer requests than lines.
    expect(listPolls().length).toBeLessThan(LINES / 2)
    piping.child.kill("SIGINT")
    expect(await piping.exit).toBe(130)
    expect(listPolls().map(({ body }) => body.trim())).toEqual(listPolls().map(() => ""))
  })
})

describe("an answer that ends early", () => {
  test("[PI5] while megabytes are waiting to be sent is reported, and the pipe doesn't hang", async () => {
    const server = await serveRequests((request, response) => {
      request.once("data", (chunk) => {
        if (String(chunk).trim() === "") sendJson(response, 200, {})
        else sendJson(response, 409, { code: "turn_ended", n: 0, status: "cancelled", reason: null })
      })
    })
    const piping = startPipe(server.url, "s1", "--stdin", "--format", "codex")
    const line = `${JSON.stringify({ type: "item.completed", item: { type: "agent_message", text: "x".repeat(900) } })}\n`
    // Write more than the buffer holds, and leave standard input open.
    piping.child.stdin?.write(line.repeat(20_000))
    expect(await piping.exit, piping.output()).toBe(1)
    expect(piping.output()).toContain("the answer is cancelled")
  })

  test("[PI9] while a record is being sent is still reported, even if the connection closes", async () => {
    const server = await serveRequests((request, response, n) => {
      const ended = { code: "turn_ended", n: 0, status: "failed", reason: "answer_too_long" }
      if (n === 1) return void request.resume().on("end", () => sendJson(response, 200, {}))
      // Don't read the body, so that later writes find a closed connection.
      if (n > 2) return void request.resume().on("end", () => sendJson(response, 409, ended))
      request.pause()
      sendJson(response, 409, ended)
      setTimeout(() => request.socket.resetAndDestroy(), 10)
    })
    const big = `console.log(JSON.stringify({ type: "item.completed", item: { type: "agent_message", text: "x".repeat(6e6) } }))
setInterval(() => {}, 1000)`
    const piping = startPipe(server.url, "s1", ...createProgramArgs(big))
    expect(await piping.exit, piping.output()).not.toBe(0)
    expect(piping.output()).toContain("answer_too_long")
    expect(server.requests.length).toBeLessThanOrEqual(3)
  })
})

/** Starts a server that accepts everything and responds once the body has ended. */
function startAcceptingServer(): Promise<Server> {
  return serveRequests((request, response) => {
    let body = ""
    request.on("data", (chunk) => {
      body += String(chunk)
    })
    request.on("end", () => {
      const lines = body.split("\n").filter((line) => line !== "")
      const records = lines.map((line) => JSON.parse(line) as { n: number; type: string; status?: string })
      const last = records.at(-1)
      if (last === undefined) return sendJson(response, 200, {})
      const status = last.type === "output_cancelled" ? "cancelled" : (last.status ?? "running")
      sendJson(response, 200, { n: last.n, status, reason: null })
    })
  })
}

describe("the program", () => {
  test("[PI10] doesn't get the token", async () => {
    const server = await startAcceptingServer()
    const programCode = `console.log(JSON.stringify({ type: "item.completed", item: {
      type: "agent_message", text: "token: " + process.env.CUECARD_TOKEN } }))`
    expect(await startPipe(server.url, "s1", ...createProgramArgs(programCode)).exit).not.toBe(null)
    expect(server.requests.map(({ body }) => body).join("")).toContain("token: undefined")
  })

  test.each([
    ["when the terminal is closed", ["SIGHUP"]],
    ["when Ctrl-C is pressed twice, though it ignores signals", ["SIGINT", "SIGINT"]],
  ] as const)("[PI5] leaves nothing behind %s", async (_when, signals) => {
    const server = await startAcceptingServer()
    const stubborn = `for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => {})
console.log(JSON.stringify({ type: "item.completed", item: { type: "agent_message", text: "pid " + process.pid } }))
setInterval(() => {}, 1000)`
    const piping = startPipe(server.url, "s1", ...createProgramArgs(stubborn))
    const pidIn = () => Number(/pid (\d+)/.exec(server.requests.map(({ body }) => body).join(""))?.[1] ?? 0)
    await expect.poll(pidIn, POLL).toBeGreaterThan(0)
    for (const [n, signal] of signals.entries()) {
      // Wait until the first signal has made the pipe cancel the answer, because only then does the pipe count the
      // second signal.
      if (n > 0) await expect.poll(() => server.requests.at(-1)?.body, POLL).toContain("output_cancelled")
      piping.child.kill(signal)
    }
    expect(await piping.exit).toBe(130)
    await expect.poll(() => isAlive(pidIn()), POLL).toBe(false)
  })

  test("[PI3] may write a line of any length; a line that is too long is counted, and the next line is read", async () => {
    const server = await startAcceptingServer()
    const long = `const piece = "x".repeat(1e6)
process.stdout.write('{"type":"item.completed","item":"')
let i = 0
const go = () => i++ < 40 ? process.stdout.write(piece, go) : process.stdout.write('"}\\n', () => {
  console.log(JSON.stringify({ type: "item.completed", item: { type: "agent_message", text: "after" } })) })
go()`
    const piping = startPipe(server.url, "s1", ...createProgramArgs(long))
    expect(await piping.exit, piping.output()).not.toBe(null)
    expect(piping.output()).toContain("could not be read: 1")
    expect(server.requests.map(({ body }) => body).join("")).toContain("after")
  })
})

describe("the pipe's arguments", () => {
  test("[PI4] the server may be behind a path, and a session's id is escaped", async () => {
    const server = await startAcceptingServer()
    const end = 'console.log(JSON.stringify({ type: "turn.completed" }))'
    expect(await startPipe(`${server.url}/chat`, "a/../b?c", ...createProgramArgs(end)).exit).toBe(0)
    expect(server.requests[0]?.url).toMatch(/^\/chat\/external\/sessions\/a%2F\.\.%2Fb%3Fc\/events\?responseId=/)
  })

  test.each([
    ["an unknown option", ["--sesion", "x"]],
    ["an invalid URL", ["--url", "nowhere", "--stdin", "--format", "pi"]],
  ])("[PI6] %s prints the usage", async (_what, args) => {
    const piping = startPipe("http://127.0.0.1:9", "s1", ...args)
    piping.child.stdin?.end()
    expect(await piping.exit).toBe(1)
    expect(piping.output()).toContain("npm run pipe -- --session ID")
    expect(piping.output()).not.toContain("    at ")
  })
})
