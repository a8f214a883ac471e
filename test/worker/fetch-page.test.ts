/** fetch-page.test.ts: tests the tool `fetch_page` with real pages and hostile servers on loopback. */

import { env } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_CARD_BYTES } from "../../shared/limits.ts"
import { countUtf8Bytes } from "../../shared/truncate.ts"
import { MAX_PART_CHARS } from "../../worker/tool/page/read-page.ts"
import { createPageTool } from "../../worker/tool/page/page-tool.ts"
import { connect } from "../support/socket.ts"
import { readUpstream, upstreamUrl } from "../support/upstream-client.ts"
import { answerTo, beginTurn, expectSame, freshSession, say, script, toolsIn } from "./session-helpers.ts"
import { toolContext } from "./tools.ts"

/** A time limit in milliseconds that is longer than any test takes. */
const PATIENT_MS = 600_000

type PageResult = { readonly [field: string]: unknown } & { readonly text: string; readonly next_offset?: number }

const LOCAL = { ENVIRONMENT: "local" }
/** An environment in which the loopback server responds for public URLs. */
const PUBLIC = { ENVIRONMENT: "production", MEDIA_UPSTREAM: upstreamUrl(env) }

async function fetchPage(
  url: string,
  { offset, more = LOCAL, ms = PATIENT_MS }: { offset?: number; more?: object; ms?: number } = {},
): Promise<PageResult> {
  const args = { url, ...(offset === undefined ? {} : { offset }) }
  return (await createPageTool(more, ms).execute(args, toolContext())) as PageResult
}

let runs = 0

function loopbackUrl(scenario: string): { readonly url: string; readonly run: string } {
  runs += 1
  const run = `page${runs}`
  return { url: `${upstreamUrl(env)}/page/${scenario}/${run}`, run }
}

const playPage = (scenario: string, options = {}) => fetchPage(loopbackUrl(scenario).url, options)

describe("the text of a page", () => {
  test("[BT6] contains the headings, paragraphs, lists and table rows of the main part, and nothing that readers don't see", async () => {
    const { url } = loopbackUrl("ok")
    expect(await fetchPage(`${url}#part`)).toEqual({
      url,
      title: "Growing tea & herbs",
      site: "127.0.0.1",
      excerpt: "How tea grows — in short.",
      text: [
        "# Growing tea",
        "Tea grows in warm and wet places.\nIt likes acid soil, and a slope.",
        "## What it needs",
        "- Rain\n- Warmth\n- but no frost",
        "Month | Rain\nMay | 120 mm",
        "Harvest begins in the third year. A bush gives leaves for fifty years if somebody cares for it <well>.",
        "  soil\n    pH 5",
      ].join("\n\n"),
      sources: [{ url, title: "Growing tea & herbs", quote: "How tea grows — in short." }],
    })
  })

  test.each([
    ["plain", "First line.\n\nSecond line."],
    ["latin1", "Café crème"],
    ["meta-charset", "Café"],
    ["unknown-charset", "Café"],
    ["utf16", "Café"],
  ])("[BT5] %s is decoded", async (scenario, text) => {
    expect(await playPage(scenario)).toMatchObject({ text, title: "127.0.0.1" })
  })

  test("[BT6] a long page is read in parts, which together make up the whole text", async () => {
    const { url } = loopbackUrl("long")
    let text = ""
    let offset: number | undefined
    for (let part = 0; part < 9; part++) {
      const result = await fetchPage(url, offset === undefined ? {} : { offset })
      expect(result.text.length).toBeLessThanOrEqual(MAX_PART_CHARS)
      expect(countUtf8Bytes(JSON.stringify(result))).toBeLessThanOrEqual(MAX_CARD_BYTES)
      text += result.text
      offset = result.next_offset
      if (offset === undefined) break
    }
    expect(text).toBe(Array(800).fill("one two three four five six seven eight nine ten").join("\n\n"))
    expect(await fetchPage(url, { offset: 10_000_000 })).toMatchObject({ code: "tool_arguments" })
  })

  test("[BT7] text that looks like a result, a trailer or a file stays plain text in a field", async () => {
    const result = await playPage("sources")
    expect(result).toMatchObject({
      text: expect.stringContaining("<span id='fetch_page_1'>"),
      sources: [{ title: "127.0.0.1" }],
    })
    expect(JSON.stringify(result)).not.toContain("\n\n")
  })
})

describe("fetching", () => {
  test.each([
    "http://example.com/",
    "https://10.0.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://localhost/",
    "https://metadata.google.internal/",
    "https://user:password@example.com/",
    "https://example.com:22/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,hi",
    "ftp://example.com/",
    "example.com",
    "http://127.0.0.1:8787/",
    "https://chat.example.org/v1/agents",
    "https://acme.chat.example.net/",
  ])("[BT4] %s isn't fetched", async (url) => {
    const own = { PAGE_ORIGIN: "https://chat.example.org", PAGE_DOMAIN: "chat.example.net" }
    const result = await fetchPage(url, { more: { ...PUBLIC, ...own } })
    expect(result).toMatchObject({ code: "tool_arguments", details: expect.stringContaining("/url") })
  })

  test.each([
    "http://10.0.0.1/",
    "https://192.168.1.1/admin",
    "http://localhost:8787/",
    upstreamUrl(env),
    "https://[::ffff:127.0.0.1]/",
    "file:///etc/passwd",
    "https://example.com@10.0.0.1/",
    "http://page.example.com/ok/x",
  ])("[BT4] a redirect from a public page to %s isn't followed", async (target) => {
    const url = `https://page.example.com/redirect:${encodeURIComponent(target)}/to`
    for (const more of [PUBLIC, { ...PUBLIC, ENVIRONMENT: "local" }]) {
      const result = await fetchPage(url, { more })
      expect(result).toEqual({
        error: "The page can't be read.",
        details: expect.stringContaining("redirects to an address"),
      })
    }
  })

  test("[BT4] five redirects are followed, but not a sixth or a loop; the source is the last URL", async () => {
    expect(await fetchPage("https://page.example.com/hops:5/r", { more: PUBLIC })).toMatchObject({
      url: "https://page.example.com/hops:0/r",
      sources: [{ url: "https://page.example.com/hops:0/r" }],
    })
    for (const scenario of ["hops:6", "loop"])
      expect(await fetchPage(`https://page.example.com/${scenario}/r`, { more: PUBLIC })).toMatchObject({
        details: "It redirects more than 5 times.",
      })
  })

  test("[BT4] the request contains nothing about the user", async () => {
    await fetchPage("https://page.example.com/ok/quiet", { more: PUBLIC })
    const [seen] = await readUpstream(env, "page.example.com-ok-quiet")
    const headers = seen?.body as { readonly [name: string]: string }
    expect(headers["user-agent"]).toBe("Cuecard-Page/1")
    expect(headers["x-real-ip"]).toBe("::")
    for (const name of ["authorization", "cookie", "referer", "origin", "traceparent"])
      expect(headers[name]).toBeUndefined()
  })

  test.each(["application/pdf", "image/png", "application/json", "text/css", "", "text/html-x"])(
    "[BT5] a page of type %j isn't accepted",
    async (type) => {
      expect(await playPage(`type:${encodeURIComponent(type)}`)).toMatchObject({
        error: "The page can't be read.",
        details: "It is neither a page nor plain text.",
      })
    },
  )

  test.each([204, 206, 401, 404, 500])(
    "[BT5] a page with status %i isn't accepted, and its text isn't in the error",
    async (status) => {
      const result = await playPage(`status:${status}`)
      expect(result).toMatchObject({
        error: "The page can't be read.",
        details: `The server returned status ${status}.`,
      })
      expect(JSON.stringify(result)).not.toContain("Secret")
    },
  )

  test("[BT5] an endless page is read up to the limit, and then the connection is closed; the result for a long page is marked as incomplete", async () => {
    const { url, run } = loopbackUrl("endless")
    const result = await fetchPage(url)
    expect(result).toMatchObject({ text: expect.stringMatching(/^word word/), next_offset: expect.any(Number) })
    await expect.poll(async () => (await readUpstream(env, run))[0]?.closed).toBe(true)
    expect(await playPage("packed", { offset: 1_048_000 })).toMatchObject({ incomplete: true })
    const big = await playPage("big", { offset: 99_990 })
    expect(big).toMatchObject({ incomplete: true })
    expect(big.text).not.toContain("never")
  })

  test.each(["silent", "drip"])("[BT5] a request to a %s server ends in time", async (scenario) => {
    const { url, run } = loopbackUrl(scenario)
    const result = await fetchPage(url, { ms: 200 })
    expect(result).toEqual({ error: "The page can't be read.", details: "It didn't arrive within 0.2 s." })
    await expect.poll(async () => (await readUpstream(env, run))[0]?.closed).toBe(true)
  })

  test("[BT5] a stopped call ends at once; an unreachable host and a page without text are errors", async () => {
    const abort = new AbortController()
    const { url, run } = loopbackUrl("silent")
    const ended = createPageTool(LOCAL, PATIENT_MS).execute({ url }, toolContext({ signal: abort.signal }))
    await expect.poll(async () => (await readUpstream(env, run)).length).toBe(1)
    abort.abort()
    expect(await ended).toMatchObject({ details: "The call was stopped." })
    expect(await fetchPage("http://127.0.0.1:9/")).toMatchObject({ details: "The server can't be reached." })
    expect(await playPage("empty")).toMatchObject({ error: "The page has no readable text." })
  })
})

describe("approval", () => {
  const SECRET = "https://page.example.com/ok/x?secret=42"

  test.each([
    ["if the user wrote the URL", `/say Read page.example.com/ok/x please`, "https://page.example.com/ok/x", false],
    [
      "if the user wrote the URL in another form",
      "/say HTTPS://PAGE.EXAMPLE.COM/OK/x/",
      "https://page.example.com/ok/x#part",
      false,
    ],
    ["if the user wrote only its beginning", "/say https://page.example.com/ok/x", SECRET, true],
    ["if nobody wrote the URL", "/say hello", SECRET, true],
    [
      "if a result named it as a source",
      '/call search {"query":"tides"}',
      "https://example.com/library/sea/tides",
      false,
    ],
  ])("[BT11] a call needs approval unless its URL is known: %s", async (_, question, url, asked) => {
    const id = await freshSession("known")
    expect(await isAsked(id, question, url)).toBe(asked)
  })

  /**
   * Returns whether the call waits for approval. The script is part of the user's message, so the URL in it is written
   * with escapes that only a JSON parser decodes.
   */
  async function isAsked(id: string, question: string, url: string): Promise<boolean> {
    const client = await connect(id)
    client.say({ type: "send", id: "first", content: question })
    await client.untilEnd("first")
    const args = JSON.stringify({ url }).replace("example.", "example\\u002e")
    const content = script([{ type: "tool_call", name: "fetch_page", args }], [say("Done.")])
    client.say({ type: "send", id: "last", content })
    await client.untilTrue(() => ["waiting", "completed"].includes(answerTo(client, "last")?.status ?? ""))
    return answerTo(client, "last")?.status === "waiting"
  }

  test("[BT11] a URL that a tool repeats from its arguments doesn't count as known", async () => {
    const id = await freshSession("repeat")
    const client = await connect(id)
    const hidden = (name: string, args: object): object => ({
      type: "tool_call",
      name,
      args: JSON.stringify(args).replaceAll("secret", "s\\u0065cret"),
    })
    const list = hidden("list", { title: "T", items: [{ text: SECRET }] })
    const echo = hidden("search", { query: SECRET })
    client.say({ type: "send", id: "q1", content: script([list, echo], [hidden("fetch_page", { url: SECRET })]) })
    await client.untilTrue(() => answerTo(client, "q1")?.status === "waiting")
    expect(toolsIn(answerTo(client, "q1")).at(-1)).toMatchObject({ name: "fetch_page", approval: "asked" })
  })
})

test("[BT7] [BT10] in a session, the page is shown as a card and a source, both live and after a reload", async () => {
  const id = await freshSession("page")
  const client = await connect(id)
  await beginTurn(client, "q1", '/call fetch_page {"url":"https://page.example.com/ok/session"}', 2)
  await client.untilEnd("q1")
  const segments = answerTo(client, "q1")?.segments ?? []
  expect(segments.find(({ type }) => type === "rich")).toMatchObject({
    tag: "fetch_page_1",
    payload: expect.objectContaining({ title: "Growing tea & herbs", site: "page.example.com" }),
    view: expect.stringMatching(/^page@/),
  })
  expect(segments.at(-1)).toEqual({
    type: "source",
    url: "https://page.example.com/ok/session",
    title: "Growing tea & herbs",
    quote: "How tea grows — in short.",
  })
  await expectSame(id, client)
})

test("[BT7] in a session, a page that imitates results adds only its own card and source", async () => {
  const id = await freshSession("page")
  const client = await connect(id)
  await beginTurn(client, "q1", '/call fetch_page {"url":"https://page.example.com/sources/forged"}', 2)
  await client.untilEnd("q1")
  const segments = answerTo(client, "q1")?.segments ?? []
  expect(segments.map(({ type }) => type)).toEqual(["tool", "rich", "source"])
  expect(segments.at(-1)).toMatchObject({ url: "https://page.example.com/sources/forged" })
})
