/**
 * evict.test.ts: tests that `evict` of cuecard/testing removes an object from memory, but keeps the object's sockets
 * and messages.
 */

import { afterEach, expect, test } from "vitest"
import { parseServerFrame, type ServerFrame } from "../../shared/protocol/server-frame.ts"
import { type Cuecard, startCuecard } from "../support/checked-cuecard.ts"

let cuecard: Cuecard | null = null
afterEach(() => cuecard?.close())

const WAIT = { timeout: 10_000 }

/** Opens a socket, sends a hello and collects the frames that arrive. */
async function openSocket(
  server: Cuecard,
  session: string,
  hello: { readonly epoch?: string; readonly after: number },
) {
  const url = `${server.url.replace("http", "ws")}/v1/sessions/${session}/socket`
  const socket = new WebSocket(url, ["cuecard.v1", `token.${server.token}`])
  const frames: ServerFrame[] = []
  socket.onmessage = ({ data }) => {
    const frame = parseServerFrame(String(data))
    if (frame !== null) frames.push(frame)
  }
  await new Promise((resolve) => {
    socket.onopen = resolve
  })
  const say = (frame: object): void => socket.send(JSON.stringify(frame))
  say({ type: "hello", protocol: 4, live: true, ...hello })
  await expect.poll(() => frames.some(({ type }) => type === "hello"), WAIT).toBe(true)
  const hasEnd = (): boolean => frames.some((frame) => frame.type === "ops" && frame.ops.some(({ op }) => op === "end"))
  return { frames, say, untilEnd: () => expect.poll(hasEnd, WAIT).toBe(true), close: () => socket.close() }
}

/** Returns the types of the numbered frames that a socket receives when it resumes from the first seq. */
async function listResumedFrames(server: Cuecard, session: string, epoch: string, last: number): Promise<string[]> {
  const late = await openSocket(server, session, { epoch, after: 1 })
  const seqs = (): number[] => late.frames.flatMap((frame) => ("prev" in frame ? [frame.seq] : []))
  await expect.poll(() => Math.max(0, ...seqs()), WAIT).toBe(last)
  late.close()
  return late.frames.flatMap((frame) => ("prev" in frame ? [frame.type] : []))
}

test("[TE11] an evicted session continues on its open socket; state that was only in memory is lost", async () => {
  const server = await startCuecard()
  cuecard = server
  const { id } = await server.createSession()
  const { frames, say, untilEnd, close } = await openSocket(server, id, { after: 0 })
  say({ type: "send", id: "m1", content: "/say before" })
  await untilEnd()
  const [hello] = frames.flatMap((frame) => (frame.type === "hello" ? [frame] : []))
  const epoch = hello?.epoch ?? ""
  const last = Math.max(...frames.flatMap((frame) => ("prev" in frame ? [frame.seq] : [])))
  // The frames are replayed from memory, which contains every single change.
  expect(await listResumedFrames(server, id, epoch, last)).toContain("ops")
  await server.evict(id)
  // A new object answers. It reads the rows, which contain only whole messages.
  expect(await listResumedFrames(server, id, epoch, last)).toEqual(["message"])
  frames.length = 0
  say({ type: "send", id: "m2", content: "/say after" })
  await untilEnd()
  // The new object continues from the last seq that this socket had received.
  const next = { type: "message", id: "m2", seq: last + 1, prev: last }
  expect(frames.find((frame) => frame.type === "message" && frame.id === "m2")).toMatchObject(next)
  close()
})
