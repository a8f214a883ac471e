/** search.test.ts: the palette's entries, its search, and the keys of shortcuts. */

import { afterEach, describe, expect, test, vi } from "vitest"
import type { SearchHit } from "../../shared/protocol/http-body.ts"
import { signal } from "@preact/signals"
import { listOrganizing } from "../../client/sidebar/organizing/session-commands.ts"
import { openSearchDialog } from "../../client/search/open-dialog.ts"
import { listPaletteCommands } from "../../client/search/palette-commands.ts"
import { type CommandContext, PAGE_COMMANDS } from "../../client/search/page-commands.ts"
import { type HitPage, PagedSearch, QUERY_DELAY_MS } from "../../client/search/paged-search.ts"
import { toPlainSnippet } from "../../client/search/plain-snippet.ts"
import { listSections } from "../../client/search/palette-items.ts"
import { rankItems } from "../../client/search/rank-items.ts"
import { isComposing, type Keys, type KeyPress, matchesKeys, nameKeys } from "../../client/search/shortcut-keys.ts"

const rank = (query: string, ...items: string[]): readonly string[] => rankItems(query, items, (item) => item)

const hit = (session: string, message: string | null): SearchHit => ({
  session,
  title: `Title of ${session}`,
  message,
  role: message === null ? "title" : "user",
  snippet: [{ text: "found", hit: true }],
  at: 5,
})

/** Returns an excerpt in which hits are written in guillemets. */
function plain(text: string): string {
  const parts = text.split(/«([^»]*)»/u).map((piece, at) => ({ text: piece, hit: at % 2 === 1 }))
  return toPlainSnippet(parts.filter((part) => part.text !== ""))
    .map((part) => (part.hit ? `«${part.text}»` : part.text))
    .join("")
}

test.each([
  ["I couldn't find **«Atlantis»**, or `code`.", "I couldn't find «Atlantis», or code."],
  ["…[How to «steep» tea](https://example.com/tea) now", "…How to «steep» tea now"],
  ["See [the page](https://exam…", "See the page…"],
  ["See [the page](https://«example».com/tea).", "See [the page](https://«example».com/tea)."],
  ["«Tea» [here](https://example.com/«tea»)", "«Tea» here"],
  ["# What I ~~can~~ «do» ## Next", "What I can «do» Next"],
  ["2 ** 3 is «8», C# too; x[1](2)", "2 ** 3 is «8», C# too; x[1](2)"],
])("[LB9] the excerpt %j is shown as %j", (text, shown) => {
  expect(plain(text)).toBe(shown)
})

describe("the order of the palette's entries", () => {
  test("[LB4] a match at the beginning ranks above a match of a word, which ranks above a match of part of a word", () => {
    expect(rank("port", "Report", "My port", "Portugal", "Trip")).toEqual(["Portugal", "My port", "Report"])
  })

  test.each([
    ["resume", "Résumé", true],
    ["ÉTÉ", "Un été", true],
    ["new mes", "Message, new", true],
    ["天气", "今天天气", true],
    ["שלום", "שָׁלוֹם", true],
    ["message old", "New message", false],
  ])("[LB4] %j in %j: %s", (query, text, isFound) => {
    expect(rank(query, text)).toEqual(isFound ? [text] : [])
  })

  test("[LB4] without a query, the newest conversations and all commands are listed, but no messages", () => {
    const sessions = Array.from({ length: 20 }, (_, at) => ({ id: `s${at}`, title: `T${at}`, active: 20 - at }))
    const source = { query: " ", sessions, commands: ["a", "b"], hits: [hit("s1", "m")], getLabel: String }
    const sections = listSections(source)
    expect(sections.map(({ kind, items }) => [kind, items.length])).toEqual([
      ["recent", 6],
      ["commands", 2],
    ])
  })

  test("[LB5] a conversation that is loaded and was also found by the server is listed only once, before the messages", () => {
    const sections = listSections({
      query: "title",
      sessions: [{ id: "near", title: "Title of near", active: 1 }],
      commands: ["Change title", "Other"],
      hits: [hit("near", null), hit("far", null), hit("far", "m1")],
      getLabel: String,
    })
    expect(sections).toEqual([
      {
        kind: "sessions",
        items: [
          { kind: "session", session: "near", title: "Title of near", at: 1 },
          { kind: "session", session: "far", title: "Title of far", at: 5 },
        ],
      },
      { kind: "commands", items: [{ kind: "command", command: "Change title" }] },
      { kind: "messages", items: [{ kind: "message", hit: hit("far", "m1") }] },
    ])
  })
})

/** Starts a search whose requests the test answers one by one. */
function startSearch() {
  vi.useFakeTimers()
  const requests: { query: string; next: string | null; answer: PromiseWithResolvers<HitPage<string>> }[] = []
  const search = new PagedSearch<string>((query, next) => {
    const answer = Promise.withResolvers<HitPage<string>>()
    requests.push({ query, next, answer })
    return answer.promise
  })
  const answer = async (at: number, page: Partial<HitPage<string>>): Promise<void> => {
    requests[at]?.answer.resolve({ hits: [], next: null, ...page })
    await vi.advanceTimersByTimeAsync(0)
  }
  return { search, requests, answer, wait: () => vi.advanceTimersByTimeAsync(QUERY_DELAY_MS) }
}

describe("a search while the user types", () => {
  afterEach(() => void vi.useRealTimers())

  test("[LB2] waits until the user pauses, and sends the last query once", async () => {
    const { search, requests, wait } = startSearch()
    for (const text of ["t", "te", "tea", "tea "]) search.setQuery(text)
    await wait()
    expect(requests.map(({ query }) => query)).toEqual(["tea"])
  })

  test("[LB2] a late page of an older query is dropped", async () => {
    const { search, requests, answer, wait } = startSearch()
    search.setQuery("old")
    await wait()
    search.setQuery("new")
    await wait()
    await answer(1, { hits: ["new hit"] })
    await answer(0, { hits: ["old hit"] })
    expect(requests).toHaveLength(2)
    expect(search.state.value).toMatchObject({ query: "new", hits: ["new hit"], isLoading: false })
  })

  test("[LB2] an emptied field shows nothing, whatever arrives", async () => {
    const { search, answer, wait } = startSearch()
    search.setQuery("old")
    await wait()
    search.setQuery("")
    await answer(0, { hits: ["old hit"] })
    expect(search.state.value).toMatchObject({ query: "", hits: [], isLoading: false })
  })

  test("[LB3] further pages are appended, and empty pages are skipped", async () => {
    const { search, requests, answer, wait } = startSearch()
    search.setQuery("tea")
    await wait()
    await answer(0, { hits: ["a"], next: "1" })
    const loaded = search.loadMore()
    await answer(1, { next: "2" })
    await answer(2, { hits: ["b"] })
    await loaded
    expect(requests.map(({ next }) => next)).toEqual([null, "1", "2"])
    expect(search.state.value).toMatchObject({ hits: ["a", "b"], next: null })
    await search.loadMore()
    expect(requests).toHaveLength(3)
  })

  test("[LB3] after a failure, which is shown, the hits stay, and the next attempt continues from there", async () => {
    const { search, requests, answer, wait } = startSearch()
    search.setQuery("tea")
    await wait()
    await answer(0, { hits: ["a"], next: "1" })
    const failed = search.loadMore()
    requests[1]?.answer.reject(new Error("no network"))
    await failed
    expect(search.state.value).toMatchObject({ hits: ["a"], error: new Error("no network"), isLoading: false })
    const loaded = search.loadMore()
    await answer(2, { hits: ["b"] })
    await loaded
    expect(requests[2]?.next).toBe("1")
    expect(search.state.value).toMatchObject({ hits: ["a", "b"], error: null })
  })
})

const press = (key: string, fields: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: `Key${key.toUpperCase()}`,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  isComposing: false,
  keyCode: 0,
  ...fields,
})

describe("the keys of shortcuts", () => {
  const mod: Keys = { key: "k", mod: true }

  test.each([
    ["Ctrl on Windows", press("k", { ctrlKey: true }), false, true],
    ["⌘ on a Mac", press("k", { metaKey: true }), true, true],
    ["Ctrl on a Mac", press("k", { ctrlKey: true }), true, false],
    ["Ctrl and ⌘", press("k", { ctrlKey: true, metaKey: true }), false, false],
    ["Shift too", press("K", { ctrlKey: true, shiftKey: true }), false, false],
    ["Caps Lock", press("K", { ctrlKey: true }), false, true],
    ["a Russian keyboard", press("л", { ctrlKey: true, code: "KeyK" }), false, true],
    ["no modifier", press("k"), false, false],
  ])("[KB2] Ctrl K or ⌘ K, pressed with %s", (_name, event, isApple, matches) => {
    expect(matchesKeys(event, mod, isApple)).toBe(matches)
  })

  test("[KB2] punctuation matches with and without Shift, because that depends on the keyboard", () => {
    expect(matchesKeys(press("?", { shiftKey: true }), { key: "?" }, false)).toBe(true)
    expect(matchesKeys(press("/", { shiftKey: true }), { key: "/" }, false)).toBe(true)
  })

  test("[KB3] keys of an input method are recognised in every browser", () => {
    expect([press("k"), press("k", { isComposing: true }), press("k", { keyCode: 229 })].map(isComposing)).toEqual([
      false,
      true,
      true,
    ])
  })

  test("[KB1] there are at least 12 shortcuts, and no two have the same keys", () => {
    const all = PAGE_COMMANDS.flatMap(({ keys }) => keys.map((key) => nameKeys(key, false).join(" ")))
    expect(PAGE_COMMANDS.filter(({ keys }) => keys.length > 0).length).toBeGreaterThanOrEqual(12)
    expect(new Set(all).size).toBe(all.length)
  })

  test("[KB2] keys have the same names as on the user's system", () => {
    expect(nameKeys({ key: "o", mod: true, shift: true }, false)).toEqual(["Ctrl", "Shift", "O"])
    expect(nameKeys({ key: "o", mod: true, shift: true }, true)).toEqual(["⇧", "⌘", "O"])
  })
})

/** Creates a page whose list contains one conversation, which is pinned. */
function createPage(openId: string | null, isReadOnly = false) {
  const nextOptions = signal<{ temporary?: true }>({})
  const router = {
    nextOptions,
    isReadOnly: signal(isReadOnly),
    controller: signal(openId === null ? null : { id: openId }),
    sessionList: { findSession: (id: string) => (id === "listed" ? { id, pinned: true } : null) },
    openFromHash() {},
  }
  const context = {
    router,
    isDrawerOpen: signal(false),
    getSidebar: () => ({ listOrganizing }),
  } as unknown as CommandContext
  return { nextOptions, commands: () => listPaletteCommands(context) }
}

describe("the palette's commands for the open conversation", () => {
  const changes = ["Temporary chat", "Pin", "Unpin", "Move to folder…", "Archive"]

  test.each([
    ["listed", false, ["Temporary chat", "Unpin", "Move to folder…", "Archive"]],
    ["foreign", false, ["Temporary chat"]],
    [null, false, ["Temporary chat"]],
    ["listed", true, []],
  ])("[LB28] open: %s, read-only: %s", (openId, isReadOnly, expected) => {
    vi.stubGlobal("document", { querySelector: () => null })
    const labels = createPage(openId, isReadOnly).commands()
    expect(labels.map(({ label }) => label).filter((label) => changes.includes(label))).toEqual(expected)
    vi.unstubAllGlobals()
  })

  test("[LB28] “Move” opens the dialog, and “Temporary chat” starts a new conversation", () => {
    vi.stubGlobal("document", { querySelector: () => null })
    vi.stubGlobal("location", { hash: "#/s/listed" })
    const { nextOptions, commands } = createPage("listed")
    const run = (name: string): void =>
      commands()
        .find(({ label }) => label === name)
        ?.run()
    run("Move to folder…")
    expect(openSearchDialog.value).toBe("move")
    run("Temporary chat")
    expect(nextOptions.value.temporary).toBe(true)
    expect(location.hash).toBe("#/")
    openSearchDialog.value = null
    vi.unstubAllGlobals()
  })
})
