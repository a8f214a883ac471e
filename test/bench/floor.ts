/**
 * floor.ts: a bare Durable Object that does only the measured work, and so shows the cost of the platform itself.
 *
 * There is one object per path, with hibernating sockets. A message selects the work. The object can send a number of
 * frames of a given size, single or batched, to one socket or to all, and yield after a given number of frames. It can
 * write one row, move its alarm if requested, and then send one frame. Or it can forward an upstream's stream, either
 * chunk by chunk or in windows, each of which is first written as a row. A posted file is written as rows, from which
 * other rows are then created.
 */

import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { readBuild } from "../../testing/built-worker.ts"
import { startRuntime } from "../../testing/workerd-runtime.ts"
import { sendAndAwait, untilOpen } from "./measure.ts"

const SCRIPT = `
import { DurableObject } from "cloudflare:workers"
export class Bare extends DurableObject {
  fetch(request) {
    if (request.method === "POST") return this.take(request.body)
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    return new Response(null, { status: 101, webSocket: client })
  }
  async webSocketMessage(socket, text) {
    const asked = JSON.parse(text)
    if (asked.alarm) this.ctx.waitUntil(this.ctx.storage.setAlarm(Date.now() + 60000))
    if (asked.write) return this.write(socket)
    if (asked.upstream) return this.pass(socket, asked)
    await this.stream(asked.all ? this.ctx.getWebSockets() : [socket], asked)
  }
  webSocketClose(socket) { socket.close(1000) }
  async stream(sockets, { deltas, chars, every, gather }) {
    const delta = "x".repeat(chars)
    let held = ""
    const send = (text) => { for (const socket of sockets) socket.send(text) }
    for (let i = 1; i <= deltas; i++) {
      held += delta
      if (!gather) { send(JSON.stringify({ i, held })); held = "" }
      if (i % every === 0) {
        if (gather) { send(JSON.stringify({ i, held })); held = "" }
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
    }
    send('{"end":true}')
  }
  async take(body) {
    const { sql } = this.ctx.storage
    sql.exec("CREATE TABLE IF NOT EXISTS line (n INTEGER PRIMARY KEY, at INTEGER, text TEXT)")
    sql.exec("CREATE INDEX IF NOT EXISTS line_at ON line (at, n)")
    sql.exec("CREATE TABLE IF NOT EXISTS message (n INTEGER PRIMARY KEY, text TEXT)")
    const decoder = new TextDecoder()
    const reader = body.getReader({ mode: "byob" })
    let [buffer, tail, n] = [new ArrayBuffer(65536), "", 0]
    for (;;) {
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done) break
      buffer = value.buffer
      const lines = (tail + decoder.decode(value, { stream: true })).split("\\n")
      tail = lines.pop()
      for (const line of lines) { n += 1; sql.exec("INSERT INTO line VALUES (?, ?, ?)", n, n, line) }
    }
    for (let last = 0; last < n; last += 20) {
      const rows = sql.exec("SELECT n, text FROM line WHERE (at, n) > (?, ?) ORDER BY at, n LIMIT 20", last, last).toArray()
      for (const half of [rows.slice(0, 10), rows.slice(10)])
        if (half.length > 0) sql.exec("INSERT INTO message VALUES (?, ?)", half[0].n, half.map((row) => row.text).join("\\n"))
      if (last % 500 === 0) await new Promise((resolve) => setTimeout(resolve))
    }
    sql.exec("DELETE FROM line")
    return new Response(String(n))
  }
  alarm() {}
  write(socket, word = '{"end":true}') {
    this.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS fact (n INTEGER PRIMARY KEY, word TEXT)")
    this.ctx.storage.sql.exec("INSERT INTO fact (word) VALUES (?)", word)
    socket.send(word)
  }
  async pass(socket, { upstream, windowMs }) {
    const { body } = await fetch(upstream, { method: "POST", body: "{}" })
    let [held, timer] = ["", null]
    const flush = () => { this.write(socket, held); [held, timer] = ["", null] }
    for await (const text of body.pipeThrough(new TextDecoderStream())) {
      if (!windowMs) { socket.send(text); continue }
      held += text
      timer ??= setTimeout(flush, windowMs)
    }
    if (timer) { clearTimeout(timer); flush() }
    socket.send('{"end":true}')
  }
}
export default { fetch: (request, env) => env.BARE.getByName(new URL(request.url).pathname).fetch(request) }
`

export interface Floor {
  readonly url: URL
  /** Process id of the workerd that runs the floor. */
  readonly pid: number
  /** Opens a socket to the object with the given name. */
  open(name?: string): Promise<WebSocket>
  close(): Promise<void>
}

/**
 * Starts the bare object in the same way as `startCuecard` starts the server: behind the same front, and with storage
 * on disk.
 */
export async function startFloor(): Promise<Floor> {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-floor-"))
  const objects = { BARE: "Bare" }
  const bare = {
    main: "floor.js",
    modules: { "floor.js": SCRIPT },
    workerPaths: ["/*"],
    vars: {},
    objects,
    buckets: {},
  }
  const build = { ...readBuild(), ...bare }
  const runtime = await startRuntime({ build, vars: {}, persist, port: 0, onLog() {} })
  const url = new URL(runtime.url)
  const openSocket = (name = "one"): Promise<WebSocket> => {
    const address = new URL(name, url)
    address.protocol = "ws:"
    return untilOpen(new WebSocket(address))
  }
  const closeRuntime = async (): Promise<void> => {
    await runtime.close()
    await rm(persist, { recursive: true, force: true })
  }
  return { url, pid: runtime.pid(), open: openSocket, close: closeRuntime }
}

export function isFloorEnd(text: string): boolean {
  return text.includes('"end"')
}

/** Requests some work from the floor, and waits until it is done. */
export function askFloor(socket: WebSocket, request: object) {
  return sendAndAwait(socket, JSON.stringify(request), () => true, isFloorEnd)
}
