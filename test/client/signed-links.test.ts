/** signed-links.test.ts: signed URLs for rendered media are requested in batches, cached, renewed and retried. */

import { describe, expect, test } from "vitest"
import { RequestError } from "../../client/net/http-request.ts"
import { LinkSigner } from "../../client/files/signed-links.ts"
import { SIGNED_URL_SECONDS } from "../../shared/asset-limits.ts"
import { MAX_URL_CHARS } from "../../shared/limits.ts"
import { delay } from "./dom.ts"

/** Creates a signer whose requests the test answers, with a clock that the test advances. */
function setUpSigning(life = SIGNED_URL_SECONDS) {
  const requests: (readonly string[])[] = []
  let waiting: { readonly ms: number; readonly call: () => void }[] = []
  let now = 1_000_000
  let isDown: Error | null = null
  const signer = new LinkSigner({
    async signUrls(urls) {
      requests.push(urls)
      if (isDown !== null) throw isDown
      const signHref = (url: string) => (url.includes("gone") ? null : `${url}?token=${requests.length}`)
      return { signed: urls.map((url) => ({ url, href: signHref(url) })), expires: now / 1000 + life }
    },
    now: () => now,
    random: () => 1,
    setTimer(ms, call) {
      const one = { ms, call }
      waiting.push(one)
      return () => {
        waiting = waiting.filter((other) => other !== one)
      }
    },
  })
  const runWaiting = async (): Promise<void> => {
    for (const { call } of waiting.splice(0)) call()
    await delay(0)
  }
  return {
    signer,
    requests,
    settle: runWaiting,
    waits: () => waiting.map(({ ms }) => ms),
    pass(ms: number) {
      now += ms
    },
    down(by: Error | null = new TypeError("no network")) {
      isDown = by
    },
  }
}

describe("signatures", () => {
  test("[PG38] signed URLs for media that is rendered at almost the same time are requested together, at most a hundred per request", async () => {
    const { signer, requests, settle } = setUpSigning()
    for (let at = 0; at < 230; at++) signer.requestLink(`/media/${at % 210}`)
    await settle()
    expect(requests.map((urls) => urls.length)).toEqual([100, 100, 10])
    expect(signer.getLink("/media/7").value).toEqual({ at: "ready", href: expect.stringContaining("/media/7?token=") })
  })

  test("[PG38] a signed URL is kept until it expires, and then requested again", async () => {
    const { signer, requests, settle, pass } = setUpSigning()
    signer.requestLink("/media/a")
    await settle()
    pass((SIGNED_URL_SECONDS - 60) * 1000)
    signer.requestLink("/media/a")
    await settle()
    expect(requests).toHaveLength(1)
    pass(40_000)
    signer.requestLink("/media/a")
    expect(await Promise.all([signer.resolveLink("/media/a"), settle()])).toEqual([
      { at: "ready", href: "/media/a?token=2" },
      undefined,
    ])
  })

  test("[PG38] a refused URL stays refused; a failed request is retried when the media is rendered again", async () => {
    const { signer, requests, settle, down } = setUpSigning()
    signer.requestLink("/media/gone")
    await settle()
    signer.requestLink("/media/gone")
    await settle()
    expect(requests).toHaveLength(1)
    expect(signer.getLink("/media/gone").value).toEqual({ at: "refused" })
    down()
    signer.requestLink("/media/a")
    await settle()
    expect(signer.getLink("/media/a").value).toEqual({ at: "failed" })
    down(null)
    signer.requestLink("/media/a")
    await settle()
    expect(signer.getLink("/media/a").value.at).toBe("ready")
  })

  test("[PG55] an unreachable server is retried with growing delays, and the links don't change until it responds", async () => {
    const { signer, requests, settle, down, waits } = setUpSigning()
    const seen: string[] = []
    signer.getLink("/media/a").subscribe(({ at }) => void seen.push(at))
    down(new RequestError(503, "away"))
    signer.requestLink("/media/a")
    signer.requestLink("/media/b")
    await settle()
    const delays: (number | undefined)[] = []
    for (let n = 0; n < 7; n++) {
      delays.push(waits()[0])
      await settle()
      await settle()
    }
    expect(delays).toEqual([300, 600, 1200, 2400, 4800, 9600, 10_000])
    expect(requests).toEqual(Array(8).fill(["/media/a", "/media/b"]))
    down(null)
    await settle()
    await settle()
    expect(seen).toEqual(["asking", "failed", "ready"])
    expect([signer.getLink("/media/b").value.at, waits()]).toEqual(["ready", []])
  })

  test("[PG55] a request is sent at once when the server is known to be back, and no request is sent once no media is rendered", async () => {
    const { signer, requests, settle, down, waits } = setUpSigning()
    down()
    signer.requestLink("/media/a")
    await settle()
    signer.stopRetrying()
    expect(waits()).toEqual([])
    down(null)
    signer.retryFailed()
    await settle()
    expect([requests.length, signer.getLink("/media/a").value.at]).toEqual([2, "ready"])
  })

  test("[PG38] a refused request isn't retried; an invalid URL doesn't affect others", async () => {
    const { signer, requests, settle, down, waits } = setUpSigning()
    down(new RequestError(404, "We couldn't find that conversation."))
    signer.requestLink("/media/a")
    await settle()
    expect([signer.getLink("/media/a").value, waits()]).toEqual([{ at: "refused" }, []])
    down(null)
    const long = `https://example.com/${"x".repeat(MAX_URL_CHARS)}`
    signer.requestLink(long)
    signer.requestLink("/media/b")
    await settle()
    expect(requests.at(-1)).toEqual(["/media/b"])
    expect([signer.getLink(long).value.at, signer.getLink("/media/b").value.at]).toEqual(["refused", "ready"])
  })
})
