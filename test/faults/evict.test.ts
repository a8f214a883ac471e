/** evict.test.ts: `evict` of cuecard/testing: the object goes, its sockets and all that was said stay. */

import { afterEach, expect, test } from "vitest"
import { type Cuecard, startCuecard } from "../../testing/index.ts"

let cuecard: Cuecard | null = null
afterEach(() => cuecard?.close())

test("[TE11] an evicted session goes on, on the socket that it had", async () => {
  const logged: string[] = []
  const server = await startCuecard({ onLog: (line) => logged.push(line) })
  cuecard = server
  const { id } = await server.createSession()
  const url = `${server.url.replace("http", "ws")}/v1/sessions/${id}/socket`
  const socket = new WebSocket(url, ["cuecard.v1", `token.${server.token}`])
  const texts: string[] = []
  socket.onmessage = ({ data }) => texts.push(String(data))
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  const has = (words: string) => expect.poll(() => texts.some((text) => text.includes(words)), { timeout: 10_000 })
  socket.send(JSON.stringify({ type: "hello", protocol: 2, after: 0, live: true }))
  socket.send(JSON.stringify({ type: "send", id: "m1", content: "/say before" }))
  await has('"op":"end"').toBe(true)
  await server.evict(id)
  texts.length = 0
  socket.send(JSON.stringify({ type: "send", id: "m2", content: "/say after" }))
  await has('"op":"end"').toBe(true)
  // The object that woke knew what this socket had been sent.
  expect(texts.map((text) => JSON.parse(text)).find(({ id: own }) => own === "m2")).toMatchObject({ seq: 5, prev: 4 })
  socket.close()
})
