/** importer.test.ts: a file on its way in: cut, sent, folded, refused, given up. */

import { describe, expect, test, vi } from "vitest"
import { type Api, RequestError } from "../../client/api.ts"
import { cutAtLines, isOneList, isPacked } from "../../client/import/cut.ts"
import { Importer, type Stage } from "../../client/import/importer.ts"
import type { Uploaded } from "../../client/import/upload.ts"
import { MAX_IMPORT_BYTES } from "../../shared/limits.ts"
import { setUp } from "./opened.ts"

const answered = (value: object, status = 200): Uploaded => ({ status, text: JSON.stringify(value) })
const DONE = { records: 3, skipped: 0, bad: [] }

function importing(upload: (path: string, body: Blob) => Promise<Uploaded>, more: Partial<Api> = {}) {
  const { api } = setUp()
  const made: string[] = []
  const erased: string[] = []
  const paths: string[] = []
  const stages: Stage[] = []
  const importer = new Importer({
    api: {
      ...api,
      createSession: (_title, id) => {
        made.push(id)
        return Promise.resolve(id)
      },
      erase: (id) => {
        erased.push(id)
        return Promise.resolve()
      },
      ...more,
    },
    upload: (path, body, _token, onSent, signal) => {
      paths.push(path)
      onSent(body.size)
      return new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new TypeError("aborted")))
        upload(path, body).then(resolve, reject)
      })
    },
    nextId: () => "new",
    after: (_ms, call) => {
      const timer = setTimeout(call)
      return () => clearTimeout(timer)
    },
  })
  importer.stage.subscribe((stage) => stages.push(stage))
  return { importer, made, erased, paths, stages }
}

const file = (text: string, name = "old.jsonl") => new File([text], name)
/** A file that says it is larger than it is. */
function hugeFile(size: number, head: string): File {
  return new Proxy(file(head), { get: (one, key) => (key === "size" ? size : fieldOf(one, key)) })
}

function fieldOf(one: File, key: string | symbol): unknown {
  const value: unknown = Reflect.get(one, key)
  return typeof value === "function" ? value.bind(one) : value
}

describe("cutting", () => {
  const texts = async (parts: readonly Blob[] | null) => Promise.all((parts ?? []).map((part) => part.text()))

  test("[PG35] each part ends at a line's end and is as long as may be; together they are the file", async () => {
    const lines = Array.from({ length: 40 }, (_, n) => `{"n":${n},"w":"${"x".repeat(n)}"}\n`).join("")
    for (const max of [60, 64, 100, 333, lines.length - 1, lines.length]) {
      const parts = await cutAtLines(new Blob([lines]), max)
      const all = await texts(parts)
      expect(all.join("")).toBe(lines)
      expect(all.every((one) => one.length <= max && one.endsWith("\n"))).toBe(true)
    }
    expect(await texts(await cutAtLines(new Blob([lines]), lines.length))).toHaveLength(1)
  })

  test("[PG35] a last line without an end is kept; a line that fits no part cannot be cut", async () => {
    expect(await texts(await cutAtLines(new Blob(["a\nbb\ncc"]), 5))).toEqual(["a\nbb\n", "cc"])
    expect(await cutAtLines(new Blob(["abcdef\n"]), 5)).toBe(null)
  })

  test("[PG35] packed files and lists are known by their first bytes", async () => {
    expect(await isPacked(new Blob([new Uint8Array([0x1f, 0x8b, 8])]))).toBe(true)
    expect(await isPacked(new Blob(["{"]))).toBe(false)
    expect(await isOneList(new Blob(["\n [{}]"]))).toBe(true)
    expect(await isOneList(new Blob(['{"a":[]}']))).toBe(false)
  })
})

describe("an import", () => {
  test("[PG35] makes a session, sends the file, asks until it is folded, and tells what was skipped", async () => {
    const progress = [
      { state: "staging", records: 3, folded: 0 },
      { state: "folding", records: 3, folded: 1 },
      { state: "done", records: 3, folded: 3 },
    ] as const
    let asked = 0
    const bad = [{ line: 2, code: "frame_malformed", text: "The frame is not a JSON object." }]
    const { importer, made, erased, paths, stages } = importing(
      () => Promise.resolve(answered({ state: "staging", records: 3, skipped: 1, bad }, 202)),
      { importProgress: () => Promise.resolve(progress[Math.min(asked++, 2)] ?? progress[2]) },
    )
    await importer.start(file("a\nb\nc\n"))
    expect(importer.stage.value).toEqual({ at: "done", session: "new", records: 3, skipped: 1, bad })
    expect({ made, erased, paths }).toEqual({ made: ["new"], erased: [], paths: ["/v1/sessions/new/import"] })
    expect(stages).toContainEqual({ at: "sending", sent: 6, size: 6 })
    expect(stages).toContainEqual({ at: "folding", folded: 1, of: 3 })
    expect(importer.name.value).toBe("old.jsonl")
  })

  test("[PG35] a server that cannot say how far it is has answered when it was done", async () => {
    const unknown = () => Promise.reject(new RequestError(404, "There is nothing here."))
    for (const said of [DONE, { ...DONE, state: "folding" }]) {
      const { importer } = importing(() => Promise.resolve(answered(said)), { importProgress: unknown })
      await importer.start(file("a\n"))
      expect(importer.stage.value).toMatchObject({ at: "done", records: 3 })
    }
  })

  test("[PG35] what is refused is told in the server's words, and leaves no session behind", async () => {
    const refusal = answered({ code: "import_empty", text: "There is nothing in this file that can be used." }, 422)
    const { importer, erased } = importing(() => Promise.resolve(refusal))
    await importer.start(file("nonsense"))
    expect(importer.stage.value).toEqual({
      at: "choose",
      error: "There is nothing in this file that can be used.",
    })
    expect(erased).toEqual(["new"])
    expect(importer.isBusy).toBe(false)
  })

  test("[PG35] given up, it stops at once, and what was begun is erased", async () => {
    const { importer, erased } = importing(() => new Promise(() => {}))
    const under = importer.start(file("a\n"))
    await vi.waitFor(() => expect(importer.stage.value).toMatchObject({ at: "sending", sent: 2 }))
    importer.cancel()
    await under
    expect(importer.stage.value).toEqual({ at: "choose", error: null })
    expect(erased).toEqual(["new"])
  })

  test("[PG35] a token that was refused is renewed once", async () => {
    const forgetToken = vi.fn()
    let tries = 0
    const send = () => Promise.resolve(++tries === 1 ? answered({ text: "no" }, 401) : answered(DONE))
    const { importer } = importing(send, { forgetToken })
    await importer.start(file("a\n"))
    expect(importer.stage.value).toMatchObject({ at: "done" })
    expect(forgetToken).toHaveBeenCalledTimes(1)
  })

  test.each([
    ["an empty file", file(""), "The file is empty."],
    ["one line", hugeFile(MAX_IMPORT_BYTES + 1, "{}"), "A line of this file is too long to be sent."],
    ["a list", hugeFile(MAX_IMPORT_BYTES + 1, "[{}]"), "A list of more than 64 MB cannot be sent in parts."],
  ])("[PG35] %s that is not for sending is told before anything is made", async (_, one, words) => {
    const { importer, made } = importing(() => Promise.resolve(answered(DONE)))
    await importer.start(one)
    expect(importer.stage.value).toMatchObject({ at: "choose", error: expect.stringContaining(words) })
    expect(made).toEqual([])
  })
})
