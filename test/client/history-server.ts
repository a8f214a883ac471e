/**
 * history-server.ts: a fake server whose long history is read in pages by position, and a session that is opened on
 * this server.
 */

import { SessionController, type SessionControllerDeps } from "../../client/session/session-controller.ts"
import { Draft } from "../../client/session/draft.ts"
import type { Api } from "../../client/net/api.ts"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { hello, messageFrame, settle } from "./fake-server.ts"
import { setUp, user } from "./open-session.ts"

/** Messages with the ids m1, m2, … */
export function createHistory(count: number): WireMessage[] {
  return Array.from({ length: count }, (_, at) => user(`m${at + 1}`, `text ${at + 1}`))
}

/** Creates an API that answers requests for pages from an array, which may grow. Positions are 1-based indices. */
function createHistoryApi(
  path: readonly WireMessage[],
  requests: string[],
  session: { epoch: string; seq: number },
): Pick<Api, "getHistoryPage" | "fetchAuthorized"> {
  const pageOf = (from: number, to: number): HistoryPage => ({
    messages: path.slice(from, to),
    has_more: from > 0,
    ...(from > 0 ? { cursor: String(from + 1) } : {}),
    ...(to < path.length ? { next: String(to) } : {}),
    ...session,
  })
  const readWindow = (query: URLSearchParams): HistoryPage | null => {
    const limit = Number(query.get("limit"))
    const around = query.get("around")
    if (around === null) {
      const after = Number(query.get("after"))
      return pageOf(after, Math.min(path.length, after + limit))
    }
    const at = path.findIndex(({ id }) => id === around)
    if (at < 0) return null
    const to = Math.min(path.length, at + 1 + Math.floor((limit - 1) / 2))
    return pageOf(Math.max(0, to - limit), to)
  }
  return {
    getHistoryPage(_session: string, limit: number, before?: string): Promise<HistoryPage> {
      requests.push(before === undefined ? `newest ${limit}` : `before ${before} ${limit}`)
      const to = before === undefined ? path.length : Number(before) - 1
      return Promise.resolve(pageOf(Math.max(0, to - limit), to))
    },
    fetchAuthorized(url: string): Promise<Response> {
      const query = new URLSearchParams(url.split("?")[1])
      requests.push([...query].map((pair) => pair.join(" ")).join(" "))
      const page = readWindow(query)
      const fault = { error: { code: "message_unknown", text: "unknown" } }
      return Promise.resolve(new Response(JSON.stringify(page ?? fault), { status: page === null ? 404 : 200 }))
    },
  }
}

export const MAX_SHOWN = 150

/** Opens a session with this history. `say` appends a message to it, which arrives in a frame. */
export async function openLongSession(path: WireMessage[], more: Partial<SessionControllerDeps> = {}) {
  const requests: string[] = []
  const session = { epoch: "e1", seq: 10 }
  const { server, clock, deps, api: stubApi } = setUp()
  const api: Api = { ...stubApi, ...createHistoryApi(path, requests, session) }
  const controller = new SessionController("s1", { ...deps, api, maxShownMessages: MAX_SHOWN, ...more }, new Draft())
  await controller.loadNewest()
  await settle()
  server.last().events.onOpen()
  server.last().say(hello())
  const say = (message: WireMessage): void => {
    path.push(message)
    server.last().say(messageFrame(session.seq + 1, session.seq++, message))
  }
  const { store, history } = controller
  return { server, clock, requests, session, controller, store, history, say, shown: () => store.messageIds.value }
}
