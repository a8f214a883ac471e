/**
 * proxied-frames.test.ts: tests that the fault suite's proxy counts frames and cuts connections at the intended
 * positions.
 */

import { connect, createServer } from "node:net"
import { expect, test } from "vitest"
import { createFrameReader } from "./frames.ts"
import { startProxy } from "./proxy.ts"

/** Returns a frame as a server sends it, or as a client does (masked). */
function frameOf(opcode: number, size: number, isMasked = false): Buffer {
  const mask = isMasked ? 0x80 : 0
  const length =
    size < 126
      ? [size | mask]
      : size < 65_536
        ? [126 | mask, size >> 8, size & 255]
        : [127 | mask, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (size >> shift) & 255)]
  return Buffer.concat([
    Buffer.from([0x80 | opcode, ...length, ...(isMasked ? [1, 2, 3, 4] : [])]),
    Buffer.alloc(size, 7),
  ])
}

const HEAD = Buffer.from("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n")
const TEXT = 1
const PING = 9

test.each([1, 3, 7, 1000, 1_000_000])("[FS5] data frames that arrive in chunks of %i bytes are counted", (size) => {
  const frames = [
    frameOf(TEXT, 0),
    frameOf(PING, 4),
    frameOf(TEXT, 125, true),
    frameOf(TEXT, 126),
    frameOf(TEXT, 70_000),
  ]
  const bytes = Buffer.concat([HEAD, ...frames])
  const reader = createFrameReader()
  const ends: number[] = []
  for (let at = 0; at < bytes.length; at += size) {
    for (const end of reader.push(bytes.subarray(at, at + size))) ends.push(at + end)
  }
  const sizes = frames.map(({ length }) => length)
  const until = (n: number): number => HEAD.length + sizes.slice(0, n).reduce((sum, length) => sum + length, 0)
  expect(ends).toEqual([1, 3, 4, 5].map(until))
})

test("[FS5] an HTTP response contains no frames, and an upgraded connection does", () => {
  const reader = createFrameReader()
  const answer = Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\n\r\n"), frameOf(TEXT, 3)])
  expect([...reader.push(answer), ...reader.push(frameOf(TEXT, 3))]).toEqual([])
  expect(reader.push(Buffer.concat([HEAD, frameOf(TEXT, 3)]))).toEqual([HEAD.length + 5])
})

test("[FS5] a cut closes the connection right after the intended frame", async () => {
  const bytes = Buffer.concat([HEAD, frameOf(TEXT, 10), frameOf(TEXT, 20), frameOf(TEXT, 30)])
  const far = createServer((socket) =>
    socket
      .on("error", () => {})
      .resume()
      .write(bytes),
  )
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve))
  const cuts: string[] = []
  const proxy = await startProxy(
    () => (far.address() as { port: number }).port,
    (how) => cuts.push(how),
  )
  proxy.cutAt(2, "half_to_client", false)
  const received: Buffer[] = []
  await new Promise<void>((resolve) => {
    const client = connect(proxy.port, "127.0.0.1", () => client.write("GET"))
    client.on("data", (chunk) => received.push(chunk)).on("end", resolve)
  })
  expect({ cuts, received: Buffer.concat(received).length }).toEqual({
    cuts: ["half_to_client"],
    received: bytes.length - 32,
  })
  await proxy.close()
  await new Promise((resolve) => far.close(resolve))
})
