/** import-file.test.ts: importing a file: splitting, uploading, folding, refusals and cancellation. */

import { describe, expect, test, vi } from "vitest"
import type { Api } from "../../client/net/api.ts"
import { RequestError } from "../../client/net/http-request.ts"
import { splitAtLines, isJsonArray, isGzip } from "../../client/files/split-file.ts"
import { Importer, type ImportStage } from "../../client/files/import-file.ts"
import type { SendFileResult } from "../../client/files/send-file.ts"
import { UnfinishedImports } from "../../client/files/unfinished-imports.ts"
import { SessionList } from "../../client/session/session-list.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import { pageOf, setUp, user } from "./open-session.ts"
import { settle } from "./fake-server.ts"
import { describeImportKind, importText } from "../../client/words/import-text.ts"

const answered = (value: object, status = 200): SendFileResult => ({ status, text: JSON.stringify(value) })
const DONE = { records: 3, skipped: 0, bad: [] }

function importing(
  upload: (path: string, body: Blob) => Promise<SendFileResult>,
  more: Partial<Api> = {},
  createId = () => "new",
) {
  const { api: plain, storage, locks } = setUp()
  const made: string[] = []
  const erased: string[] = []
  const paths: string[] = []
  const stages: ImportStage[] = []
  const api: Api = {
    ...plain,
    createSession: (_title, id) => {
      made.push(id)
      return Promise.resolve(id)
    },
    eraseSession: (id) => {
      erased.push(id)
      return Promise.resolve()
    },
    ...more,
  }
  const sessions = new SessionList({ api, now: () => 0, setTimer: () => () => {}, isVisible: () => true })
  const remembering = () =>
    new UnfinishedImports({
      api,
      storage,
      withLock: locks.withLock,
      eraseSession: (id) => sessions.eraseSession(id, true),
    })
  const importer = new Importer({
    api,
    unfinishedImports: remembering(),
    random: () => 1,
    sendFile: (path, body, _token, onSent, signal) => {
      paths.push(path)
      onSent(body.size)
      return new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new TypeError("aborted")))
        upload(path, body).then(resolve, reject)
      })
    },
    createId,
    setTimer: (_ms, call) => {
      const timer = setTimeout(call)
      return () => clearTimeout(timer)
    },
  })
  importer.stage.subscribe((stage) => stages.push(stage))
  /** Closes the page and opens it again. */
  const reopen = async () => {
    locks.free()
    remembering().settleStale()
    await settle()
  }
  return { importer, sessions, storage, locks, made, erased, paths, stages, reopen }
}

const file = (text: string, name = "old.jsonl") => new File([text], name)
/** Creates a file that reports a larger size than it has. */
function hugeFile(size: number, head: string): File {
  return new Proxy(file(head), { get: (one, key) => (key === "size" ? size : fieldOf(one, key)) })
}

/** Creates a file with a line ending wherever it may be split. It needs one part too many. */
function manyParts(): File {
  const slice = () => new Blob(["\n"])
  const size = MAX_IMPORT_PARTS * MAX_IMPORT_BYTES
  return new Proxy(file("{}"), {
    get: (one, key) => (key === "size" ? size : key === "slice" ? slice : fieldOf(one, key)),
  })
}

function fieldOf(one: File, key: string | symbol): unknown {
  const value: unknown = Reflect.get(one, key)
  return typeof value === "function" ? value.bind(one) : value
}

describe("splitting", () => {
  const texts = async (parts: readonly Blob[] | null) => Promise.all((parts ?? []).map((part) => part.text()))

  test("[PG35] each part ends at a line ending and is as long as allowed; together the parts equal the file", async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `{"n":${n},"w":"${"x".repeat(n)}"}\n`).join("")
    for (const max of [60, 64, 100, 333, lines.length - 1, lines.length]) {
      const parts = await splitAtLines(new Blob([lines]), max)
      const all = await texts(parts)
      expect(all.join("")).toBe(lines)
      expect(all.every((one) => one.length <= max && one.endsWith("\n"))).toBe(true)
    }
    expect(await texts(await splitAtLines(new Blob([lines]), lines.length))).toHaveLength(1)
  })

  test("[PG35] a last line without a line ending is kept; a line longer than a part can't be split", async () => {
    expect(await texts(await splitAtLines(new Blob(["a\nbb\ncc"]), 5))).toEqual(["a\nbb\n", "cc"])
    expect(await splitAtLines(new Blob(["abcdef\n"]), 5)).toBe(null)
  })

  test("[PG35] compressed files and JSON arrays are recognised by their first bytes", async () => {
    expect(await isGzip(new Blob([new Uint8Array([0x1f, 0x8b, 8])]))).toBe(true)
    expect(await isGzip(new Blob(["{"]))).toBe(false)
    expect(await isJsonArray(new Blob(["\n [{}]"]))).toBe(true)
    expect(await isJsonArray(new Blob(['{"a":[]}']))).toBe(false)
  })
})

describe("an import", () => {
  test("[PG35] creates a session, uploads the file, polls until it is folded, and lists skipped lines", async () => {
    const progress = [
      { state: "staging", records: 3, folded: 0 },
      { state: "folding", records: 3, folded: 1 },
      { state: "done", records: 3, folded: 3, messages: 2, kinds: { image: 1 } },
    ] as const
    let attempts = 0
    const bad = [{ line: 2, code: "frame_malformed", text: "The frame isn't a JSON object." }]
    const { importer, made, erased, paths, stages } = importing(
      () => Promise.resolve(answered({ state: "staging", records: 3, skipped: 1, bad }, 202)),
      { getImportProgress: () => Promise.resolve(progress[Math.min(attempts++, 2)] ?? progress[2]) },
    )
    await importer.startImport(file("a\nb\nc\n"))
    expect(importer.stage.value).toEqual({
      at: "done",
      session: "new",
      records: 3,
      skipped: 1,
      skippedLines: bad,
      messages: 2,
      kinds: { image: 1 },
      export: null,
    })
    expect(importer.hasSummary()).toBe(true)
    expect({ made, erased, paths }).toEqual({ made: ["new"], erased: [], paths: ["/v1/sessions/new/import"] })
    expect(stages).toContainEqual({ at: "sending", sent: 6, size: 6 })
    expect(stages).toContainEqual({ at: "folding", folded: 1, of: 3 })
    expect(importer.fileName.value).toBe("old.jsonl")
  })

  test("[PG35] an import succeeds on a server without a progress route, which responds only when it is done", async () => {
    const unknown = () => Promise.reject(new RequestError(404, "There's nothing at this address."))
    const { importer } = importing(() => Promise.resolve(answered(DONE)), { getImportProgress: unknown })
    await importer.startImport(file("a\n"))
    expect(importer.stage.value).toMatchObject({ at: "done", records: 3 })
  })

  const FOLDING = answered({ ...DONE, state: "folding" }, 202)
  test.each([
    [
      "says that there is none",
      () => Promise.resolve({ state: "none", records: 0, folded: 0 } as const),
      "interrupted",
    ],
    ["reports an unknown session", () => Promise.reject(new RequestError(404, "Not found.")), "Not found."],
    ["refuses", () => Promise.reject(new RequestError(403, "Not yours.")), "Not yours."],
  ])("[PG35] a server that is folding and then %s hasn't finished", async (_, importProgress, errorText) => {
    const { importer, erased } = importing(() => Promise.resolve(FOLDING), { getImportProgress: importProgress })
    await importer.startImport(file("a\n"))
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining(errorText) })
    await vi.waitFor(() => expect(erased).toEqual(["new"]))
  })

  test.each([429, 500, 503, "the network"])(
    "[PG35] %s while folding is neither success nor failure: it polls again",
    async (how) => {
      let attempts = 0
      const importProgress = () => {
        if (++attempts > 2) return Promise.resolve({ state: "done", records: 3, folded: 3 } as const)
        return Promise.reject(typeof how === "number" ? new RequestError(how, "Later.") : new TypeError("no network"))
      }
      const { importer, erased } = importing(() => Promise.resolve(FOLDING), { getImportProgress: importProgress })
      await importer.startImport(file("a\n"))
      expect(importer.stage.value).toMatchObject({ at: "done", records: 3 })
      expect({ attempts, erased }).toEqual({ attempts: 3, erased: [] })
    },
  )

  test.each([
    ["429", answered({ text: "Too many." }, 429)],
    ["503", answered({ text: "Busy." }, 503)],
    [
      "an upload that still seems to be in progress",
      answered({ code: "import_running", text: "Another upload is coming in." }, 409),
    ],
    ["a line that broke", null],
  ])("[PG35] after %s the request is retried, and abandoned after a while", async (_, failure) => {
    const fail = () => (failure === null ? Promise.reject(new TypeError("broken")) : Promise.resolve(failure))
    let tries = 0
    const again = importing(() => (++tries < 3 ? fail() : Promise.resolve(answered(DONE))))
    await again.importer.startImport(file("a\n"))
    expect(again.importer.stage.value).toMatchObject({ at: "done" })
    expect(again.paths).toHaveLength(3)
    const never = importing(fail)
    await never.importer.startImport(file("a\n"))
    expect(never.importer.stage.value).toMatchObject({ at: "choose", error: expect.any(String) })
    expect(never.paths.length).toBeGreaterThan(3)
  })

  test("[PG35] a session whose import is cancelled offline leaves the list at once, and is erased when the page opens again", async () => {
    let isAway = true
    const erase = vi.fn(() => (isAway ? Promise.reject(new TypeError("no network")) : Promise.resolve()))
    const summary = { id: "new", title: "", created: 1, active: 1, running: false }
    const it = importing(() => new Promise(() => {}), {
      eraseSession: erase,
      listSessions: () => Promise.resolve({ sessions: [summary], next: null }),
    })
    const under = it.importer.startImport(file("a\n"))
    await vi.waitFor(() => expect(it.importer.stage.value).toMatchObject({ at: "sending", sent: 2 }))
    await it.sessions.refresh()
    it.importer.cancelImport()
    await under
    await vi.waitFor(() => expect(erase).toHaveBeenCalledTimes(1))
    expect(it.sessions.notice.value).toBe(null)
    isAway = false
    await it.reopen()
    expect(erase).toHaveBeenCalledTimes(2)
    await it.reopen()
    expect(erase).toHaveBeenCalledTimes(2)
    expect(it.storage.all.size).toBe(0)

    const other = importing(() => Promise.reject(new RequestError(422, "No.")), {
      listSessions: () => Promise.resolve({ sessions: [summary], next: null }),
    })
    await other.sessions.refresh()
    await other.importer.startImport(file("a\n"))
    expect(other.sessions.sessions.value).toEqual([])
  })

  const unfinished = { state: "staging", records: 1, folded: 0 } as const
  test.each([
    ["an unfinished upload is erased", unfinished, [], 1],
    ["an upload that the server gave up is erased", { ...unfinished, state: "none" } as const, [], 1],
    ["a complete upload is kept", { ...unfinished, state: "folding" } as const, [], 0],
    ["a session with later messages is kept", { ...unfinished, state: "none" } as const, [user("u1", "Hi")], 0],
  ])("[PG35] after a page was closed during its import: %s", async (_, progress, messages, times) => {
    const { importer, erased, storage, paths, reopen } = importing(() => new Promise(() => {}), {
      getImportProgress: () => Promise.resolve(progress),
      getHistoryPage: () => Promise.resolve(pageOf(messages)),
    })
    void importer.startImport(file("a\n"))
    await vi.waitFor(() => expect(paths).toHaveLength(1))
    expect(storage.all.size).toBe(1)
    await reopen()
    expect(erased).toHaveLength(times)
    expect(storage.all.size).toBe(0)
  })

  test("[PG35] another page's import isn't touched", async () => {
    const { importer, erased, storage, locks } = importing(() => new Promise(() => {}))
    void importer.startImport(file("a\n"))
    await vi.waitFor(() => expect(importer.stage.value).toMatchObject({ at: "sending", sent: 2 }))
    const { api } = setUp()
    const importProgress = () => Promise.resolve(unfinished)
    const erase = vi.fn(() => Promise.resolve(true))
    new UnfinishedImports({
      api: { ...api, getImportProgress: importProgress },
      storage,
      withLock: locks.withLock,
      eraseSession: erase,
    }).settleStale()
    await settle()
    expect(erase).not.toHaveBeenCalled()
    expect(erased).toEqual([])
  })

  test("[PG35] a file chosen during an import is rejected, and its name is shown", async () => {
    const { importer, paths } = importing(() => new Promise(() => {}))
    const under = importer.startImport(file("a\n"))
    await vi.waitFor(() => expect(paths).toHaveLength(1))
    await importer.startImport(file("b\n", "second.jsonl"))
    expect(importer.rejectedFileName.value).toBe("second.jsonl")
    expect(importer.fileName.value).toBe("old.jsonl")
    importer.cancelImport()
    await under
    expect(paths).toHaveLength(1)
  })

  test("[PG35] a skipped line is listed by its number in the file, whatever part it is in", async () => {
    const line = `${"x".repeat(1_048_575)}\n`
    const text = Array.from({ length: 65 }, () => line)
    const bad = [
      { line: 2, code: "frame_malformed", text: "No." },
      { part: 2, line: 2, code: "frame_malformed", text: "No." },
    ]
    const { importer, paths } = importing(() => Promise.resolve(answered({ ...DONE, skipped: 2, bad })))
    await importer.startImport(new File(text, "large.jsonl"))
    expect(paths).toEqual(["/v1/sessions/new/import?part=1&of=2", "/v1/sessions/new/import?part=2&of=2"])
    expect(importer.stage.value).toMatchObject({ at: "done", skippedLines: [{ line: 2 }, { line: 66 }] })
  })

  test("[PG35] a refusal shows the server's error text, and leaves no session behind", async () => {
    const refusal = answered({ code: "import_empty", text: "We couldn't find any messages in this file." }, 422)
    const { importer, erased } = importing(() => Promise.resolve(refusal))
    await importer.startImport(file("nonsense"))
    expect(importer.stage.value).toEqual({
      at: "choose",
      error: "We couldn't find any messages in this file.",
    })
    expect(erased).toEqual(["new"])
    expect(importer.isBusy).toBe(false)
  })

  test("[PG35] a cancelled import stops at once, and the new session is erased", async () => {
    const { importer, erased } = importing(() => new Promise(() => {}))
    const under = importer.startImport(file("a\n"))
    await vi.waitFor(() => expect(importer.stage.value).toMatchObject({ at: "sending", sent: 2 }))
    importer.cancelImport()
    await under
    expect(importer.stage.value).toEqual({ at: "choose", error: null })
    expect(erased).toEqual(["new"])
  })

  test("[PG35] a refused token is renewed once", async () => {
    const forgetToken = vi.fn()
    let tries = 0
    const send = () => Promise.resolve(++tries === 1 ? answered({ text: "no" }, 401) : answered(DONE))
    const { importer } = importing(send, { forgetToken })
    await importer.startImport(file("a\n"))
    expect(importer.stage.value).toMatchObject({ at: "done" })
    expect(forgetToken).toHaveBeenCalledTimes(1)
  })

  test.each([
    ["an empty file", file(""), "This file is empty."],
    ["a file with too long a line", hugeFile(MAX_IMPORT_BYTES + 1, "{}"), "A line of this file is too long to import."],
    ["a file with too many parts", manyParts(), "Files can be up to 4 GB."],
    ["too large a JSON array", hugeFile(MAX_IMPORT_BYTES + 1, "[{}]"), "JSON lists can be up to 64 MB."],
  ])("[PG35] %s is rejected before anything is created", async (_, one, errorText) => {
    const { importer, made } = importing(() => Promise.resolve(answered(DONE)))
    await importer.startImport(one)
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining(errorText) })
    expect(made).toEqual([])
  })
})

describe("a data export", () => {
  const conversation = (title: string, fields: object = { mapping: {}, current_node: "a" }) => ({ title, ...fields })
  const exported = (...list: object[]) => file(JSON.stringify(list), "conversations.json")

  test("[IH10] of several conversations: each is imported into its own session, and one without messages is skipped", async () => {
    const titles: string[] = []
    let created = 0
    const { importer, made, erased, stages } = importing(
      async (_path, body) => {
        const { title } = JSON.parse(await body.text()) as { title: string }
        titles.push(title)
        if (title === "none") return answered({ error: { code: "import_empty", message: "Nothing" } }, 422)
        return answered({ ...DONE, state: "done", messages: 2, kinds: { image: 1, system: 2 } })
      },
      {},
      () => `s${++created}`,
    )
    await importer.startImport(
      exported(conversation("one"), conversation("none"), conversation("two", { chat_messages: [] })),
    )
    expect(titles).toEqual(["one", "none", "two"])
    expect({ made, erased }).toEqual({ made: ["s1", "s2", "s3"], erased: ["s2"] })
    expect(stages).toContainEqual({ at: "several", done: 2, of: 3 })
    expect(stages.some(({ at }) => at === "folding")).toBe(false)
    expect(importer.stage.value).toEqual({
      at: "done",
      session: "s1",
      records: 6,
      skipped: 0,
      skippedLines: [],
      messages: 4,
      kinds: { image: 2, system: 4 },
      export: { imported: 2, empty: 1, leftOut: 0 },
    })
    expect(importer.hasSummary()).toBe(true)
  })

  test("[IH10] of one conversation, or a list of something else, is uploaded unchanged", async () => {
    for (const one of [
      exported(conversation("one")),
      exported({ role: "user", content: "Hi" }),
      file('{"mapping":{}}'),
    ]) {
      const bodies: Blob[] = []
      const { importer } = importing((_path, body) => {
        bodies.push(body)
        return Promise.resolve(answered({ ...DONE, messages: 1 }))
      })
      await importer.startImport(one)
      expect(bodies).toEqual([one])
      expect(importer.stage.value).toMatchObject({ at: "done", messages: 1, export: null })
      expect(importer.hasSummary()).toBe(false)
    }
  })

  test("[IH10] conversations imported before a cancellation stay", async () => {
    let created = 0
    const { importer, erased } = importing(
      () => {
        if (created === 2) importer.cancelImport()
        return Promise.resolve(answered({ ...DONE, messages: 1 }))
      },
      {},
      () => `s${++created}`,
    )
    await importer.startImport(exported(conversation("one"), conversation("two"), conversation("three")))
    expect(importer.stage.value).toEqual({ at: "choose", error: null })
    await settle()
    expect(erased).toEqual(["s2"])
  })

  test("[IH10] choosing a ZIP archive shows what to do instead", async () => {
    const { importer, made } = importing(() => Promise.resolve(answered(DONE)))
    await importer.startImport(file("PK\u0003\u0004…", "export.zip"))
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining("Unzip it") })
    expect(made).toEqual([])
  })
})

test("[IH9] the summary counts messages, not records, and names each kind", () => {
  expect(importText.summary(2, 4)).toBe("Imported 2 messages.")
  expect(importText.summary(null, 1)).toBe("Imported 1 record.")
  expect(importText.exportSummary(12, 1, 3, 240)).toBe(
    "Imported 12 conversations with 240 messages. 1 conversation without messages was skipped. 3 more in this file were left out.",
  )
  const kinds = {
    image: 2,
    canvas: 1,
    branch: 2,
    long_question: 1,
    hidden_thinking: 1,
    "block:hologram": 3,
    "line:x": 1,
    "message:narrator": 2,
    text: 1,
    result: 2,
    output: 1_000,
    start: 1,
    call: 2,
    other: 1,
  }
  expect(Object.entries(kinds).map(([kind, count]) => describeImportKind(kind, count))).toEqual([
    "2 images couldn't be imported.",
    "1 canvas was imported as text.",
    "2 messages of other branches of the conversation aren't shown.",
    "1 message of the user over 64 KB was shortened.",
    "1 thinking block can't be read, because the provider encrypted it.",
    "3 blocks of the unknown type “hologram”, imported as text.",
    "1 line of the unknown type “x” isn't shown.",
    "2 messages of the unknown role “narrator”, imported as text.",
    "1 piece of text was dropped: too late, too much, or different from what is shown.",
    "2 tool results were dropped: too late, too much, or different from what is shown.",
    "1,000 pieces of tool output were dropped: too late, too much, or different from what is shown.",
    "1 start or approval of tool calls was dropped: too late, too much, or different from what is shown.",
    "2 tool calls beyond the limit or after the end of a response were dropped.",
    "1 block of other unknown types, imported as text.",
  ])
})
