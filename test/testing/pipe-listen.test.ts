/**
 * pipe-listen.test.ts: tests that `npm run pipe -- --listen` answers the questions to an external agent, with a real
 * server.
 */

import { type ChildProcess, spawn } from "node:child_process"
import { afterEach, describe, expect, onTestFailed, test } from "vitest"
import { type Cuecard, startCuecard } from "cuecard/testing"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"

const POLL = { timeout: 45_000, interval: 100 }
/** A program that prints events of Claude Code with an answer that contains the question and the session. */
const ECHO = `
  const question = require("node:fs").readFileSync(0, "utf8")
  const text = question + " in " + process.env.CUECARD_SESSION + (process.env.CUECARD_TOKEN ?? "")
  const print = (event) => console.log(JSON.stringify(event))
  print({ type: "assistant", message: { id: "m1", content: [{ type: "text", text }] } })
  print({ type: "result", subtype: "success", is_error: false, result: text })`

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

interface Listening {
  readonly child: ChildProcess
  readonly output: () => string
  readonly exit: Promise<number | null>
}

function startListener(cuecard: Cuecard, ...args: string[]): Listening {
  const child = spawn(process.execPath, ["scripts/pipe/pipe.ts", "--url", cuecard.url, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  })
  let output = ""
  child.stderr.on("data", (chunk) => {
    output += String(chunk)
  })
  onTestFailed(() => console.error(`pipe ${args.join(" ")}: exit ${child.exitCode}\n${output}`))
  cleanups.push(async () => child.kill("SIGKILL"))
  return { child, output: () => output, exit: new Promise((done) => child.on("exit", (code) => done(code))) }
}

async function callAs(cuecard: Cuecard, token: string, method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(`${cuecard.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.status, path).toBeLessThan(300)
  return (await response.json()) as Record<string, never>
}

async function startServer(): Promise<Cuecard> {
  const cuecard = await startCuecard()
  cleanups.push(() => cuecard.close())
  const agent = { description: "Reads the code.", prompt: "-", answered_by: "program" }
  const { token } = await callAs(cuecard, "", "POST", "/v1/dev/token", { role: "owner" })
  await callAs(cuecard, token ?? "", "PUT", "/v1/agents/coder", agent)
  return cuecard
}

async function ask(cuecard: Cuecard, content: string): Promise<string> {
  const { id } = await callAs(cuecard, cuecard.token, "POST", "/v1/sessions", { agent: "coder" })
  await callAs(cuecard, cuecard.token, "POST", `/v1/sessions/${id}/messages`, { content })
  return id ?? ""
}

async function answerIn(cuecard: Cuecard, session: string): Promise<WireMessage | undefined> {
  const { messages } = await callAs(cuecard, cuecard.token, "GET", `/v1/sessions/${session}/conversation/recent`)
  return (messages as readonly WireMessage[] | undefined)?.at(-1)
}

describe("a listening pipe", () => {
  test("[PI13] runs its program for each question, and passes the question as standard input", async () => {
    const cuecard = await startServer()
    const early = await ask(cuecard, "Early $& question")
    const program = ["--format", "claude", "--", process.execPath, "-e", ECHO]
    const listening = startListener(cuecard, "--listen", "coder", ...program)
    await expect.poll(async () => (await answerIn(cuecard, early))?.status, POLL).toBe("completed")
    const late = await ask(cuecard, "--help; rm -rf")
    await expect.poll(async () => (await answerIn(cuecard, late))?.status, POLL).toBe("completed")
    expect((await answerIn(cuecard, early))?.content).toBe(`Early $& question in ${early}`)
    expect((await answerIn(cuecard, late))?.content).toBe(`--help; rm -rf in ${late}`)
    listening.child.kill("SIGINT")
    expect(await listening.exit).toBe(130)
  })

  test("[PI13] if the program can't be started, the answer fails", async () => {
    const cuecard = await startServer()
    startListener(cuecard, "--listen", "coder", "--format", "claude", "--", "no-such-program")
    const unanswered = await ask(cuecard, "Is anybody there?")
    await expect.poll(async () => (await answerIn(cuecard, unanswered))?.status, POLL).toBe("failed")
  })

  test("[PI13] an agent that no program answers, and a token without permission, are refused", async () => {
    const cuecard = await startServer()
    const program = ["--format", "claude", "--", process.execPath, "-e", ECHO]
    const unknown = startListener(cuecard, "--listen", "general", ...program)
    expect(await unknown.exit).toBe(1)
    expect(unknown.output()).toContain("agent_unknown")
    const member = startListener(cuecard, "--listen", "coder", "--token", cuecard.token, ...program)
    expect(await member.exit).toBe(1)
    expect(member.output()).toContain("scope_denied")
  })
})
