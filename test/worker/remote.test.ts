/** remote.test.ts: tests media of other hosts. A real loopback server acts as all of these hosts. */

import { env, SELF } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test, vi } from "vitest"
import { MAX_IMAGE_BYTES, MAX_REMOTE_REDIRECTS } from "../../shared/asset-limits.ts"
import { fetchRemote } from "../../worker/routes/media/remote-fetch.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { signLink } from "../../worker/auth/link-signing.ts"
import { readTimeLimits } from "../../worker/platform/time-limits.ts"
import { call, HOST, nowSeconds, refusal, SECRET } from "./http.ts"

const UPSTREAM = String((env as unknown as Record<string, unknown>)["MEDIA_UPSTREAM"])
const ADMIN = {
  user: "root",
  scope: "admin",
  expires: nowSeconds() + 600,
  token: nanoid(),
  issued: nowSeconds(),
} as const
const ANYWHERE = (): boolean => true

/** Returns a unique URL for each test, because responses are cached. */
const remoteUrl = (scenario: string, query = ""): string => `https://media.example.com/${scenario}/${nanoid(8)}${query}`

async function signRemotePath(what: string, tenant = "rm"): Promise<string> {
  const token = await signLink(SECRET, "remote", { tenant, session: "s1", what, expires: nowSeconds() + 600 })
  return `/media/remote?token=${token}`
}

async function requestRemote(what: string, headers: Record<string, string> = {}, tenant = "rm"): Promise<Response> {
  return await SELF.fetch(HOST + (await signRemotePath(what, tenant)), { headers })
}

interface Seen {
  readonly path: string
  readonly body: Record<string, string>
  readonly closed: boolean
}

/** Returns the requests that the other host received for a URL. */
async function readSeen(what: string): Promise<Seen[]> {
  const { host, pathname } = new URL(what)
  return await (await fetch(`${UPSTREAM}/seen/${`${host}${pathname}`.replaceAll("/", "-")}`)).json()
}

const createRefusal = (because: string) => refusal(502, "remote_refused", because)

describe("media of other hosts", () => {
  test("[RM1] the other host gets nothing about the user, and none of its headers is forwarded", async () => {
    const what = remoteUrl("png")
    const secret = { cookie: "id=ada", authorization: "Bearer x", referer: "https://cuecard.test/s/1", dnt: "1" }
    const answer = await requestRemote(what, {
      ...secret,
      "user-agent": "Ada's",
      "accept-language": "sv",
      "x-forwarded-for": "1.2.3.4",
    })
    expect(answer.status).toBe(200)
    expect((await answer.arrayBuffer()).byteLength).toBe(70)
    const [{ body: received = {} } = {}] = await readSeen(what)
    expect(received).toMatchObject({ "user-agent": "Cuecard-Media/1", accept: "image/*, audio/*, video/*" })
    for (const name of Object.keys(secret)) expect(received[name]).toBeUndefined()
    expect(JSON.stringify(received)).not.toMatch(/ada|1\.2\.3\.4|"sv"/i)
    expect(Object.fromEntries(answer.headers)).toEqual({
      "content-type": "image/png",
      "content-length": "70",
      "content-disposition": "inline",
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "accept-ranges": "bytes",
      "cache-control": "private, max-age=3600",
    })
  })

  test("[RM1] a file is fetched only with a URL signed for it", async () => {
    expect(await call("/media/remote")).toEqual(refusal(403, "link_invalid"))
    const claims = { tenant: "rm", session: "s1", what: remoteUrl("png"), expires: nowSeconds() + 60 }
    expect(await call(`/media/remote?token=${await signLink(SECRET, "media", claims)}`)).toEqual(
      refusal(403, "link_invalid"),
    )
    const late = await signLink(SECRET, "remote", { ...claims, expires: nowSeconds() - 60 })
    expect(await call(`/media/remote?token=${late}`)).toEqual(refusal(403, "link_expired"))
    expect(await call(await signRemotePath("http://media.example.com/png/x"))).toEqual(refusal(422, "url_refused"))
    expect(await call(await signRemotePath("https://127.0.0.1/png/x"))).toEqual(refusal(422, "url_refused"))
  })

  test.each([
    "https://127.0.0.1/x",
    "https://169.254.169.254/latest/meta-data/",
    "https://[::ffff:10.0.0.1]/",
    "http://media.example.com/png/x",
    "https://localhost/x",
    "https://user:pw@media.example.com/png/x",
    "//0x7f.1/",
    "file:///etc/passwd",
  ])("[RM5] a redirect to %s isn't followed", async (to) => {
    const what = remoteUrl("away", `?to=${encodeURIComponent(to)}`)
    expect(await call(await signRemotePath(what))).toEqual(refusal(422, "url_refused"))
    expect(await readSeen(what)).toHaveLength(1)
  })

  test("[RM5] a redirect to another public URL is followed, but not in a loop", async () => {
    const to = remoteUrl("png")
    expect((await call(await signRemotePath(remoteUrl("away", `?to=${encodeURIComponent(to)}`)))).status).toBe(200)
    expect((await call(await signRemotePath(remoteUrl("away", "?to=/png/there")))).status).toBe(200)
    const loop = remoteUrl("loop")
    expect(await call(await signRemotePath(loop))).toEqual(createRefusal("redirects"))
    expect(await readSeen(loop)).toHaveLength(MAX_REMOTE_REDIRECTS + 1)
  })

  test("[RM5] a host whose media load without a click can't redirect to one whose media don't", async () => {
    const token = await issueToken({ ...ADMIN, tenant: "rm-open" }, SECRET)
    const body = JSON.stringify({ media_hosts: ["media.example.com", "cdn.example.com"] })
    expect((await call("/v1/settings", { method: "PUT", token, body })).status).toBe(200)
    const received = `https://evil.example.org/png/${nanoid(8)}`
    const away = remoteUrl("away", `?to=${encodeURIComponent(received)}`)
    expect(await call(await signRemotePath(away, "rm-open"))).toEqual(createRefusal("redirects"))
    expect(await readSeen(received)).toEqual([])
    const mirror = encodeURIComponent(`https://cdn.example.com/png/${nanoid(8)}`)
    expect((await call(await signRemotePath(remoteUrl("away", `?to=${mirror}`), "rm-open"))).status).toBe(200)
    // Media of any other host are loaded only after a click, so any redirect is allowed.
    const redirected = `https://other.example.com/away/${nanoid(8)}?to=${encodeURIComponent(received)}`
    expect((await call(await signRemotePath(redirected, "rm-open"))).status).toBe(200)
  })

  test("[RM6] the server never fetches from itself, directly or through another instance, and HEAD fetches nothing", async () => {
    const what = remoteUrl("png")
    const ours = { "user-agent": "Cuecard-Media/1" }
    expect(await call(await signRemotePath(what), { headers: ours })).toEqual(refusal(404, "route_unknown"))
    expect((await call(await signRemotePath(what), { method: "HEAD" })).status).toBe(404)
    expect(await readSeen(what)).toEqual([])
  })

  test.each(["206", "204", "304"])("[RM2] a response with status %s is refused", async (scenario) => {
    expect(await call(await signRemotePath(remoteUrl(scenario)))).toEqual(createRefusal("unreachable"))
  })

  test("[RM2] headers are not forwarded, however many there are", async () => {
    const answer = await requestRemote(remoteUrl("headers"))
    expect((await answer.arrayBuffer()).byteLength).toBe(70)
    expect(answer.headers.get("x-0")).toBeNull()
  })

  test.each(["html", "svg", "text", "zip", "empty"])(
    "[RM2] %s that claims to be an image is refused, and none of it is forwarded",
    async (scenario) => {
      const answer = await call(await signRemotePath(remoteUrl(scenario)))
      expect(answer).toEqual(createRefusal("type"))
      expect(answer.text).not.toContain("alert")
    },
  )

  test("[RM2] a 404 is refused, even with an image as its body", async () => {
    expect(await call(await signRemotePath(remoteUrl("nowhere")))).toEqual(createRefusal("unreachable"))
  })

  test("[RM3] a body that declares a size over the limit isn't read; one that declares no size is cut off at the limit", async () => {
    const url = remoteUrl("too-large")
    expect(await call(await signRemotePath(url))).toEqual(createRefusal("size"))
    await expect.poll(async () => (await readSeen(url))[0]?.closed).toBe(true)
    const endless = remoteUrl("endless")
    const remote = await fetchRemote(endless, readTimeLimits({}), ANYWHERE, UPSTREAM)
    if (!remote.ok) throw new Error(remote.fault.reason)
    let bytes = 0
    const readBody = async () => {
      for await (const chunk of remote.value.body) bytes += chunk.length
    }
    await expect(readBody()).rejects.toThrow("too large")
    expect(bytes).toBeLessThanOrEqual(MAX_IMAGE_BYTES)
    await expect.poll(async () => (await readSeen(endless))[0]?.closed).toBe(true)
  })

  test("[RM3] a response without a length works", async () => {
    const answer = await requestRemote(remoteUrl("untold"))
    expect([answer.status, (await answer.arrayBuffer()).byteLength]).toEqual([200, 70])
  })

  test("[RM3] a response that is cut off is also cut off for the client, and isn't cached", async () => {
    const what = remoteUrl("cut")
    for (let n = 0; n < 2; n++) {
      const remote = await fetchRemote(what, readTimeLimits({}), ANYWHERE, UPSTREAM)
      if (!remote.ok) throw new Error(remote.fault.reason)
      await expect(new Response(remote.value.body).arrayBuffer()).rejects.toThrow()
    }
    const describeOutcome = () =>
      requestRemote(what).then(
        (answer) =>
          answer.arrayBuffer().then(
            ({ byteLength }) => byteLength,
            () => "cut",
          ),
        () => "none",
      )
    expect([await describeOutcome(), await describeOutcome(), (await readSeen(what)).length]).toEqual([
      expect.any(String),
      expect.any(String),
      4,
    ])
  })

  test("[RM3] a compressed body is measured by its uncompressed size", async () => {
    const remote = await fetchRemote(remoteUrl("packed"), readTimeLimits({}), ANYWHERE, UPSTREAM)
    if (!remote.ok) throw new Error(remote.fault.reason)
    expect(remote.value.size).toBeNull()
    await expect(new Response(remote.value.body).arrayBuffer()).rejects.toThrow("too large")
  })

  test("[RM3] a response that ends before its declared length is cut off for the client", async () => {
    const remote = await fetchRemote(remoteUrl("short"), readTimeLimits({}), ANYWHERE, UPSTREAM)
    if (!remote.ok) throw new Error(remote.fault.reason)
    await expect(new Response(remote.value.body).arrayBuffer()).rejects.toThrow()
    expect(await call(await signRemotePath(remoteUrl("short")), { headers: { range: "bytes=5-" } })).toEqual(
      createRefusal("unreachable"),
    )
  })

  test("[RM3] a response that arrives byte by byte is abandoned before its type is known", async () => {
    const drip = remoteUrl("drip")
    expect(await fetchRemote(drip, readTimeLimits({ TIME_SCALE: "0.02" }), ANYWHERE, UPSTREAM)).toMatchObject({
      fault: { because: "timeout" },
    })
    await expect.poll(async () => (await readSeen(drip))[0]?.closed).toBe(true)
  })

  test("[RM3] a response is abandoned if the host is silent, at the start or in the middle", async () => {
    const times = readTimeLimits({ TIME_SCALE: "0.02" })
    const slow = remoteUrl("slow")
    expect(await fetchRemote(slow, times, ANYWHERE, UPSTREAM)).toMatchObject({ fault: { because: "timeout" } })
    await expect.poll(async () => (await readSeen(slow))[0]?.closed).toBe(true)
    const stall = remoteUrl("stall")
    const remote = await fetchRemote(stall, times, ANYWHERE, UPSTREAM)
    if (!remote.ok) throw new Error(remote.fault.reason)
    await expect(new Response(remote.value.body).arrayBuffer()).rejects.toThrow()
    await expect.poll(async () => (await readSeen(stall))[0]?.closed).toBe(true)
  })

  test("[RM4] a file is fetched once per tenant", async () => {
    const what = remoteUrl("wav")
    // A range request is answered once the whole file is cached.
    const fetchedBy = async (tenant: string, headers = {}) =>
      (await (await requestRemote(what, headers, tenant)).arrayBuffer()).byteLength
    expect(await fetchedBy("rm", { range: "bytes=0-9" })).toBe(10)
    for (let n = 0; n < 3; n++) expect(await fetchedBy("rm")).toBe(10_000)
    expect(await readSeen(what)).toHaveLength(1)
    expect(await fetchedBy("rm-other")).toBe(10_000)
    expect(await readSeen(what)).toHaveLength(2)
  })

  test("[RM4] a range of audio is cut from the cached response, even the first time", async () => {
    const what = remoteUrl("wav")
    for (const range of ["bytes=100-199", "bytes=9900-"]) {
      const part = await requestRemote(what, { range })
      expect(part.status).toBe(206)
      expect((await part.arrayBuffer()).byteLength).toBe(100)
      expect(part.headers.get("content-range")).toBe(
        range === "bytes=9900-" ? "bytes 9900-9999/10000" : "bytes 100-199/10000",
      )
      expect(part.headers.get("content-type")).toBe("audio/wav")
    }
    expect(await readSeen(what)).toHaveLength(1)
  })

  test("[RM4] a range of audio is cut even without a cache; one outside the file is refused, with or without a cache", async () => {
    const range = { range: "bytes=9900-" }
    const beyond = { headers: { range: "bytes=10000-" } }
    const put = vi.spyOn(caches.default, "put").mockRejectedValue(new Error("full"))
    const match = vi.spyOn(caches.default, "match").mockResolvedValue(undefined)
    for (const isCaching of [false, true]) {
      if (isCaching) for (const spy of [put, match]) spy.mockRestore()
      const what = remoteUrl("wav")
      for (let n = 0; n < 2; n++) {
        const part = await requestRemote(what, range)
        expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 9900-9999/10000"])
        expect((await part.arrayBuffer()).byteLength).toBe(100)
        const refused = await call(await signRemotePath(what), beyond)
        expect(refused).toEqual(refusal(416, "range_invalid"))
        expect(refused.headers.get("content-range")).toBe("bytes */10000")
        const whole = await requestRemote(what, { range: "bytes=0-1,5-9" })
        expect([whole.status, (await whole.arrayBuffer()).byteLength]).toEqual([200, 10_000])
      }
    }
  })

  test("[RM4] a player that requests the full range gets it as a range while it streams, and the file is cached", async () => {
    const what = remoteUrl("wav")
    const first = await requestRemote(what, { range: "bytes=0-" })
    expect([first.status, first.headers.get("content-range")]).toEqual([206, "bytes 0-9999/10000"])
    expect((await first.arrayBuffer()).byteLength).toBe(10_000)
    // The file is cached once it has arrived completely, a moment later.
    const readPart = async () => [
      (await (await requestRemote(what, { range: "bytes=5-" })).arrayBuffer()).byteLength,
      await readSeen(what),
    ]
    await expect.poll(readPart).toEqual([9_995, expect.anything()])
    const before = (await readSeen(what)).length
    await readPart()
    expect(await readSeen(what)).toHaveLength(before)
    // The response must begin before the file has arrived completely.
    const cut = await requestRemote(remoteUrl("cut"), { range: "bytes=0-" })
    expect(cut.status).toBe(206)
    await expect(cut.arrayBuffer()).rejects.toThrow()
  })

  test.each([
    ["in a file of unknown length", "wav-untold", 10_000],
    ["in a file that is too large for the cache", "wav-large", 17 * 1024 * 1024],
  ])(
    "[RM4] a request for a range of audio %s gets the whole file, without range support",
    async (_, scenario, bytes) => {
      const answer = await requestRemote(remoteUrl(scenario), { range: "bytes=100-" })
      expect([answer.status, answer.headers.get("accept-ranges")]).toEqual([200, null])
      expect((await answer.arrayBuffer()).byteLength).toBe(bytes)
    },
  )
})
