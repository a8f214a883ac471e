/** import-file.test.ts: importing a file: uploading, server-side processing, refusals and cancellation. */

import { describe, expect, test, vi } from "vitest"
import { RequestError } from "../../client/net/http-request.ts"
import { UnfinishedImports } from "../../client/files/unfinished-imports.ts"
import { MAX_IMPORT_BYTES, MAX_IMPORT_PARTS } from "../../shared/limits.ts"
import { settle } from "./fake-server.ts"
import { pageOf, setUp, user } from "./open-session.ts"
import { answered, createFile, createTestImporter, DONE } from "./test-importer.ts"

/** Creates a file that reports a larger size than its actual size. */
function hugeFile(size: number, head: string): File {
  return new Proxy(createFile(head), { get: (item, key) => (key === "size" ? size : fieldOf(item, key)) })
}

/** Creates a file that has a line ending wherever it may be split, and one more part than the limit allows. */
function manyParts(): File {
  const slice = () => new Blob(["\n"])
  const size = MAX_IMPORT_PARTS * MAX_IMPORT_BYTES
  return new Proxy(createFile("{}"), {
    get: (item, key) => (key === "size" ? size : key === "slice" ? slice : fieldOf(item, key)),
  })
}

function fieldOf(file: File, key: string | symbol): unknown {
  const value: unknown = Reflect.get(file, key)
  return typeof value === "function" ? value.bind(file) : value
}

describe("an import", () => {
  test("[PG35] creates a session, uploads the file, polls until it is folded, and lists skipped lines", async () => {
    const progress = [
      { state: "staging", records: 3, folded: 0 },
      { state: "folding", records: 3, folded: 1 },
      { state: "done", records: 3, folded: 3, messages: 2, kinds: { image: 1 } },
    ] as const
    let attempts = 0
    const bad = [{ line: 2, code: "frame_malformed", text: "The frame isn't a JSON object." }]
    const { importer, made, erased, paths, stages } = createTestImporter(
      () => Promise.resolve(answered({ state: "staging", records: 3, skipped: 1, bad }, 202)),
      { getImportProgress: () => Promise.resolve(progress[Math.min(attempts++, 2)] ?? progress[2]) },
    )
    await importer.startImport(createFile("a\nb\nc\n"))
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
    const { importer } = createTestImporter(() => Promise.resolve(answered(DONE)), { getImportProgress: unknown })
    await importer.startImport(createFile("a\n"))
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
    const { importer, erased } = createTestImporter(() => Promise.resolve(FOLDING), {
      getImportProgress: importProgress,
    })
    await importer.startImport(createFile("a\n"))
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining(errorText) })
    await vi.waitFor(() => expect(erased).toEqual(["new"]))
  })

  test.each([429, 500, 503, "the network"])(
    "[PG35] %s while the file is being folded counts as neither success nor failure: the page polls again",
    async (how) => {
      let attempts = 0
      const importProgress = () => {
        if (++attempts > 2) return Promise.resolve({ state: "done", records: 3, folded: 3 } as const)
        return Promise.reject(typeof how === "number" ? new RequestError(how, "Later.") : new TypeError("no network"))
      }
      const { importer, erased } = createTestImporter(() => Promise.resolve(FOLDING), {
        getImportProgress: importProgress,
      })
      await importer.startImport(createFile("a\n"))
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
    ["a connection that broke", null],
  ])("[PG35] after %s, the request is retried, and abandoned after a while", async (_, failure) => {
    const fail = () => (failure === null ? Promise.reject(new TypeError("broken")) : Promise.resolve(failure))
    let tries = 0
    const again = createTestImporter(() => (++tries < 3 ? fail() : Promise.resolve(answered(DONE))))
    await again.importer.startImport(createFile("a\n"))
    expect(again.importer.stage.value).toMatchObject({ at: "done" })
    expect(again.paths).toHaveLength(3)
    const never = createTestImporter(fail)
    await never.importer.startImport(createFile("a\n"))
    expect(never.importer.stage.value).toMatchObject({ at: "choose", error: expect.any(String) })
    expect(never.paths.length).toBeGreaterThan(3)
  })

  test("[PG35] a session whose import is cancelled offline leaves the list at once, and is erased when the page opens again", async () => {
    let isAway = true
    const erase = vi.fn(() => (isAway ? Promise.reject(new TypeError("no network")) : Promise.resolve()))
    const summary = { id: "new", title: "", created: 1, active: 1, running: false }
    const it = createTestImporter(() => new Promise(() => {}), {
      eraseSession: erase,
      listSessions: () => Promise.resolve({ sessions: [summary], next: null }),
    })
    const under = it.importer.startImport(createFile("a\n"))
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

    const other = createTestImporter(() => Promise.reject(new RequestError(422, "No.")), {
      listSessions: () => Promise.resolve({ sessions: [summary], next: null }),
    })
    await other.sessions.refresh()
    await other.importer.startImport(createFile("a\n"))
    expect(other.sessions.sessions.value).toEqual([])
  })

  const unfinished = { state: "staging", records: 1, folded: 0 } as const
  test.each([
    ["an unfinished upload is erased", unfinished, [], 1],
    ["an upload that the server abandoned is erased", { ...unfinished, state: "none" } as const, [], 1],
    ["a complete upload is kept", { ...unfinished, state: "folding" } as const, [], 0],
    ["a session with later messages is kept", { ...unfinished, state: "none" } as const, [user("u1", "Hi")], 0],
  ])("[PG35] after a page was closed during its import: %s", async (_, progress, messages, times) => {
    const { importer, erased, storage, paths, reopen } = createTestImporter(() => new Promise(() => {}), {
      getImportProgress: () => Promise.resolve(progress),
      getHistoryPage: () => Promise.resolve(pageOf(messages)),
    })
    void importer.startImport(createFile("a\n"))
    await vi.waitFor(() => expect(paths).toHaveLength(1))
    expect(storage.all.size).toBe(1)
    await reopen()
    expect(erased).toHaveLength(times)
    expect(storage.all.size).toBe(0)
  })

  test("[PG35] another page's import isn't affected", async () => {
    const { importer, erased, storage, locks } = createTestImporter(() => new Promise(() => {}))
    void importer.startImport(createFile("a\n"))
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
    const { importer, paths } = createTestImporter(() => new Promise(() => {}))
    const under = importer.startImport(createFile("a\n"))
    await vi.waitFor(() => expect(paths).toHaveLength(1))
    await importer.startImport(createFile("b\n", "second.jsonl"))
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
    const { importer, paths } = createTestImporter(() => Promise.resolve(answered({ ...DONE, skipped: 2, bad })))
    await importer.startImport(new File(text, "large.jsonl"))
    expect(paths).toEqual(["/v1/sessions/new/import?part=1&of=2", "/v1/sessions/new/import?part=2&of=2"])
    expect(importer.stage.value).toMatchObject({ at: "done", skippedLines: [{ line: 2 }, { line: 66 }] })
  })

  test("[PG35] a refusal shows the server's error text, and leaves no session behind", async () => {
    const refusal = answered({ code: "import_empty", text: "We couldn't find any messages in this file." }, 422)
    const { importer, erased } = createTestImporter(() => Promise.resolve(refusal))
    await importer.startImport(createFile("nonsense"))
    expect(importer.stage.value).toEqual({
      at: "choose",
      error: "We couldn't find any messages in this file.",
    })
    expect(erased).toEqual(["new"])
    expect(importer.isBusy).toBe(false)
  })

  test("[PG35] a cancelled import stops at once, and the new session is erased", async () => {
    const { importer, erased } = createTestImporter(() => new Promise(() => {}))
    const under = importer.startImport(createFile("a\n"))
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
    const { importer } = createTestImporter(send, { forgetToken })
    await importer.startImport(createFile("a\n"))
    expect(importer.stage.value).toMatchObject({ at: "done" })
    expect(forgetToken).toHaveBeenCalledTimes(1)
  })

  test.each([
    ["an empty file", createFile(""), "This file is empty."],
    ["a file with too long a line", hugeFile(MAX_IMPORT_BYTES + 1, "{}"), "A line in this file is too long to import."],
    ["a file with too many parts", manyParts(), "Files can be up to 4 GB."],
    ["too large a JSON array", hugeFile(MAX_IMPORT_BYTES + 1, "[{}]"), "JSON lists can be up to 64 MB."],
  ])("[PG35] %s is rejected before anything is created", async (_, item, errorText) => {
    const { importer, made } = createTestImporter(() => Promise.resolve(answered(DONE)))
    await importer.startImport(item)
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining(errorText) })
    expect(made).toEqual([])
  })
})
