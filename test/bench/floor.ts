/**
 * floor.ts: a bare object that sends the same deltas and does nothing else: what the platform itself costs.
 *
 * One Durable Object, one hibernating socket; on any message it sends so many frames of so many characters, going back
 * to the event loop every so many, each alone or all of a turn of the loop gathered into one.
 */

import { convertV4MiniflareOptions, Miniflare } from "miniflare"
import { workerdBelow } from "../../testing/process.ts"

const SCRIPT = `
import { DurableObject } from "cloudflare:workers"
export class Bare extends DurableObject {
  fetch() {
    const { 0: client, 1: server } = new WebSocketPair()
    this.ctx.acceptWebSocket(server)
    return new Response(null, { status: 101, webSocket: client })
  }
  async webSocketMessage(socket, text) {
    const { deltas, chars, every, gather } = JSON.parse(text)
    const delta = "x".repeat(chars)
    let held = ""
    for (let i = 1; i <= deltas; i++) {
      held += delta
      if (!gather) { socket.send(JSON.stringify({ i, held })); held = "" }
      if (i % every === 0) {
        if (gather) { socket.send(JSON.stringify({ i, held })); held = "" }
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
    }
    socket.send('{"end":true}')
  }
}
export default { fetch: (request, env) => env.BARE.getByName("one").fetch(request) }
`

export interface Floor {
  readonly url: string
  /** Process id of its workerd. */
  readonly pid: number
  close(): Promise<void>
}

export async function startFloor(): Promise<Floor> {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: [{ type: "ESModule", path: "floor.mjs", contents: SCRIPT }],
      compatibilityDate: "2026-10-15",
      durableObjects: { BARE: { className: "Bare", useSQLite: true } },
      host: "127.0.0.1",
      port: 0,
      cf: false,
    }),
  )
  const url = await miniflare.ready
  const pid = workerdBelow(process.pid).at(-1) ?? 0
  return { url: url.href, pid, close: () => miniflare.dispose() }
}
