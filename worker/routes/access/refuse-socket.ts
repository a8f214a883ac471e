/**
 * refuse-socket.ts: tells a browser why a limit refused its WebSocket.
 *
 * A browser hides the status and body of a refused upgrade from the page. So the socket is opened, receives the fault
 * as an error frame, and is closed with CLOSE_LIMITED. No object is called.
 */

import type { MiddlewareHandler } from "hono"
import type { WireFault } from "../../../shared/fault.ts"
import { CLOSE_LIMITED } from "../../../shared/user-limits.ts"
import { SUBPROTOCOL } from "../../socket/sockets.ts"
import type { AppEnv } from "../request-body.ts"
import { isUpgrade, listSubprotocols } from "./authorize.ts"

/**
 * Replaces the 429 response to a browser's upgrade request. Browsers send an Origin header with every such request;
 * other clients get the unchanged response.
 */
export const explainRefusedSocket: MiddlewareHandler<AppEnv> = async (context, next) => {
  await next()
  if (context.res.status !== 429 || !isUpgrade(context) || context.req.header("origin") === undefined) return
  const fault = await context.res.json<Pick<WireFault, "code" | "text" | "fields">>()
  const { 0: client, 1: server } = new WebSocketPair()
  server.accept()
  server.send(JSON.stringify({ type: "error", ...fault }))
  server.close(CLOSE_LIMITED, fault.text)
  const isOffered = listSubprotocols(context).includes(SUBPROTOCOL)
  const headers: Record<string, string> = isOffered ? { "sec-websocket-protocol": SUBPROTOCOL } : {}
  // Otherwise, Hono would keep the headers of the refusal.
  context.res = undefined
  context.res = new Response(null, { status: 101, webSocket: client, headers })
}
