/** chat.test.js: a test as another project would write it, using only the package entries and the wire protocol. */

import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { clean, parseClientFrame } from "cuecard"
import { createClient } from "cuecard/client"
import { startCuecard } from "cuecard/testing"

/** @type {import("cuecard/testing").Cuecard} */
let cuecard
before(async () => {
  cuecard = await startCuecard({
    script: [
      [
        { type: "text_delta", delta: "Let me look. " },
        { type: "tool_call", name: "weather", args: '{"location":"Oslo"}' },
        { type: "finish" },
      ],
      [{ type: "text_delta", delta: "Here: <span id='weather_1'>Mild.</span>" }, { type: "finish" }],
    ],
  })
})
after(() => cuecard.close())

const call = (path, init = {}) =>
  fetch(`${cuecard.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${cuecard.token}`, "content-type": "application/json" },
  })

test("a message is sent over HTTP, and its answer is the same on the socket and in history", async () => {
  const { id } = await cuecard.createSession()
  const socket = new WebSocket(`${cuecard.url.replace("http", "ws")}/v1/sessions/${id}/socket`, [
    "cuecard.v1",
    `token.${cuecard.token}`,
  ])
  const frames = []
  const ended = new Promise((resolve, reject) => {
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", protocol: 4, live: false }))
    socket.onerror = () => reject(new Error("the socket failed"))
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data)
      frames.push(frame)
      if (frame.type === "hello") {
        const body = JSON.stringify({ id: "q1", content: "How is Oslo?" })
        call(`/v1/sessions/${id}/messages`, { method: "POST", body }).then(
          (said) => assert.equal(said.status, 202),
          reject,
        )
      }
      if (frame.role === "assistant" && frame.status === "completed") resolve(frame)
    }
  })
  const answer = await ended
  socket.close()
  const [, , card] = answer.segments
  assert.deepEqual(
    answer.segments.map(({ type }) => type),
    ["text", "tool", "text", "rich"].slice(0, answer.segments.length),
  )
  assert.equal(card.content, "Here:")
  assert.equal(answer.segments[3].payload.location, "Oslo, NO")
  assert.equal(answer.segments[3].synthesis, "Mild.")

  const page = await (await call(`/v1/sessions/${id}/conversation/recent`)).json()
  const { type: _, seq: __, prev: ___, ...shown } = answer
  assert.deepEqual(page.messages[1], shown)
})

test("the client shows the same answer", async () => {
  const client = createClient({ url: cuecard.url, getToken: async () => cuecard.token })
  const { id } = await client.sessions.create()
  const conversation = client.openSession(id)
  await conversation.send("How is Oslo?")
  const { messages } = await conversation.whenIdle()
  client.close()
  assert.deepEqual(
    messages[1].segments.map(({ type }) => type),
    ["text", "tool", "text", "rich"],
  )
})

test("another user's token gives no access", async () => {
  const { id } = await cuecard.createSession()
  const token = await cuecard.tokenFor({ user: "eve" })
  const page = await fetch(`${cuecard.url}/v1/sessions/${id}/conversation/recent`, {
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(page.status, 404)
})

test("the pure functions run without a server", () => {
  assert.equal(clean("<script>x</script>Hi"), "Hi")
  assert.equal(parseClientFrame('{"type":"ping"}').ok, true)
})
