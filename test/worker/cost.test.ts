/** cost.test.ts: counts the requests that operations send to real objects, and the rows that they write. */

import { afterEach, describe, expect, test, vi } from "vitest"
import { CLAIMS, connect } from "../support/socket.ts"
import { withCountedObjects } from "./counted-objects.ts"
import { HELLO, roleToken, socketHeaders, tokenOf } from "./http.ts"
import { call, freshSession, script } from "./session-helpers.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

describe("tool calls", () => {
  /** Returns the status with which the call was first shown. */
  async function firstStatus(name: string, args: object): Promise<string | undefined> {
    const id = await freshSession("cost")
    const client = await connect(id)
    client.say({
      type: "send",
      id: "q",
      content: script([{ type: "text_delta", delta: "So: " }, call(name, args)], []),
    })
    await client.untilEnd("q")
    return /"type":"tool".*?"status":"(\w+)"/.exec(client.texts.join("\n"))?.[1]
  }

  test("[CM1] a call to a read-only tool is stored and shown together with its result", async () => {
    expect(await firstStatus("weather", { location: "Oslo" })).toBe("ok")
  })

  test("[CM1] a call to any other tool is stored and shown before it runs", async () => {
    expect(await firstStatus("probe_data", { text: "x" })).toBe("running")
  })
})

test("[CM2] [FT3] a turn calls the directory twice and writes 7 rows there, 3 of them for search, and calls no other object", async () => {
  await withCountedObjects(async ({ fetch, takeCost }) => {
    const token = await tokenOf("cost", "ada")
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const created = await fetch("/v1/sessions", { method: "POST", headers, body: "{}" })
    const { id } = await created.json<{ id: string }>()
    const { webSocket: socket } = await fetch(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })
    if (socket === null) throw new Error("no socket")
    const texts: string[] = []
    socket.addEventListener("message", ({ data }) => void texts.push(String(data)))
    socket.accept()
    socket.send(HELLO)
    await expect.poll(() => texts.at(-1)).toContain('"hello"')
    const isRunning = async (): Promise<boolean> => {
      const listed = await (await fetch("/v1/sessions", { headers })).json<{ sessions: { running: boolean }[] }>()
      return listed.sessions.some(({ running }) => running)
    }
    let turns = 0
    // The first turn also begins a batch of usage and creates the word index.
    for (const rowsWritten of [11, 7]) {
      await takeCost()
      socket.send(JSON.stringify({ type: "send", id: `q${rowsWritten}`, content: "/bench deltas=20 tools=1" }))
      await expect.poll(() => texts.join("\n").split('"op":"end"').length).toBe(++turns + 1)
      let lists = 1
      while (await isRunning()) lists += 1
      const cost = await takeCost()
      expect(cost).toMatchObject({ DIRECTORY: { requests: 2 + lists, rowsWritten }, SESSION: { requests: 0 } })
      expect(Object.keys(cost).sort()).toEqual(["DIRECTORY", "SESSION"])
    }
    socket.close()
  })
})

test("[CM3] a socket that closes before its hello leaves no timer behind", async () => {
  const id = await freshSession("mute")
  const started = vi.spyOn(globalThis, "setTimeout")
  const stopped = vi.spyOn(globalThis, "clearTimeout")
  const client = await connect(id, CLAIMS, null)
  const waits = started.mock.results.map(({ value }) => value)
  client.socket.close(1000)
  await expect.poll(() => stopped.mock.calls.some(([timer]) => waits.includes(timer as never))).toBe(true)
})

test("[CM3] a completed turn with thinking and tool calls leaves no timer behind", async () => {
  const id = await freshSession("timers")
  const client = await connect(id)
  const running = new Set<unknown>()
  const { setTimeout: start, clearTimeout: stop } = globalThis
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number) => {
    const timer = start(() => {
      running.delete(timer)
      run()
    }, ms)
    running.add(timer)
    return timer
  }) as typeof setTimeout)
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    running.delete(timer)
    stop(timer)
  })
  const events = [
    { type: "thinking_delta", delta: "Hm." },
    { type: "text_delta", delta: "So: " },
  ]
  const steps = [[...events, call("weather", { location: "Oslo" })], [...events, call("probe_data", { text: "x" })], []]
  client.say({ type: "send", id: "q", content: script(...steps) })
  await client.untilTrue(() => running.size > 0)
  const { status } = await client.untilEnd("q")
  vi.restoreAllMocks()
  expect(status).toBe("completed")
  await expect.poll(() => running.size).toBe(0)
})

test("[CM4] one tenant's sockets request the agent only once; a change to the agent takes effect at once", async () => {
  await withCountedObjects(async ({ fetch, takeCost }) => {
    const token = await roleToken("cost2", "ada", "admin")
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
    const openSocketOf = async (): Promise<number> => {
      const created = await fetch("/v1/sessions", { method: "POST", headers, body: "{}" })
      const { id } = await created.json<{ id: string }>()
      const { webSocket } = await fetch(`/v1/sessions/${id}/socket`, { headers: socketHeaders(token) })
      webSocket?.accept()
      webSocket?.close()
      return (await takeCost()).TENANT?.requests ?? 0
    }
    expect(await openSocketOf()).toBeGreaterThan(0)
    expect(await openSocketOf()).toBe(0)
    await fetch("/v1/agents/general", {
      method: "PUT",
      headers,
      body: JSON.stringify({ description: "d", prompt: "New." }),
    })
    await takeCost()
    expect(await openSocketOf()).toBe(1)
  })
})
