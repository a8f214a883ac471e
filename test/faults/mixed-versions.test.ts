/**
 * mixed-versions.test.ts: tests common operations with the Worker of one version and the objects of another, in both
 * directions. Both versions run at once while a deploy splits the traffic.
 */

import { afterEach, describe, expect, test } from "vitest"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { parseServerFrame, type ServerFrame } from "../../shared/protocol/server-frame.ts"
import { readBuild } from "../../testing/built-worker.ts"
import { StateClient } from "../state/state-client.ts"
import { type MixedServer, startMixed } from "../support/mixed-versions.ts"
import { buildRelease, lacksCommit, SAME_CALLS } from "../support/release-build.ts"
import { tokenOf } from "./tenant-client.ts"

let server: MixedServer | null = null
afterEach(async () => {
  await server?.close()
  server = null
})

/** Sends a hello and a message on a socket, and returns the frames up to the end of the answer. */
async function sendAndCollect(url: string, token: string, session: string): Promise<ServerFrame[]> {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/sessions/${session}/socket`, [
    "cuecard.v1",
    `token.${token}`,
  ])
  const frames: ServerFrame[] = []
  const say = (frame: object): void => socket.send(JSON.stringify(frame))
  socket.onopen = () => say({ type: "hello", protocol: PROTOCOL_VERSION, live: true, after: 0 })
  socket.onmessage = ({ data }) => {
    const frame = parseServerFrame(String(data))
    if (frame?.type === "hello") say({ type: "send", id: "by-socket", content: "/say over the socket" })
    if (frame !== null) frames.push(frame)
  }
  const hasEnded = (): boolean => frames.some((one) => one.type === "ops" && one.ops.some(({ op }) => op === "end"))
  await expect.poll(hasEnded, { timeout: 20_000 }).toBe(true)
  socket.close()
  return frames
}

describe.skipIf(lacksCommit(SAME_CALLS))("the Worker of one version with the objects of the other", () => {
  test.each([
    ["a new Worker, old objects", true],
    ["an old Worker, new objects", false],
  ])("[DP9] %s: conversations are created, answered, listed, read, exported and erased", async (_, isNew) => {
    const [now, before] = [readBuild(), buildRelease(SAME_CALLS)]
    server = await startMixed(isNew ? now : before, isNew ? before : now)
    const token = await tokenOf("demo", "ada", "member")
    const ada = new StateClient(server, token)
    await ada.createSession("one", "First")
    const answer = await ada.ask("one", "m1", "What's the weather in London and in Tokyo?")
    expect(answer.segments.filter(({ type }) => type === "rich")).toHaveLength(2)
    expect((await ada.ask("one", "m2", "Draw a chart of apples 3, pears 5")).status).toBe("completed")
    const frames = await sendAndCollect(server.url, token, "one")
    expect(frames.some(({ type }) => type === "error")).toBe(false)
    const { sessions } = await ada.get<{ sessions: { id: string; title: string }[] }>("/v1/sessions")
    expect(sessions).toMatchObject([{ id: "one", title: "First" }])
    expect(await ada.messages("one")).toHaveLength(6)
    expect((await ada.text("/v1/sessions/one/events")).split("\n").length).toBeGreaterThan(10)
    expect((await ada.request("/v1/sessions/one", { method: "DELETE" })).ok).toBe(true)
    expect(await ada.get("/v1/sessions")).toMatchObject({ sessions: [] })
    expect(server.logs.filter((line) => line.includes("_error"))).toEqual([])
  })
})
