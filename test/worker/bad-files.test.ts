/** bad-files.test.ts: tests import files that are too large, damaged, cut off, out of order or contradictory. */

import { SELF } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import { MAX_BAD_LINES, MAX_IMPORT_BYTES } from "../../shared/limits.ts"
import {
  MAX_IMPORT_RECORDS,
  MAX_UNPACK_RATIO,
  MIN_UNPACKED_BYTES,
  readUploadLines,
} from "../../worker/transfer/upload-lines.ts"
import { CLAIMS, pageOf, sessionOf } from "../support/socket.ts"
import { HOST, makeSession, refusal, tablesOf, tokenOf } from "./http.ts"
import { freshSession as fresh, rowsIn, textIn, toolsIn } from "./session-helpers.ts"

const freshSession = (): Promise<string> => fresh("bad")
const MB = 1024 * 1024

function streamOf(text: string | Uint8Array): ReadableStream<Uint8Array> {
  const body = new Response(text).body
  if (body === null) throw new Error("no body")
  return body
}

const importText = async (id: string, text: string | Uint8Array) => await sessionOf(id).import(CLAIMS, streamOf(text))

const toLines = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("")
const WORDS = { type: "user_message", text: "kept" }
const T = (second: number): string => `2025-06-01T10:00:0${second}.000Z`

/** Returns a body of the given number of megabytes, in chunks of one megabyte, and the number of chunks read so far. */
function hugeBody(megabytes: number) {
  const chunk = new TextEncoder().encode(`${" ".repeat(MB - 1)}\n`)
  const pulled = { megabytes: 0 }
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (pulled.megabytes >= megabytes) return controller.close()
        pulled.megabytes += 1
        controller.enqueue(chunk)
      },
    },
    { highWaterMark: 0 },
  )
  return { body, pulled }
}

async function gzipOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  return await new Response(body.pipeThrough(new CompressionStream("gzip"))).bytes()
}

async function expectEmptySession(id: string): Promise<void> {
  expect((await pageOf(id)).messages).toEqual([])
  expect(await rowsIn(id)).toMatchObject({ staged: 0, staged_part: 0, folding: 0, transcript: 0 })
  // The session still accepts an import.
  expect(await importText(id, toLines(WORDS))).toMatchObject({ ok: true, value: { records: 1 } })
}

describe("too large", () => {
  test("[RE23] a body of one gigabyte is refused at the limit, and the rest isn't read", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const id = await makeSession(token)
    const { body, pulled } = hugeBody(1024)
    const init = { method: "POST", body, duplex: "half", headers: { authorization: `Bearer ${token}` } }
    const answer = await SELF.fetch(`${HOST}/v1/sessions/${id}/import`, init as RequestInit)
    expect({ status: answer.status, json: await answer.json() }).toEqual(refusal(413, "import_too_large", "parts"))
    expect(pulled.megabytes).toBeGreaterThan(MAX_IMPORT_BYTES / MB - 1)
    expect(pulled.megabytes).toBeLessThan(MAX_IMPORT_BYTES / MB + 16)
    await expectEmptySession(id)
  })

  test("[RE23] a body that declares its length is refused before any of it is read", async () => {
    const token = await tokenOf(CLAIMS.tenant, CLAIMS.user)
    const id = await makeSession(token)
    const { body, pulled } = hugeBody(1024)
    const headers = { authorization: `Bearer ${token}`, "content-length": String(1024 * MB) }
    const answer = await SELF.fetch(`${HOST}/v1/sessions/${id}/import`, {
      ...({ method: "POST", body, duplex: "half", headers } as RequestInit),
    })
    expect(answer.status).toBe(413)
    expect(pulled.megabytes).toBeLessThan(16)
    await expectEmptySession(id)
  })

  test("[RE39] a gzip bomb is refused long before the file size limit, and changes nothing", async () => {
    const id = await freshSession()
    const bomb = await gzipOf(hugeBody(60).body)
    expect(bomb.byteLength).toBeLessThan(MB / 8)
    expect(await importText(id, bomb)).toEqual({ ok: false, fault: { reason: "import_inflated" } })
    await expectEmptySession(id)
  })

  test("[RE39] a small file can unpack to any size up to MIN_UNPACKED_BYTES", async () => {
    const id = await freshSession()
    const padding = " ".repeat(MIN_UNPACKED_BYTES - MB)
    const packed = await gzipOf(streamOf(`${padding}\n${toLines(WORDS)}`))
    expect(packed.byteLength * MAX_UNPACK_RATIO).toBeLessThan(MIN_UNPACKED_BYTES - MB)
    expect(await importText(id, packed)).toMatchObject({ ok: true, value: { records: 1 } })
  })

  test("[RE23] an unpacked file over the size limit is refused at the limit", async () => {
    const id = await freshSession()
    const noise = new Uint8Array(48 * 1024)
    const readBody = async (): Promise<void> => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const writeBody = async (): Promise<void> => {
        for (let n = 0; n < 1 + (MAX_IMPORT_BYTES / MB) * 20; n += 1) {
          const line = new Uint8Array(52 * 1024).fill(0x20)
          crypto.getRandomValues(noise.subarray(0, 1024))
          line.set(noise.subarray(0, 1024).map((byte) => 0x41 + (byte & 15)))
          line[line.length - 1] = 0x0a
          await writer.write(line)
        }
        await writer.close()
      }
      const written = writeBody().catch(() => {})
      const packed = readable.pipeThrough(new CompressionStream("gzip"))
      for await (const _ of readUploadLines(packed, { idleMs: 60_000, totalMs: 600_000 }));
      await written
    }
    await expect(readBody()).rejects.toMatchObject({ fault: { reason: "import_too_large" } })
    await expectEmptySession(id)
  })

  test("[RE38] a file with too many lines is refused at the limit, and the remainder isn't read", async () => {
    const id = await freshSession()
    const chunk = new TextEncoder().encode("\n".repeat(10_000))
    let read = 0
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          read += 1
          controller.enqueue(chunk)
        },
      },
      { highWaterMark: 0 },
    )
    const taken = await sessionOf(id).import(CLAIMS, body)
    expect(taken).toEqual({ ok: false, fault: { reason: "import_too_many_records", max: MAX_IMPORT_RECORDS } })
    expect(read).toBeGreaterThan(MAX_IMPORT_RECORDS / 10_000 - 1)
    expect(read).toBeLessThan(MAX_IMPORT_RECORDS / 10_000 + 64)
    await expectEmptySession(id)
  })

  test("[RE38] a list with too many messages on one line is refused and changes nothing", async () => {
    const id = await freshSession()
    expect(await importText(id, `[{"role":"user"}${",0".repeat(MAX_IMPORT_RECORDS + 9)}]\n`)).toMatchObject({
      ok: false,
    })
    await expectEmptySession(id)
  })

  test("[RE36] a line over the length limit is skipped, and the other lines are imported", async () => {
    const id = await freshSession()
    const file = `${toLines(WORDS)}{"type":"user_message","text":"${"x".repeat(10 * MB)}"}\n${toLines({ ...WORDS, text: "too" })}`
    expect(await importText(id, file)).toMatchObject({
      value: { records: 2, skipped: 1, bad: [{ line: 2, code: "body_too_large" }] },
    })
    expect((await pageOf(id)).messages.map((message) => message.content)).toEqual(["kept", "too"])
  })
})

describe("damaged", () => {
  test("[RE34] gzip that ends early, or is invalid after its first bytes, is refused as `import_damaged` and changes nothing", async () => {
    const id = await freshSession()
    const packed = await gzipOf(
      streamOf(toLines(...Array.from({ length: 500 }, (_, n) => ({ ...WORDS, text: `${n}` })))),
    )
    for (const file of [packed.slice(0, packed.length / 2), new Uint8Array([0x1f, 0x8b, 1, 2, 3, 4, 5, 6, 7, 8])]) {
      expect(await importText(id, file)).toEqual({ ok: false, fault: { reason: "import_damaged" } })
    }
    await expectEmptySession(id)
  })

  test("[RE34] an upload that breaks off leaves nothing behind", async () => {
    const id = await freshSession()
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    const importing = sessionOf(id).import(CLAIMS, readable)
    const outcome = importing.then(
      (result) => (result.ok ? "taken" : result.fault.reason),
      () => "broken",
    )
    await writer.write(new TextEncoder().encode(toLines(WORDS)))
    await writer.abort(new Error("gone"))
    expect(await outcome).not.toBe("taken")
    expect(await sessionOf(id).importProgress(CLAIMS)).toMatchObject({ value: { state: "none" } })
    await expect.poll(async () => (await rowsIn(id))["staged"]).toBe(0)
    await expectEmptySession(id)
  })

  test("[RE34] an upload that stalls is abandoned, and its body is cancelled", async () => {
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    const writing = writer.write(new TextEncoder().encode(toLines(WORDS)))
    const readBody = async (): Promise<string[]> => {
      const got: string[] = []
      for await (const some of readUploadLines(readable, { idleMs: 50, totalMs: 60_000 }))
        got.push(...some.map(({ text }) => (text.ok ? text.value : "")))
      return got
    }
    await expect(readBody()).rejects.toMatchObject({ fault: { reason: "import_stalled" } })
    await writing
    await expect(writer.write(new Uint8Array(1))).rejects.toThrow()
  })

  test("[RE40] an upload that arrives slowly is abandoned when the total time limit is reached, however short its pauses are", async () => {
    const { readable, writable } = new IdentityTransformStream()
    const writer = writable.getWriter()
    const dripLines = async (): Promise<void> => {
      for (;;) {
        await writer.write(new TextEncoder().encode(" "))
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
    const dripped = dripLines().catch(() => "cancelled")
    const readBody = async (): Promise<void> => {
      for await (const _ of readUploadLines(readable, { idleMs: 60_000, totalMs: 100 }));
    }
    await expect(readBody()).rejects.toMatchObject({ fault: { reason: "import_slow" } })
    expect(await dripped).toBe("cancelled")
  })

  test("[RE10] an incomplete last line and invalid UTF-8 are reported by line, even across chunks", async () => {
    const id = await freshSession()
    const createGoodLine = (n: number): Uint8Array =>
      new TextEncoder().encode(toLines({ ...WORDS, text: `${n} ${"é😀".repeat(40)}` }))
    const broken = new Uint8Array([0x22, 0xf0, 0x9f, 0x98, 0x0a])
    const chunks: Uint8Array[] = []
    for (let n = 1; n <= 1_500; n++) chunks.push(n % 500 === 0 ? broken : createGoodLine(n))
    chunks.push(new TextEncoder().encode('{"type":"user_message","text":"ha'))
    const file = new Uint8Array(await new Blob(chunks).arrayBuffer())
    expect(file.byteLength).toBeGreaterThan(3 * 64 * 1024)
    const taken = await importText(id, file)
    expect(taken).toMatchObject({ ok: true, value: { records: 1_497, skipped: 4 } })
    expect(taken.ok && taken.value.bad.map(({ line, code }) => `${line} ${code}`)).toEqual([
      "500 body_malformed",
      "1000 body_malformed",
      "1500 body_malformed",
      "1501 body_malformed",
    ])
    expect((await pageOf(id)).messages.at(-1)?.content).toBe(`1499 ${"é😀".repeat(40)}`)
  })

  test("[RE10] if there are many bad lines, the first ones are listed and all are counted", async () => {
    const id = await freshSession()
    const taken = await importText(id, `${"nonsense\n".repeat(1_000)}${toLines(WORDS)}`)
    expect(taken).toMatchObject({ value: { records: 1, skipped: 1_000 } })
    expect(taken.ok && taken.value.bad).toHaveLength(MAX_BAD_LINES)
  })
})

describe("contradictory", () => {
  test("[RE35] a result without a call is shown on its own; if a call has two results, only the first is used", async () => {
    const id = await freshSession()
    const file = toLines(
      { type: "user_message", timestamp: T(1), text: "go" },
      { type: "tool_result", timestamp: T(2), callId: "lost", ok: true, result: "from nowhere" },
      { type: "tool_call", timestamp: T(3), callId: "c", toolName: "read", arguments: "{}" },
      { type: "tool_result", timestamp: T(4), callId: "c", ok: true, result: "first" },
      { type: "tool_result", timestamp: T(5), callId: "c", ok: false, result: "second" },
    )
    expect(await importText(id, file)).toMatchObject({ value: { records: 5, skipped: 0 } })
    expect(toolsIn((await pageOf(id)).messages[1])).toMatchObject([
      { call_id: "lost", status: "ok", result: "from nowhere" },
      { name: "read", status: "ok", result: "first" },
    ])
  })

  test("[RE28] events that are out of order are sorted by time", async () => {
    const id = await freshSession()
    const file = toLines(
      { type: "tool_result", timestamp: T(4), responseId: "r", callId: "c", ok: true, result: "there" },
      { type: "text_delta", timestamp: T(5), responseId: "r", delta: "done" },
      { type: "tool_call", timestamp: T(3), responseId: "r", callId: "c", toolName: "read", arguments: "{}" },
      { type: "user_message", timestamp: T(1), text: "go" },
      { type: "text_delta", timestamp: T(2), responseId: "r", delta: "look" },
    )
    await importText(id, file)
    expect((await pageOf(id)).messages[1]?.segments).toMatchObject([
      { content: "look" },
      { name: "read", status: "ok", result: "there" },
      { content: "done" },
    ])
  })

  test("[RE35] a call whose result arrives some turns later stays interrupted, and no message is lost because of repeated ids", async () => {
    const id = await freshSession()
    const file = toLines(
      { type: "user_message", turnId: "t", text: "one" },
      { type: "tool_call", responseId: "r", callId: "c", toolName: "slow", arguments: "{}" },
      { type: "user_message", turnId: "t", text: "two" },
      { type: "text_delta", responseId: "t", delta: "under the name of a question" },
      { type: "user_message", turnId: "t3", text: "three" },
      { type: "tool_result", responseId: "r", callId: "c", ok: true, result: "late" },
    )
    await importText(id, file)
    const { messages } = await pageOf(id)
    expect(messages.map((one) => (one.role === "user" ? one.content : textIn(one)))).toEqual([
      "one",
      "",
      "two",
      "under the name of a question",
      "three",
    ])
    expect(toolsIn(messages[1])).toMatchObject([{ status: "interrupted" }])
  })

  test("[ST1] an import for an unknown session stores nothing", async () => {
    const stub = sessionOf("nowhere")
    expect(await stub.import(CLAIMS, streamOf(toLines(WORDS)), { part: 1, of: 2 })).toEqual({
      ok: false,
      fault: { reason: "session_unknown" },
    })
    expect(await stub.importProgress(CLAIMS)).toEqual({ ok: false, fault: { reason: "session_unknown" } })
    expect(await tablesOf(stub)).toEqual([])
  })
})
