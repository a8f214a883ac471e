/**
 * copy-assets.test.ts: tests how assets are listed, sealed and copied in exports and imports, with real SQLite and a
 * real bucket.
 */

import { env, runInDurableObject } from "cloudflare:test"
import { nanoid } from "nanoid"
import { describe, expect, test } from "vitest"
import type { Asset, TurnEvent } from "../../shared/protocol/event.ts"
import type { ImportProgress } from "../../shared/protocol/http-body.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { toCanonicalJson } from "../../shared/json.ts"
import { createAssetRows } from "../../worker/asset/asset-rows.ts"
import { copyStagedAssets, createAssetCopier } from "../../worker/transfer/copy-assets.ts"
import { storeAsset } from "../../worker/asset/asset-upload.ts"
import { TurnRecorder } from "../../worker/turn/turn-recorder.ts"
import { createStagedRows } from "../../worker/transfer/staged-rows.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { CLAIMS, connect, pageOf, sessionOf } from "../support/socket.ts"
import { answerOf, placed } from "../support/turn.ts"
import { createUserMessage } from "../../worker/turn/begin-turn.ts"
import { exportOf } from "./export-sample.ts"
import { tablesOf } from "./http.ts"
import { freshSession as fresh, recordAskedSessions } from "./session-helpers.ts"
import { assetOf, putAsset, keyOf, PNG } from "./sample-assets.ts"

const freshSession = (): Promise<string> => fresh("car")

/** The text of an answer that names a file, another message, a canvas of the session and a framed origin. */
const ANSWER_DELTAS = [
  "[[reply_to:q1]]See:\n\nMEDIA:/media/named\n\n",
  '[embed ref="doc" title="Plan" /]\n\n[embed url="https://frames.example.com/a" /]\n\nDone.',
]

/** Fills a session with assets that are referenced in every possible way. Returns the session's messages. */
async function fillSession(id: string): Promise<readonly WireMessage[]> {
  const sent = await putAsset(id, assetOf("sent", { label: "A [plan].png" }))
  const named = await putAsset(id, assetOf("named"))
  const made = await putAsset(id, assetOf("made", { kind: "audio", mime_type: "audio/wav", voice: true }), "RIFFtone")
  const doc = await putAsset(id, assetOf("doc", { kind: "canvas", mime_type: "text/html", size: 4 }), "<p>x")
  await putAsset(id, assetOf("unused"))
  await runInDurableObject(sessionOf(id), (_object, state) => {
    const store = createSessionStore(state.storage.sql)
    const question = createUserMessage("q1", "", 0, { attachments: [sent] })
    store.insertMessage(placed(question, { pos: 1 }))
    let seq = 1
    const addAnswer = (pos: number, name: string, events: readonly TurnEvent[]): void => {
      const message = { ...answerOf(), id: name, exchange_id: "q1" }
      const stored = placed(message, { pos, parent: pos - 1, seq: ++seq })
      store.insertMessage(stored)
      const assets = [named, doc]
      const resolver = {
        findAsset: (one: string) => assets.find((asset) => asset.id === one) ?? null,
        hasMessage: (one: string) => one === "q1",
        listOrigins: () => ["https://frames.example.com"],
      }
      const recorder = new TurnRecorder(store, stored, () => ++seq, { resolver })
      for (const event of events) {
        recorder.feed(event)
        recorder.flush()
      }
    }
    const end: TurnEvent = { type: "end", status: "completed", reason: null, metrics: null }
    addAnswer(2, "a1", [
      { type: "step_start" },
      ...ANSWER_DELTAS.map((delta): TurnEvent => ({ type: "text_delta", delta })),
      end,
    ])
    addAnswer(3, "a2", [
      { type: "step_start" },
      { type: "tool_call", call_id: "c1", name: "speak", args: "{}" },
      { type: "tool_call_start", call_id: "c1", channel: "user", ordinal: 1 },
      {
        type: "tool_result",
        call_id: "c1",
        status: "ok",
        result: '{"ok":true}\n\nMEDIA:/media/made',
        card: null,
        error: null,
        media: [made],
      },
      { type: "text_delta", delta: "Spoken." },
      end,
    ])
  })
  return (await pageOf(id)).messages
}

async function importInto(id: string, text: string): Promise<ImportProgress> {
  const body = new Response(text).body as ReadableStream<Uint8Array>
  const imported = await sessionOf(id).import(CLAIMS, body)
  if (!imported.ok) throw new Error(imported.fault.reason)
  return imported.value
}

const recordsIn = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

const toComparable = (messages: readonly WireMessage[]): string => toCanonicalJson(messages)

async function bytesIn(session: string, id: string): Promise<number | null> {
  return (await env.MEDIA.get(keyOf(session, id)))?.size ?? null
}

function uploadTargetOf(session: string) {
  return {
    reserve: async (size: number) => await sessionOf(session).reserveAsset(CLAIMS, size),
    commit: async (asset: Asset, hash: string) => await sessionOf(session).commitAsset(CLAIMS, asset, hash),
    discard: async (id: string) => await sessionOf(session).discardAsset(CLAIMS, id),
  }
}

function findAsset(session: string, id: string) {
  return runInDurableObject(sessionOf(session), (_object, state) => createAssetRows(state.storage.sql).find(id))
}

describe("an export", () => {
  test("[RE24] lists each file once, before its first use, with grants and without trailers", async () => {
    const id = await freshSession()
    await fillSession(id)
    const text = await exportOf(id)
    const records = recordsIn(text)
    const assets = records.filter((record) => record.type === "asset")
    expect(assets.map((record) => record.asset.id)).toEqual(["sent", "named", "doc", "made"])
    for (const record of assets)
      expect(record).toMatchObject({ sessionId: id, turnId: "q1", responseId: expect.any(String) })
    expect(records[0]).toMatchObject({ type: "asset", asset: assetOf("sent", { label: "A [plan].png" }) })
    expect(records[1]).toMatchObject({ type: "user_message", text: "", attachments: [{ id: "sent" }] })
    expect(records.find((record) => record.type === "text_done")?.grants).toEqual({
      origins: ["https://frames.example.com"],
      replies: ["q1"],
      canvases: ["doc"],
      assets: [assetOf("named")],
    })
    const result = records.find((record) => record.type === "tool_result")
    expect(result).toMatchObject({ result: '{"ok":true}', media: [{ id: "made", voice: true }] })
  })

  test("[RE24] shows files as links with their names if its format is Markdown", async () => {
    const id = await freshSession()
    await fillSession(id)
    const exported = await sessionOf(id).export(CLAIMS, null, "markdown")
    const text = exported.ok ? await new Response(exported.value.lines).text() : ""
    expect(text).toContain("Image: [A \\[plan\\].png](</media/sent>)")
    expect(text).toContain("Image: [named.png](</media/named>)")
    expect(text).toContain("Canvas: [Plan](</canvas/documents/doc/index.html>)")
    expect(text).toContain("Audio: [made.png](</media/made>)")
  })
})

describe("a sealed import", () => {
  test("[RE25] copies bytes and rows, shows the same messages, and can be exported and imported again", async () => {
    const [from, to] = [await freshSession(), await freshSession()]
    const before = await fillSession(from)
    const text = await exportOf(from)
    expect(await importInto(to, text)).toMatchObject({ state: "done", isSealed: true, skipped: 0 })
    expect(toComparable((await pageOf(to)).messages)).toBe(toComparable(before))
    for (const [id, size] of [
      ["sent", PNG.byteLength],
      ["named", PNG.byteLength],
      ["made", 8],
      ["doc", 4],
    ] as const) {
      expect(await bytesIn(to, id)).toBe(size)
      expect(await findAsset(to, id)).toMatchObject({ id })
    }
    expect(await bytesIn(to, "unused")).toBeNull()
    const origins = await runInDurableObject(sessionOf(to), (_object, state) =>
      state.storage.sql.exec("SELECT DISTINCT origin, state FROM asset").toArray(),
    )
    expect(origins).toEqual([{ origin: "import", state: "kept" }])
    // Uploading the same bytes again returns one of the copied assets.
    const again = await storeAsset(env.MEDIA, { tenant: CLAIMS.tenant, session: to }, uploadTargetOf(to), {
      about: { kind: "image", mime_type: "image/png", label: "again.png" } as const,
      size: PNG.byteLength,
      bytes: PNG,
      signal: new AbortController().signal,
    })
    if (!again.ok) throw new Error(again.fault.reason)
    expect(["A [plan].png", "named.png"]).toContain(again.value.asset.label)
    expect(again.value.duplicate).toBe(true)
    // The copy can be exported and imported again, even if the original session was erased.
    const third = await freshSession()
    await sessionOf(from).erase(CLAIMS)
    expect(await importInto(third, await exportOf(to))).toMatchObject({ state: "done", isSealed: true, skipped: 0 })
    expect(await bytesIn(third, "made")).toBe(8)
    // A copied asset can be attached to a message.
    const client = await connect(third)
    client.say({ type: "send", id: "q9", content: "/say yes", attachments: ["named"] })
    expect((await client.untilEnd("q9")).status).toBe("completed")
  })

  test("[RE25] a file that the bucket has lost is reported as skipped; the other files are copied", async () => {
    const [from, to] = [await freshSession(), await freshSession()]
    const before = await fillSession(from)
    await env.MEDIA.delete(keyOf(from, "named"))
    const progress = await importInto(to, await exportOf(from))
    expect(progress).toMatchObject({ state: "done", isSealed: true, skipped: 1, bad: [{ line: 3, code: "file_gone" }] })
    expect(await findAsset(to, "named")).toBeNull()
    expect(await bytesIn(to, "sent")).toBe(PNG.byteLength)
    expect(toComparable((await pageOf(to)).messages)).toBe(toComparable(before))
  })

  test.each([
    ["resumes where it stopped", () => Date.now()],
    ["resumes even if the asset's reservation has been removed", () => 0],
  ])("[RE25] an import that is killed while copying an asset %s", async (_when, reservedAt) => {
    const [from, to] = [await freshSession(), await freshSession()]
    const before = await fillSession(from)
    const text = await exportOf(from)
    // Recreate the state left by a process that died after it had copied the first asset and reserved the second.
    await runInDurableObject(sessionOf(to), (_object, state) => {
      const staging = createStagedRows(state.storage.sql)
      const records = recordsIn(text)
      for (const [n, { sessionId, ...record }] of records.entries()) {
        const home = record.type === "asset" ? sessionId : null
        staging.addRows(1, [{ i: n + 1, at: Date.parse(record.timestamp), line: JSON.stringify(record), home }])
      }
      const summary = { records: records.length - 1, skipped: 0, bad: [], isPlaced: true }
      staging.putPart(1, { ...summary, source: "x" })
      staging.setState({ step: "folding", ...summary, sources: ["x"], isSealed: null, tip: null, title: "" })
      const assets = createAssetRows(state.storage.sql)
      assets.reserve("sent", "import", 0)
      assets.commit(assetOf("sent"), null)
      assets.reserve("named", "import", reservedAt())
    })
    const progressOf = async () => {
      await runInDurableObject(sessionOf(to), async (object) => {
        await (object as unknown as { alarm(): unknown }).alarm()
      })
      const progress = await sessionOf(to).importProgress(CLAIMS)
      return progress.ok ? progress.value.state : null
    }
    await expect.poll(progressOf, { timeout: 5_000, interval: 300 }).toBe("done")
    expect(toComparable((await pageOf(to)).messages)).toBe(toComparable(before))
    expect(await bytesIn(to, "named")).toBe(PNG.byteLength)
    // This asset already existed, so it must not be copied again.
    expect(await bytesIn(to, "sent")).toBeNull()
  })

  test("[RE25] is interrupted by a failing bucket, and the next attempt copies each missing file once", async () => {
    const id = await freshSession()
    const copied: string[] = []
    await runInDurableObject(sessionOf(id), async (_object, state) => {
      const staging = createStagedRows(state.storage.sql)
      const assets = createAssetRows(state.storage.sql)
      for (const [n, one] of ["a", "b", "c"].entries()) {
        staging.addRows(1, [
          { i: n + 1, at: 0, line: JSON.stringify({ type: "asset", asset: assetOf(one) }), home: "home" },
        ])
      }
      let isUnavailable = true
      const copyAsset = (_from: string, { id: one }: { readonly id: string }): Promise<string> => {
        if (one === "b" && isUnavailable) return Promise.reject(new Error("unavailable"))
        copied.push(one)
        return Promise.resolve(one)
      }
      const summary = { records: 3, skipped: 0, bad: [], isPlaced: true, sources: ["x"], tip: null, title: "" }
      const staged = { ...summary, step: "folding", isSealed: true } as const
      const host = { staging, assetCopier: { assets, copy: copyAsset }, now: Date.now }
      await expect(copyStagedAssets(host, staged)).rejects.toThrow("unavailable")
      expect([assets.find("a")?.id, assets.find("b")]).toEqual(["a", null])
      isUnavailable = false
      expect(await copyStagedAssets(host, staged)).toEqual({ ...staged, isCarried: true })
    })
    expect(copied).toEqual(["a", "b", "c"])
  })

  test("[RE25] naming a source session in a record gives no access to another tenant's files", async () => {
    const [from, to] = [await freshSession(), await freshSession()]
    await fillSession(from)
    const text = await exportOf(from)
    const sealFor = (home: string): string => text.replaceAll(`"sessionId":"${from}"`, `"sessionId":"${home}"`)
    await env.MEDIA.put(`globex/${from}/sent`, "theirs")
    await env.MEDIA.put(`acme/../globex/${from}/sent`, "theirs")
    expect(await importInto(to, sealFor(`../globex/${from}`))).toMatchObject({ isSealed: true, skipped: 4 })
    expect(await bytesIn(to, "sent")).toBeNull()
  })
})

describe("a sealed import by another user of the tenant", () => {
  const EVE = { ...CLAIMS, user: "eve", token: "eve-token" }

  async function importAsEve(text: string): Promise<{ readonly id: string; readonly progress: ImportProgress }> {
    const id = nanoid()
    await sessionOf(id).create(EVE, id, "")
    const body = new Response(text).body as ReadableStream<Uint8Array>
    const imported = await sessionOf(id).import(EVE, body)
    if (!imported.ok) throw new Error(imported.fault.reason)
    return { id, progress: imported.value }
  }

  test("[RE37] copies none of the exporter's files; each one is reported as skipped, and the messages still show their places", async () => {
    const from = await freshSession()
    const before = await fillSession(from)
    const { id, progress } = await importAsEve(await exportOf(from))
    expect(progress).toMatchObject({ state: "done", isSealed: true, skipped: 4 })
    expect(progress.bad.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => "file_gone"))
    for (const asset of ["sent", "named", "made", "doc"]) {
      expect(await bytesIn(id, asset)).toBeNull()
      expect(await findAsset(id, asset)).toBeNull()
    }
    const page = await sessionOf(id).readHistoryPage(EVE, { limit: 12 })
    expect(toComparable(page.ok ? JSON.parse(page.value.json).messages : [])).toBe(toComparable(before))
    const found = await sessionOf(id).findAssets(EVE, ["sent", "named", "made", "doc"])
    expect(found).toEqual({ ok: true, value: [null, null, null, null] })
  })

  test("[RE37] looks up the owner of the source session once, not for each asset", async () => {
    const from = await freshSession()
    await fillSession(from)
    const { asked, SESSION } = recordAskedSessions()
    const to = await freshSession()
    const copied = await runInDurableObject(sessionOf(to), async (_object, state) => {
      const assets = createAssetRows(state.storage.sql)
      const copier = createAssetCopier({ ...env, SESSION }, { ...CLAIMS, id: to }, assets)
      return [await copier.copy(from, assetOf("sent")), await copier.copy(from, assetOf("named"))]
    })
    expect(copied.every((hash) => hash !== null)).toBe(true)
    expect(asked).toEqual([`${CLAIMS.tenant}:${from}`])
  })

  test("[RE37] copies no files from an unknown source session, and the lookup stores nothing there", async () => {
    const [from, ghost] = [await freshSession(), nanoid()]
    await fillSession(from)
    await env.MEDIA.put(keyOf(ghost, "sent"), "theirs")
    const text = (await exportOf(from)).replaceAll(`"sessionId":"${from}"`, `"sessionId":"${ghost}"`)
    const { id, progress } = await importAsEve(text)
    expect(progress).toMatchObject({ isSealed: true, skipped: 4 })
    expect(await bytesIn(id, "sent")).toBeNull()
    expect(await tablesOf(sessionOf(ghost))).toEqual([])
  })
})
