/**
 * service-worker.test.ts: which copy of the page the service worker stores. test/browser/service-worker.test.ts tests
 * the worker itself.
 */

import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { keepPage, readKeptPage, refreshKeptPage } from "../../client/service-worker/kept-page.ts"
import { MAX_KEPT_FILES, parseLoadedFiles } from "../../client/service-worker/loaded-files.ts"

/** The server's responses, by path. For any other path, there is no file. */
let files: Map<string, string>
let requests: string[]
/** The responses in each cache, by the cache's name and then by path. */
let stored: Map<string, Map<string, Response>>

const pageOf = (version: string): string =>
  `<script src="/assets/theme-00000000.js"></script><script type="module" src="/assets/index-${version}.js"></script>`

async function respond(path: string): Promise<Response> {
  requests.push(path)
  const text = files.get(path)
  const type = path === "/" ? "text/html; charset=utf-8" : "text/javascript"
  return new Response(text ?? "missing", { status: text === undefined ? 404 : 200, headers: { "content-type": type } })
}

function openCache(name: string) {
  const entries = stored.get(name) ?? new Map<string, Response>()
  stored.set(name, entries)
  return {
    match: async (path: string) => entries.get(path)?.clone(),
    keys: async () => [...entries.keys()].map((path) => ({ url: `http://page.test${path}` })),
    put: async (path: string, response: Response) => void entries.set(path, response),
    async addAll(paths: readonly string[]) {
      const added = await Promise.all(paths.map(async (path) => [path, await respond(path)] as const))
      if (added.some(([, { ok }]) => !ok)) throw new TypeError("A file is missing")
      for (const [path, response] of added) entries.set(path, response)
    },
  }
}

beforeEach(() => {
  files = new Map([
    ["/", pageOf("11111111")],
    ["/assets/theme-00000000.js", "theme"],
    ["/assets/index-11111111.js", "one"],
    ["/assets/index-22222222.js", "two"],
    ["/assets/dialog-33333333.js", "dialog"],
  ])
  requests = []
  stored = new Map()
  vi.stubGlobal("fetch", respond)
  vi.stubGlobal("caches", {
    open: async (name: string) => openCache(name),
    has: async (name: string) => stored.has(name),
    keys: async () => [...stored.keys()],
    delete: async (name: string) => stored.delete(name),
    match: async (path: string) =>
      [...stored.values()]
        .find((entries) => entries.has(path))
        ?.get(path)
        ?.clone(),
  })
})
afterEach(() => vi.unstubAllGlobals())

const listStored = (): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries([...stored].map(([name, entries]) => [name, [...entries.keys()].sort()]))

const FIRST = { entry: "/assets/index-11111111.js", files: ["/assets/index-11111111.js"] }
const SECOND = { entry: "/assets/index-22222222.js", files: ["/assets/index-22222222.js"] }
const KEPT_FIRST = {
  "cuecard-page /assets/index-11111111.js": ["/", "/assets/index-11111111.js", "/assets/theme-00000000.js"],
}

test("[SW3] the HTML is stored with the files that it names and those that were loaded, each once", async () => {
  await keepPage(FIRST)
  expect(listStored()).toEqual(KEPT_FIRST)
  await keepPage({ ...FIRST, files: ["/assets/index-11111111.js", "/assets/dialog-33333333.js"] })
  expect(requests.filter((path) => path === "/assets/index-11111111.js")).toHaveLength(1)
  expect(requests.filter((path) => path === "/")).toHaveLength(1)
  expect(Object.values(listStored()).flat()).toContain("/assets/dialog-33333333.js")
})

test("[SW3] at most MAX_KEPT_FILES files are stored", async () => {
  await keepPage(FIRST)
  await keepPage({ ...FIRST, files: Array.from({ length: MAX_KEPT_FILES }, (_, at) => `/assets/many-${at}.js`) })
  expect(listStored()).toEqual(KEPT_FIRST)
})

test("[SW4] storage that can't be read counts as empty", async () => {
  vi.stubGlobal("caches", { match: () => Promise.reject(new Error("The storage is damaged")) })
  expect(await readKeptPage()).toBe(undefined)
})

test("[SW5] a new version replaces the old one only once it is complete", async () => {
  await keepPage(FIRST)
  stored.set("of another program", new Map())
  files.set("/", pageOf("22222222"))
  files.delete("/assets/theme-00000000.js")
  await expect(keepPage(SECOND)).rejects.toThrow("A file is missing")
  expect(await (await readKeptPage())?.text()).toBe(pageOf("11111111"))
  files.set("/assets/theme-00000000.js", "theme")
  await keepPage(SECOND)
  expect(Object.keys(listStored())).toEqual(["of another program", "cuecard-page /assets/index-22222222.js"])
  expect(await (await readKeptPage())?.text()).toBe(pageOf("22222222"))
})

test("[SW5] a page whose version the server no longer has changes nothing", async () => {
  await keepPage(FIRST)
  await keepPage(SECOND)
  expect(listStored()).toEqual(KEPT_FIRST)
})

test("[SW4] the HTML of the stored version is replaced by each new response, and by nothing else", async () => {
  await keepPage(FIRST)
  const withTheme = `<meta name="cuecard-theme" content="{}">${pageOf("11111111")}`
  const html = { headers: { "content-type": "text/html" } }
  await refreshKeptPage(new Response(withTheme, html))
  expect(await (await readKeptPage())?.text()).toBe(withTheme)
  await refreshKeptPage(new Response(pageOf("22222222"), html))
  await refreshKeptPage(new Response(pageOf("11111111"), { ...html, status: 503 }))
  await refreshKeptPage(new Response(pageOf("11111111"), { headers: { "content-type": "text/plain" } }))
  expect(await (await readKeptPage())?.text()).toBe(withTheme)
})

test("[SW3] of the files that a message names, only those with a hash are stored", () => {
  const entry = "/assets/index-11111111.js"
  const others = [
    "/",
    "/v1/sessions",
    "/media/a",
    "//evil.example/assets/a.js",
    "/assets/../v1/me",
    "/assets/a?b",
    7,
    null,
  ]
  expect(parseLoadedFiles({ entry, files: [...others, entry] })).toEqual({ entry, files: [entry] })
  for (const wrong of [null, "text", {}, { entry }, { entry: "/", files: [] }, { entry, files: { length: 1 } }])
    expect(parseLoadedFiles(wrong)).toBe(null)
  expect(parseLoadedFiles({ entry, files: Array(MAX_KEPT_FILES + 1).fill(entry) })).toBe(null)
})
