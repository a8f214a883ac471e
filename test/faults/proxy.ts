/**
 * proxy.ts: a loopback TCP proxy between one tab and the server. It counts WebSocket frames and breaks connections,
 * including those of HTTP requests.
 *
 * tab ⇄ PROXY ⇄ server
 * A cut breaks the open connections. Later connections work again.
 */

import { connect, createServer, type Server, type Socket } from "node:net"
import { createFrameReader } from "./frames.ts"

/**
 * `drop` resets both sides. `blackhole` leaves both sides open, but they receive nothing. `half…` closes one side and
 * leaves the other open.
 */
export type Cut = "drop" | "blackhole" | "half_to_client" | "half_to_server"

/** What happens to the bytes of a pair of sockets. */
type Mode = "whole" | "blackhole"

interface Pair {
  readonly client: Socket
  readonly server: Socket
  mode: Mode
}

export interface TabProxy {
  readonly port: number
  /** Number of data frames sent to the client so far, on all connections. */
  frames(): number
  /** Breaks the open connections and returns their number. */
  cut(how: Cut): number
  /**
   * Breaks the connection that carries the `n`-th data frame to the client from now, either after that frame or in
   * the middle of it.
   */
  cutAt(n: number, how: Cut, inside: boolean): void
  /** Removes a pending cut. */
  disarm(): void
  close(): Promise<void>
}

interface Armed {
  readonly at: number
  readonly how: Cut
  readonly inside: boolean
}

/**
 * Starts a proxy. For each new connection, `target` returns the server's port. `onCut` is called for each cut that
 * broke a connection.
 */
export async function startProxy(target: () => number, onCut: (how: Cut) => void): Promise<TabProxy> {
  const pairs = new Set<Pair>()
  let passed = 0
  let armed: Armed | null = null

  const breakPair = (pair: Pair, how: Cut): void => {
    switch (how) {
      case "drop":
        pair.client.resetAndDestroy()
        pair.server.resetAndDestroy()
        return
      case "blackhole":
        pair.mode = "blackhole"
        pair.client.pause()
        pair.server.pause()
        return
      case "half_to_client":
        return void pair.client.end()
      case "half_to_server":
        return void pair.server.end()
    }
  }
  const passToClient = (pair: Pair, chunk: Buffer, ends: readonly number[]): void => {
    const hit = armed === null ? undefined : ends[armed.at - passed - 1]
    passed += ends.length
    if (hit === undefined || armed === null) return void pair.client.write(chunk)
    const { how, inside } = armed
    armed = null
    onCut(how)
    const end = inside ? Math.max(1, hit - 5) : hit
    if (how === "drop") pair.client.write(chunk.subarray(0, end), () => breakPair(pair, how))
    else {
      pair.client.write(chunk.subarray(0, end))
      breakPair(pair, how)
    }
  }
  const join = (client: Socket): void => {
    const server = connect({ port: target(), host: "127.0.0.1", allowHalfOpen: true })
    const pair: Pair = { client, server, mode: "whole" }
    pairs.add(pair)
    const reader = createFrameReader()
    client.on("data", (chunk: Buffer) => {
      if (pair.mode === "whole" && server.writable) server.write(chunk)
    })
    server.on("data", (chunk: Buffer) => {
      if (pair.mode !== "whole") return
      const ends = reader.push(chunk)
      if (client.writable) passToClient(pair, chunk, ends)
    })
    linkSockets(pair, client, server, () => pairs.delete(pair))
  }

  const server = createServer({ allowHalfOpen: true, noDelay: true }, join)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: portOf(server),
    frames: () => passed,
    cut(how) {
      const open = [...pairs].filter((pair) => pair.mode === "whole" && !pair.client.destroyed)
      if (open.length > 0) onCut(how)
      for (const pair of open) breakPair(pair, how)
      return open.length
    },
    cutAt(n, how, inside) {
      armed = { at: passed + n, how, inside }
    },
    disarm() {
      armed = null
    },
    close() {
      for (const { client, server: far } of pairs) {
        client.destroy()
        far.destroy()
      }
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

/** When one side of a pair closes, closes the other side too, unless the pair is blackholed. */
function linkSockets(pair: Pair, client: Socket, server: Socket, gone: () => void): void {
  const follow = (from: Socket, to: Socket): void => {
    from.on("end", () => {
      if (pair.mode === "whole" && to.writable) to.end()
    })
    from.on("error", () => {})
    from.on("close", () => {
      if (pair.mode === "whole") to.destroy()
      if (client.destroyed && server.destroyed) gone()
    })
  }
  follow(client, server)
  follow(server, client)
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}
