/** session-socket.test.ts: the page's side of the protocol, against a fake server. */

import { describe, expect, test } from "vitest"
import { retryDelayMs } from "../../client/net/retry-delay.ts"
import { SessionSocket } from "../../client/net/session-socket.ts"
import { DEAD_SOCKET_MS, PING_MS, PROTOCOL_VERSION, SEEN_EVERY_FRAMES } from "../../shared/limits.ts"
import {
  createClock,
  createServer,
  depsOf,
  hello,
  createRecordingHandlers,
  messageFrame,
  ops,
  START,
  settle,
  wireMessage,
} from "./fake-server.ts"

async function openSocket(onFrame?: () => void) {
  const clock = createClock()
  const server = createServer()
  const handlers = createRecordingHandlers(onFrame)
  const deps = depsOf(server, clock)
  const socket = new SessionSocket(deps, handlers)
  socket.resumeFrom(START)
  await settle()
  server.last().events.onOpen()
  return { clock, server, handlers, received: handlers.received, deps, socket }
}

async function openLiveSocket(onFrame?: () => void) {
  const all = await openSocket(onFrame)
  all.server.last().say(hello())
  return all
}

describe("hello", () => {
  test("[SO1] the token is sent as a subprotocol, and hello contains epoch and seq", async () => {
    const { server, received } = await openSocket()
    expect(server.last().protocols).toEqual(["cuecard.v1", "token.jwt"])
    expect(server.last().sent).toEqual([
      { type: "hello", protocol: PROTOCOL_VERSION, epoch: "e1", after: 10, live: true },
    ])
    expect(received.liveCount).toBe(0)
    server.last().say(hello())
    expect(received.liveCount).toBe(1)
    expect(received.links).toEqual(["connecting", "live"])
  })

  test("[SO4] after an unrequested hello with another epoch, the newest history is loaded again", async () => {
    const { server, received, socket } = await openLiveSocket()
    server.last().say(hello(12, "e2"))
    expect(received.resets).toEqual(["epoch"])
    expect(socket.send({ type: "send", id: "a", content: "x" })).toBe(false)
    server.last().say(ops(13, 12, "m", []))
    expect(received.frames).toEqual([])
    socket.resumeFrom({ epoch: "e2", seq: 12 })
    server.last().say(hello(12, "e2"))
    expect(received.liveCount).toBe(2)
    expect(server.sockets).toHaveLength(1)
  })

  test("[SO4] if the epoch has changed or the server is behind the client, the newest history is loaded again", async () => {
    const other = await openSocket()
    other.server.last().say(hello(10, "e2"))
    expect(other.received.resets).toEqual(["epoch"])
    const behind = await openSocket()
    behind.server.last().say(hello(3))
    expect(behind.received.resets).toEqual(["epoch"])
    const refused = await openSocket()
    refused.server.last().say({ type: "error", code: "frame_invalid", text: "after" })
    expect(refused.received.resets).toEqual(["epoch"])
    refused.socket.resumeFrom({ epoch: "e2", seq: 4 })
    expect(refused.server.last().sent.at(-1)).toMatchObject({ type: "hello", epoch: "e2", after: 4 })
    expect(refused.server.sockets).toHaveLength(1)
  })
})

describe("numbered frames", () => {
  test("[SO2] a frame with a seq at or below the last is dropped", async () => {
    const { server, received } = await openLiveSocket()
    server.last().say(ops(11, 10, "m", []))
    server.last().say(ops(11, 10, "m", []))
    server.last().say(ops(9, 8, "m", []))
    expect(received.frames.map(({ seq }) => seq)).toEqual([11])
    expect(server.last().sent).toHaveLength(1)
  })

  test("[SO3] after a gap, hello is sent again from the last seq, and frames before the response are dropped", async () => {
    const { server, received } = await openLiveSocket()
    server.last().say(ops(11, 10, "m", []))
    server.last().say(ops(14, 13, "m", []))
    expect(server.last().sent.at(-1)).toMatchObject({ type: "hello", after: 11 })
    server.last().say(ops(15, 14, "m", []))
    server.last().say(hello(15))
    for (const seq of [12, 13, 14, 15]) server.last().say(ops(seq, seq - 1, "m", []))
    expect(received.frames.map(({ seq }) => seq)).toEqual([11, 12, 13, 14, 15])
    expect(received.resets).toEqual([])
  })

  test("[SO3] after repeated gaps without progress, the newest history is loaded again", async () => {
    const { server, received } = await openLiveSocket()
    for (let i = 0; i < 4; i++) {
      server.last().say(ops(20, 19, "m", []))
      server.last().say(hello(20))
    }
    expect(received.resets).toEqual(["step"])
  })

  test("[SO4] if ops don't fit, the newest history is loaded again", async () => {
    const { server, received } = await openLiveSocket(() => {
      throw new RangeError("text at 5 of 4")
    })
    server.last().say(ops(11, 10, "m", []))
    expect(received.resets).toEqual(["step"])
  })

  test("[SO2] a fragmented message is one frame, and counts only once the last fragment has arrived", async () => {
    const { server, received, socket } = await openLiveSocket()
    const header = { ...messageFrame(11, 10, wireMessage("m")), pieces: 2 }
    server.last().say(header)
    server.last().say({
      ...ops(11, 10, "m", [{ op: "open", at: 0, segment: { type: "text", content: "a" } }]),
      piece: 1,
      pieces: 2,
    })
    expect(received.frames).toEqual([])
    expect(socket.seq).toBe(10)
    server.last().say({ ...ops(11, 10, "m", [{ op: "text", at: 0, offset: 1, text: "b" }]), piece: 2, pieces: 2 })
    expect(received.frames).toMatchObject([{ type: "message", id: "m", segments: [{ type: "text", content: "ab" }] }])
    expect(socket.seq).toBe(11)
  })

  test("[SO2] fragmented ops are one frame", async () => {
    const { server, received } = await openLiveSocket()
    const createPiece = (at: number) => ({ ...ops(11, 10, "m", [{ op: "cut", to: at }]), piece: at, pieces: 3 })
    for (const at of [1, 2, 3]) server.last().say(createPiece(at))
    expect(received.frames).toMatchObject([{ type: "ops", ops: [{ to: 1 }, { to: 2 }, { to: 3 }] }])
    server.last().say(ops(12, 11, "m", []))
    expect(received.frames).toHaveLength(2)
  })

  test("[SO8] seen is sent every SEEN_EVERY_FRAMES frames", async () => {
    const { server } = await openLiveSocket()
    for (let seq = 11; seq <= 10 + SEEN_EVERY_FRAMES * 2; seq++) server.last().say(ops(seq, seq - 1, "m", []))
    expect(server.last().sent.filter(({ type }) => type === "seen")).toEqual([
      { type: "seen", seq: 10 + SEEN_EVERY_FRAMES },
      { type: "seen", seq: 10 + SEEN_EVERY_FRAMES * 2 },
    ])
  })
})

describe("losing and regaining the connection", () => {
  test("[SO5] delays grow up to ten seconds, and start over after a hello", async () => {
    expect([1, 2, 3, 6, 20].map((failures) => retryDelayMs(failures, 1))).toEqual([300, 600, 1200, 9600, 10_000])
    expect(retryDelayMs(1, 0)).toBe(150)
    const { clock, server, received } = await openLiveSocket()
    server.last().events.onClose(1006)
    expect(received.links.at(-1)).toBe("waiting")
    clock.pass(299)
    await settle()
    expect(server.sockets).toHaveLength(1)
    clock.pass(1)
    await settle()
    expect(server.sockets).toHaveLength(2)
    server.last().events.onClose(1006)
    clock.pass(600)
    await settle()
    expect(server.sockets).toHaveLength(3)
    server.last().events.onOpen()
    server.last().say(hello())
    clock.pass(5_000)
    server.last().events.onClose(1006)
    clock.pass(300)
    await settle()
    expect(server.sockets).toHaveLength(4)
  })

  test("[SO5] a server that repeatedly answers hello and then fails isn't flooded with requests", async () => {
    for (const code of [1011, 4401, 4408]) {
      const { clock, server } = await openLiveSocket()
      for (let i = 0; i < 40; i++) {
        server.last().events.onClose(code)
        clock.pass(500)
        await settle()
        server.last().events.onOpen()
        server.last().say(hello())
      }
      expect(server.sockets.length).toBeLessThan(12)
    }
  })

  test("[SO5] when the device is online again or the page is visible again, the page retries at once", async () => {
    const { server, socket } = await openLiveSocket()
    server.last().events.onClose(1006)
    socket.checkConnection()
    await settle()
    expect(server.sockets).toHaveLength(2)
  })

  test("[SO9] the page sends pings, and abandons a socket that doesn't respond", async () => {
    const { clock, server, received } = await openLiveSocket()
    clock.pass(PING_MS)
    expect(server.last().sent.at(-1)).toEqual({ type: "ping" })
    server.last().say({ type: "pong" })
    clock.pass(DEAD_SOCKET_MS - PING_MS)
    expect(received.links.at(-1)).toBe("live")
    clock.pass(PING_MS * 2)
    await settle()
    expect(received.links).toContain("waiting")
    expect(server.sockets.length).toBeGreaterThan(1)
    expect(received.frames).toEqual([])
  })

  test("[SO9] an unanswered send abandons the socket early, and an unanswered check of the connection after three seconds", async () => {
    const { clock, server, received, socket } = await openLiveSocket()
    clock.pass(1_000)
    socket.send({ type: "send", id: "a", content: "x" })
    clock.pass(7_999)
    expect(received.links.at(-1)).toBe("live")
    clock.pass(100)
    expect(received.links.at(-1)).toBe("waiting")
    socket.checkConnection()
    await settle()
    server.last().events.onOpen()
    server.last().say(hello())
    clock.pass(1_000)
    socket.send({ type: "send", id: "a", content: "x" })
    server.last().say({ type: "ack", id: "a", seq: 11 })
    clock.pass(10_000)
    expect(received.links.at(-1)).toBe("live")
    // Back online, or visible again.
    socket.checkConnection()
    clock.pass(2_999)
    expect(received.links.at(-1)).toBe("live")
    clock.pass(1)
    expect(received.links.at(-1)).toBe("waiting")
  })

  test("[SO9] a socket that dies right after a response is detected within DEAD_SOCKET_MS", async () => {
    const { clock, server, received } = await openLiveSocket()
    clock.pass(PING_MS)
    server.last().say({ type: "pong" })
    clock.pass(DEAD_SOCKET_MS - 1)
    expect(received.links.at(-1)).toBe("live")
    clock.pass(1)
    expect(received.links.at(-1)).toBe("waiting")
  })

  test("[SO9] an unanswered `seen` doesn't abandon the socket", async () => {
    const { clock, server, received } = await openLiveSocket()
    for (let seq = 11; seq <= 10 + SEEN_EVERY_FRAMES; seq++) server.last().say(ops(seq, seq - 1, "m", []))
    expect(server.last().sent.at(-1)?.type).toBe("seen")
    clock.pass(PING_MS - 1)
    expect(received.links.at(-1)).toBe("live")
  })

  test("[SO9] the wait for a response allows for the time that a large message takes on a slow connection", async () => {
    const { clock, received, socket } = await openLiveSocket()
    socket.send({ type: "send", id: "a", content: "x".repeat(32_000) })
    clock.pass(15_000)
    expect(received.links.at(-1)).toBe("live")
    clock.pass(2_000)
    expect(received.links).toContain("waiting")
  })

  test("[SO9] a socket that only receives is abandoned too", async () => {
    const { clock, server, received } = await openLiveSocket()
    for (let seq = 11; seq <= 90; seq++) {
      clock.pass(1_000)
      if (server.sockets.length === 1) server.last().say(ops(seq, seq - 1, "m", []))
      await settle()
    }
    expect(received.links).toContain("waiting")
  })

  test("[SO9] an unanswered hello, and a socket that never opens, are abandoned", async () => {
    const mute = await openSocket()
    mute.clock.pass(9_000)
    expect(mute.received.links).toContain("waiting")
    await settle()
    mute.clock.pass(15_000)
    await settle()
    expect(mute.server.sockets.length).toBeGreaterThan(2)
    const hung = await openSocket()
    hung.server.last().events.onClose(1006)
    hung.clock.pass(300)
    await settle()
    hung.clock.pass(1_000)
    hung.socket.checkConnection()
    await settle()
    expect(hung.server.sockets).toHaveLength(2)
    hung.clock.pass(2_000)
    hung.socket.checkConnection()
    await settle()
    expect(hung.server.sockets).toHaveLength(3)
    hung.server.sockets[1]?.events.onOpen()
    expect(hung.server.sockets[1]?.sent).toEqual([])
  })

  test("[SO1] a refused token is discarded, and a new one is tried at once", async () => {
    const { server, deps } = await openLiveSocket()
    server.last().events.onClose(4401)
    await settle()
    expect(deps.forgotten).toBe(1)
    expect(server.sockets).toHaveLength(2)
  })

  test("[SO10] a renewed token opens a second socket; the first one stays until the second is open, and no frame is lost or duplicated", async () => {
    const { clock, server, received } = await openLiveSocket()
    const awaitPong = async () => {
      clock.pass(PING_MS)
      await settle()
      server.sockets[0]?.say({ type: "pong" })
    }
    for (let i = 0; i < 3_540_000 / PING_MS; i++) await awaitPong()
    const [first, second] = server.sockets
    expect(server.sockets).toHaveLength(2)
    expect(first?.closedWith).toBe(null)
    first?.say(ops(11, 10, "m", []))
    second?.events.onOpen()
    expect(first?.closedWith).toBe(1000)
    expect(second?.sent).toMatchObject([{ type: "hello", after: 11 }])
    first?.say(ops(12, 11, "m", []))
    second?.say(hello(12))
    second?.say(ops(12, 11, "m", []))
    expect(received.frames.map(({ seq }) => seq)).toEqual([11, 12])
    expect(received.links).toEqual(["connecting", "live", "live"])
    first?.events.onClose(1000)
    expect(received.links.at(-1)).toBe("live")
  })

  test("[SO10] a renewal that fails leaves the first socket untouched and is retried", async () => {
    const { clock, server, deps, received } = await openLiveSocket()
    const awaitPong = async () => {
      clock.pass(PING_MS)
      await settle()
      server.sockets[0]?.say({ type: "pong" })
    }
    for (let i = 0; i < 3_540_000 / PING_MS; i++) await awaitPong()
    server.sockets[1]?.events.onClose(1006)
    expect(deps.forgotten).toBe(1)
    expect(received.links.at(-1)).toBe("live")
    await awaitPong()
    expect(server.sockets).toHaveLength(3)
    expect(server.sockets[0]?.closedWith).toBe(null)
    server.sockets[0]?.events.onClose(4401)
    await settle()
    expect(server.sockets[2]?.closedWith).toBe(1000)
    expect(server.sockets).toHaveLength(4)
  })

  test("[SO10] a token that already seems expired doesn't open one socket after another", async () => {
    const clock = createClock()
    const server = createServer()
    const createExpiredToken = () => Promise.resolve({ token: "jwt", renewAt: clock.now() - 1 })
    new SessionSocket({ ...depsOf(server, clock), getToken: createExpiredToken }, createRecordingHandlers()).resumeFrom(
      START,
    )
    await settle()
    for (let second = 0; second < 60; second++) {
      server.last().events.onOpen()
      server.last().say(hello())
      clock.pass(1_000)
      await settle()
    }
    expect(server.sockets.length).toBeLessThanOrEqual(4)
  })

  test("[SO5] a server with another protocol version, or without the session, isn't retried", async () => {
    for (const [code, link] of [
      [4406, "outdated"],
      [4404, "gone"],
    ] as const) {
      const { clock, server, received } = await openLiveSocket()
      server.last().events.onClose(code)
      clock.pass(60_000)
      await settle()
      expect(received.links.at(-1)).toBe(link)
      expect(server.sockets).toHaveLength(1)
    }
  })

  test("[SO3] a socket closed for falling behind resumes at once", async () => {
    const { server } = await openLiveSocket()
    server.last().say(ops(11, 10, "m", []))
    server.last().events.onClose(4408)
    await settle()
    server.last().events.onOpen()
    expect(server.last().sent[0]).toMatchObject({ type: "hello", after: 11 })
  })

  test("[SO7] nothing is sent before the server's hello", async () => {
    const { server, socket } = await openSocket()
    expect(socket.send({ type: "send", id: "a", content: "x" })).toBe(false)
    server.last().say(hello())
    expect(socket.send({ type: "send", id: "a", content: "x" })).toBe(true)
  })
})
