/** token-source.test.ts: the sources of the page's token, with a fake fetch. */

import { describe, expect, test } from "vitest"
import { RequestError } from "../../client/net/http-request.ts"
import { TokenSource, type TokenSourceDeps } from "../../client/net/token-source.ts"

function setUp(deps: Partial<TokenSourceDeps>, routes: Readonly<Record<string, () => Response>> = {}) {
  const requests: string[] = []
  const refusals: RequestError[] = []
  const source = new TokenSource({
    now: () => 0,
    tokenRoutes: ["/v1/dev/token", "/auth/token"],
    onSignedOut: (refusal) => refusals.push(refusal),
    async fetch(path, init) {
      requests.push(`${path} ${String(init.body)}`)
      return routes[path]?.() ?? Response.json({ code: "route_unknown", text: "Nothing here." }, { status: 404 })
    },
    ...deps,
  })
  return { source, requests, refusals }
}

describe("the source of the token", () => {
  test("[SP1] the embedding product's function is used instead of the server, including for every renewal", async () => {
    let count = 0
    const { source, requests } = setUp({ getEmbeddedToken: async () => `given-${++count}` })
    expect((await source.getToken()).token).toBe("given-1")
    expect((await source.getToken()).token).toBe("given-1")
    source.forgetToken()
    expect((await source.getToken()).token).toBe("given-2")
    expect(requests).toEqual([])
  })

  test("[SP1] the routes are tried in order, and one that doesn't exist is skipped", async () => {
    const { source, requests } = setUp({}, { "/auth/token": () => Response.json({ token: "t" }) })
    expect((await source.getToken()).token).toBe("t")
    expect(requests).toEqual(["/v1/dev/token {}", "/auth/token {}"])
  })

  test("[SP1] a failure of the product's function or of the network isn't final: the next call tries again", async () => {
    let count = 0
    const getEmbeddedToken = async (): Promise<string> => {
      if (++count === 1) throw new Error("no")
      return "given"
    }
    const { source, refusals } = setUp({ getEmbeddedToken })
    await expect(source.getToken()).rejects.toThrow("no")
    expect((await source.getToken()).token).toBe("given")
    expect(refusals).toEqual([])
  })

  test("[SP1] a request keeps its headers, in whatever form they are given, and gets the token", async () => {
    for (const headers of [{ "x-a": "1" }, [["x-a", "1"]] as [string, string][], new Headers({ "x-a": "1" })]) {
      const seen: unknown[] = []
      const source = new TokenSource({
        now: () => 0,
        tokenRoutes: [],
        getEmbeddedToken: async () => "given",
        async fetch(_path, init) {
          seen.push(Object.fromEntries(new Headers(init.headers)))
          return Response.json({})
        },
      })
      await source.fetchAuthorized("/x", { headers })
      expect(seen).toEqual([{ "x-a": "1", authorization: "Bearer given" }])
    }
  })

  test("[SP10] a token is used only after the page has accepted its user", async () => {
    const accept = Promise.withResolvers<void>()
    const seen: string[] = []
    const { source, requests } = setUp(
      {
        onToken({ token }) {
          seen.push(token)
          return accept.promise
        },
      },
      { "/auth/token": () => Response.json({ token: "t" }), "/x": () => Response.json({}) },
    )
    const response = source.fetchAuthorized("/x")
    await expect.poll(() => seen).toEqual(["t"])
    expect(requests.filter((request) => request.startsWith("/x"))).toEqual([])
    accept.resolve()
    expect((await response).status).toBe(200)
  })
})

describe("nobody is signed in", () => {
  const createRefusal = (status: number, code: string) => () =>
    Response.json({ code, text: `Text of ${code}.` }, { status })

  test.each([
    [401, "sign_in_required"],
    [403, "user_suspended"],
  ])(
    "[SP2] %s %s: the page is told once, with the server's text, and stops requesting tokens",
    async (status, code) => {
      const { source, requests, refusals } = setUp({}, { "/auth/token": createRefusal(status, code) })
      await expect(source.getToken()).rejects.toThrow(`Text of ${code}.`)
      source.forgetToken()
      await expect(source.fetchAuthorized("/v1/sessions")).rejects.toThrow(`Text of ${code}.`)
      expect(requests).toEqual(["/v1/dev/token {}", "/auth/token {}"])
      expect(refusals.map((refusal) => [refusal.status, refusal.message])).toEqual([[status, `Text of ${code}.`]])
    },
  )

  test("[SP2] if the server has none of the token routes, nobody is signed in", async () => {
    const { source, refusals } = setUp({})
    await expect(source.getToken()).rejects.toBeInstanceOf(RequestError)
    expect(refusals.map(({ status }) => status)).toEqual([401])
  })

  test("[SP2] a server that is down doesn't sign the user out", async () => {
    let isDown = true
    const { source, refusals } = setUp(
      {},
      { "/auth/token": () => (isDown ? new Response("", { status: 503 }) : Response.json({ token: "t" })) },
    )
    await expect(source.getToken()).rejects.toThrow()
    isDown = false
    expect((await source.getToken()).token).toBe("t")
    expect(refusals).toEqual([])
  })
})
