/** client-environment.test.ts: the requests, sockets and permissions that the page and `cuecard/client` share. */

import { expect, test, vi } from "vitest"
import { createEnvironment, type EnvironmentOptions, type OpenedSocket } from "../../client/net/client-environment.ts"

class FakeSocket implements OpenedSocket {
  static readonly opened: FakeSocket[] = []
  onopen: unknown = null
  onmessage: unknown = null
  onclose: unknown = null
  onerror: unknown = null
  readonly url: string
  readonly protocols: readonly string[]

  constructor(url: string, protocols: string[]) {
    this.url = url
    this.protocols = protocols
    FakeSocket.opened.push(this)
  }

  send(): void {}
  close(): void {}
}

const ORIGIN = "https://chat.example.com"

function tokenOf(role: string): string {
  return `e30.${btoa(JSON.stringify({ tenant: "t", sub: "u", role }))}.e30`
}

/** `respond` receives the path and the options of each request. */
function createFake(respond: (path: string, init: RequestInit) => Response, role = "member") {
  const options: EnvironmentOptions = {
    origin: ORIGIN,
    WebSocket: FakeSocket,
    tokenRoutes: [],
    getEmbeddedToken: async () => tokenOf(role),
    fetch: async (url, init) => respond(url.slice(ORIGIN.length), init),
  }
  return createEnvironment(options)
}

test("[SK2] requests go to the origin with the token and a time limit, which the caller's signal can shorten", async () => {
  const requests: (readonly [string, RequestInit])[] = []
  const { api } = createFake((path, init) => {
    requests.push([path, init])
    return Response.json({})
  })
  const abort = new AbortController()
  await api.fetchAuthorized("/v1/settings", { signal: abort.signal })
  const [path, init] = requests[0] ?? []
  expect(path).toBe("/v1/settings")
  expect(new Headers(init?.headers).get("authorization")).toBe(`Bearer ${tokenOf("member")}`)
  expect(init?.signal?.aborted).toBe(false)
  abort.abort()
  expect(init?.signal?.aborted).toBe(true)
})

test("[SK2] a refused write loads the settings, which say whether the tenant is about to be deleted", async () => {
  const environment = createFake((path, init) =>
    path === "/v1/settings" && init.method === undefined
      ? Response.json({ media_hosts: [], embed_origins: [], erases_at: 1 })
      : Response.json({ code: "scope_denied", text: "No." }, { status: 403 }),
  )
  expect(environment.isReadOnly.value).toBe(false)
  await expect(environment.api.createSession("", "s1")).rejects.toThrow("No.")
  await vi.waitFor(() => expect(environment.isReadOnly.value).toBe(true))
})

test("[SK2] a viewer is read-only as soon as the token is known", async () => {
  const { api, isReadOnly } = createFake(() => Response.json({}), "viewer")
  expect(isReadOnly.value).toBe(false)
  await api.getToken()
  expect(isReadOnly.value).toBe(true)
})

test("[SK2] a socket is opened at the session's route, and its errors are ignored because a close event follows", () => {
  const { connect } = createFake(() => Response.json({}))
  const events = { onOpen: vi.fn(), onMessage: vi.fn(), onClose: vi.fn() }
  connect("ada/s1", ["cuecard.v1"], events)
  const socket = FakeSocket.opened.at(-1)
  expect([socket?.url, socket?.protocols]).toEqual([
    "wss://chat.example.com/v1/sessions/s1/socket?owner=ada",
    ["cuecard.v1"],
  ])
  for (const [name, event] of [
    ["onopen", {}],
    ["onmessage", { data: "text" }],
    ["onerror", {}],
    ["onclose", { code: 1006 }],
  ] as const) {
    const handler: unknown = Reflect.get(socket ?? {}, name)
    if (typeof handler === "function") handler(event)
  }
  expect(events.onOpen).toHaveBeenCalledTimes(1)
  expect(events.onMessage).toHaveBeenCalledExactlyOnceWith("text")
  expect(events.onClose).toHaveBeenCalledExactlyOnceWith(1006)
})
