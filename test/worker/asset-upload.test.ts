/** asset-upload.test.ts: tests accepted and refused uploads, and that failed uploads leave nothing behind. */

import { env, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import {
  ASSET_PENDING_MS,
  MAX_IMAGE_BYTES,
  MAX_REFUSED_BYTES,
  MAX_SESSION_ASSETS,
  MAX_VIDEO_BYTES,
} from "../../shared/asset-limits.ts"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { call, makeSession, nowSeconds, refusal, SECRET, tokenOf } from "./http.ts"
import { brokenBucket, file, listStoredAssets, NOTHING, png, postFile, withBrokenBucket } from "./files.ts"

const T = "upl"
const stubOf = (id: string) => env.SESSION.getByName(`${T}:${id}`)

/** Returns a stream of the bytes, in chunks. The stream fails at `breakAt`. */
function streamOf(bytes: Uint8Array, breakAt = Infinity): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= breakAt) return controller.error(new Error("connection lost"))
      if (at >= bytes.length) return controller.close()
      const end = Math.min(at + 5_000, breakAt, bytes.length)
      controller.enqueue(bytes.slice(at, end))
      at = end
    },
  })
}

describe("accepted uploads", () => {
  test("[AS1] an accepted file is stored as a row, its bytes and its metadata", async () => {
    const token = await tokenOf(T, "ann")
    const id = await makeSession(token)
    const response = await postFile(id, token, png(1, 50_000), { name: "cat.png" })
    expect(response.status).toBe(201)
    const { id: asset, ...rest } = response.json
    expect(rest).toEqual({ kind: "image", mime_type: "image/png", label: "cat.png", size: 50_000, duplicate: false })
    expect(await listStoredAssets(T, id)).toEqual({ bytes: [asset], rows: [`${asset} kept`] })
    const stored = await env.MEDIA.get(`${T}/${id}/${asset}`)
    expect(new Uint8Array((await stored?.arrayBuffer()) ?? new ArrayBuffer())).toEqual(png(1, 50_000))
  })

  test("[AS5] uploading the same bytes again returns the existing file, whatever name it is uploaded under", async () => {
    const token = await tokenOf(T, "ann")
    const id = await makeSession(token)
    const first = await postFile(id, token, png(2), { name: "a.png" })
    const again = await postFile(id, token, png(2), { name: "b.png" })
    expect(again).toMatchObject({ status: 200, json: { ...first.json, duplicate: true } })
    expect(await listStoredAssets(T, id)).toEqual({ bytes: [first.json.id], rows: [`${first.json.id} kept`] })
    const other = await makeSession(token)
    expect((await postFile(other, token, png(2))).status).toBe(201)
  })

  test("[AS5] if the same bytes are uploaded simultaneously, one file is stored and all uploads return it", async () => {
    const token = await tokenOf(T, "ann")
    const id = await makeSession(token)
    const responses = await Promise.all(Array.from({ length: 5 }, () => postFile(id, token, png(3, 60_000))))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
    const ids = new Set(responses.map(({ json }) => json.id))
    expect(ids.size).toBe(1)
    expect(await listStoredAssets(T, id)).toEqual({ bytes: [...ids], rows: [`${[...ids][0]} kept`] })
  })

  test("[AS5] uploading the same bytes again returns the existing file even if the session is full", async () => {
    const token = await tokenOf(T, "ann")
    const id = await makeSession(token)
    const first = await postFile(id, token, png(4, 70_000))
    await runInDurableObject(stubOf(id), (_object, { storage }) => {
      for (let i = 1; i < MAX_SESSION_ASSETS; i++) {
        storage.sql.exec("INSERT INTO asset (id, state, origin, created) VALUES (?, 'kept', 'user', 1)", `x${i}`)
      }
    })
    const before = await listStoredAssets(T, id)
    const again = await postFile(id, token, png(4, 70_000))
    expect(again).toMatchObject({ status: 200, json: { ...first.json, duplicate: true } })
    expect(await postFile(id, token, png(5, 70_000))).toEqual(refusal(409, "assets_full"))
    const options = { headers: { "content-length": "70000" } }
    expect(await postFile(id, token, streamOf(png(4, 70_000), 60_000), options)).toEqual(refusal(400, "asset_cut_off"))
    expect(await listStoredAssets(T, id)).toEqual(before)
  })

  test("[AS6] a label is the last part of the file's name, without invisible characters, and cut if it is too long", async () => {
    const token = await tokenOf(T, "ann")
    const id = await makeSession(token)
    const names = [
      ["../../etc/passwd", "passwd"],
      ["C:\\Users\\me\\cat.png", "cat.png"],
      ["a\u202egnp.exe\u0000\n.png", "agnp.exe.png"],
      ["   ", "image.png"],
      ["", "image.png"],
      ["..", "image.png"],
      ["\ud800x.png", "\ufffdx.png".replace("\ufffd", "")],
      [`${"é".repeat(300)}.png`, `${"é".repeat(116)}.png`],
      ["a\u3164\u115f\u{e0041}b\u2060.png", "ab.png"],
      [`${"a".repeat(115)}😀${"b".repeat(99)}.png`, `${"a".repeat(115)}.png`],
    ] as const
    for (const [i, [name, label]] of names.entries()) {
      expect((await postFile(id, token, png(100 + i), { name: name.toWellFormed() })).json.label).toBe(label)
    }
  })
})

describe("refused uploads", () => {
  test("[AS3] an upload whose length is missing, too large or wrong is refused", async () => {
    const token = await tokenOf(T, "bob")
    const id = await makeSession(token)
    const createHeaders = (length: number) => ({ headers: { "content-length": String(length) } })
    expect(await postFile(id, token, streamOf(png(1, 9_000)))).toEqual(refusal(411, "length_required"))
    const video = await postFile(id, token, png(), createHeaders(MAX_VIDEO_BYTES + 1))
    expect(video).toEqual(refusal(413, "asset_too_large", "100 MB"))
    const image = await postFile(id, token, png(), createHeaders(MAX_IMAGE_BYTES + 1))
    expect(image).toEqual(refusal(413, "asset_too_large", "20 MB"))
    expect(await postFile(id, token, streamOf(png(1, 9_000)), createHeaders(20_000))).toEqual(
      refusal(400, "asset_cut_off"),
    )
    expect(await postFile(id, token, streamOf(png(1, 9_000)), createHeaders(8_000))).toEqual(
      refusal(400, "asset_cut_off"),
    )
    expect(await listStoredAssets(T, id)).toEqual(NOTHING)
  })

  test("[AS3] a refused upload is read only for a short time, whether it arrives slowly or quickly", async () => {
    const token = await tokenOf(T, "bob")
    const id = await makeSession(token)
    for (const [everyMs, chunkBytes] of [
      [5, 100],
      [0, 1024 * 1024],
    ] as const) {
      const sent = { bytes: 0, isCancelled: false }
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs))
          // These are the first bytes of a zip file.
          controller.enqueue(sent.bytes === 0 ? file(5_000, "PK", 3, 4) : new Uint8Array(chunkBytes))
          sent.bytes += chunkBytes
        },
        cancel() {
          sent.isCancelled = true
        },
      })
      const headers = { "content-length": String(MAX_VIDEO_BYTES) }
      // For the upload that arrives slowly, shorten five seconds to a tenth of a second.
      const env = everyMs > 0 ? { TIME_SCALE: "0.02" } : {}
      const options = { method: "POST", token, body, headers, env }
      expect(await call(`/v1/sessions/${id}/assets?name=a.zip`, options)).toEqual(refusal(415, "asset_type_refused"))
      expect(sent.isCancelled).toBe(true)
      expect(sent.bytes).toBeLessThan(MAX_REFUSED_BYTES + 4 * 1024 * 1024)
    }
    expect(await listStoredAssets(T, id)).toEqual(NOTHING)
  })

  test("[AS7] a file that is cut off is refused, wherever it was cut", async () => {
    const token = await tokenOf(T, "bob")
    const id = await makeSession(token)
    for (const at of [0, 100, 5_000, 20_000, 29_999]) {
      const options = { headers: { "content-length": "30000" } }
      const response = await postFile(id, token, streamOf(png(1, 30_000), at), options)
      expect(response).toEqual(refusal(400, "asset_cut_off"))
      expect(await listStoredAssets(T, id)).toEqual(NOTHING)
    }
  })

  test("[AS14] an unsupported type and an empty file are refused", async () => {
    const token = await tokenOf(T, "bob")
    const id = await makeSession(token)
    const bad = [file(100, "PK", 3, 4), file(100, "MZ"), file(100, 0x7f, "ELF"), file(0), file(9, "hello", 0)]
    for (const bytes of bad) expect(await postFile(id, token, bytes)).toEqual(refusal(415, "asset_type_refused"))
    expect(await listStoredAssets(T, id)).toEqual(NOTHING)
  })

  test("[AS4] a file beyond the session's limit is refused, and uploads in progress count towards the limit", async () => {
    const token = await tokenOf(T, "bob")
    const id = await makeSession(token)
    await runInDurableObject(stubOf(id), (_object, { storage }) => {
      for (let i = 1; i < MAX_SESSION_ASSETS; i++) {
        storage.sql.exec(
          "INSERT INTO asset (id, state, origin, created) VALUES (?, 'pending', 'user', ?)",
          `x${i}`,
          Date.now(),
        )
      }
    })
    expect((await postFile(id, token, png(1))).status).toBe(201)
    expect(await postFile(id, token, png(2))).toEqual(refusal(409, "assets_full"))
    const { bytes, rows } = await listStoredAssets(T, id)
    expect([bytes.length, rows.length]).toEqual([1, MAX_SESSION_ASSETS])
  })

  test("[AS8] uploads to another user's or an unknown session, or with tokens of other scopes, are refused", async () => {
    const [token, foreign] = [await tokenOf(T, "bob"), await tokenOf("else", "bob")]
    const id = await makeSession(token)
    expect(await postFile(id, foreign, png())).toEqual(refusal(404, "session_unknown"))
    expect(await postFile(id, await tokenOf(T, "eve"), png())).toEqual(refusal(404, "session_unknown"))
    expect(await postFile("nowhere", token, png())).toEqual(refusal(404, "session_unknown"))
    for (const scope of ["external", "admin"] as const) {
      const claims = { tenant: T, user: "bob", expires: nowSeconds() + 60, token: null, issued: 0, scope, session: id }
      expect(await postFile(id, await issueToken(claims, SECRET), png())).toEqual(refusal(403, "scope_denied"))
    }
    expect(await listStoredAssets(T, id)).toEqual(NOTHING)
  })
})

describe("failed uploads", () => {
  test("[AS7] a failed put leaves nothing behind", async () => {
    const token = await tokenOf(T, "cid")
    const id = await makeSession(token)
    for (const bucket of [brokenBucket("put"), brokenBucket("put", "late")]) {
      const response = await postFile(id, token, png(1, 40_000), { env: { MEDIA: bucket } })
      expect(response).toEqual(refusal(503, "asset_store_failed"))
      expect(await listStoredAssets(T, id)).toEqual(NOTHING)
    }
    expect((await postFile(id, token, png(1, 40_000))).status).toBe(201)
  })

  test("[AS7] after a failed delete, the row stays until it can be removed with its bytes", async () => {
    const token = await tokenOf(T, "cid")
    const id = await makeSession(token)
    const first = await postFile(id, token, png(1))
    const again = await postFile(id, token, png(1), { env: { MEDIA: brokenBucket("delete") } })
    expect(again).toMatchObject({ status: 200, json: { id: first.json.id, duplicate: true } })
    expect((await listStoredAssets(T, id)).bytes).toHaveLength(2)
    await sweepSession(id)
    expect(await listStoredAssets(T, id)).toEqual({ bytes: [first.json.id], rows: [`${first.json.id} kept`] })
  })

  test("[AS7] an upload whose process is killed between put and commit leaves nothing behind", async () => {
    const token = await tokenOf(T, "cid")
    const id = await makeSession(token)
    const reserved = await stubOf(id).reserveAsset(claimsOf("cid"), 200)
    if (!reserved.ok) throw new Error(reserved.fault.reason)
    await env.MEDIA.put(`${T}/${id}/${reserved.value}`, png())
    await evictDurableObject(stubOf(id))
    // It is too early to delete anything, because the upload may still arrive.
    await runDurableObjectAlarm(stubOf(id))
    expect(await listStoredAssets(T, id)).toEqual({ bytes: [reserved.value], rows: [`${reserved.value} pending`] })
    await evictDurableObject(stubOf(id))
    await sweepSession(id)
    expect(await listStoredAssets(T, id)).toEqual(NOTHING)
    // A late commit is refused.
    const asset = { id: reserved.value, kind: "image", mime_type: "image/png", label: "x", size: 200 } as const
    expect(await stubOf(id).commitAsset(claimsOf("cid"), asset, "00")).toMatchObject({ ok: false })
  })
})

const claimsOf = (user: string) => ({ tenant: T, user, expires: 4_000_000_000, token: null, issued: 0 })

/** Makes the pending uploads older than ASSET_PENDING_MS, and then runs the alarm. */
async function sweepSession(id: string): Promise<void> {
  await runInDurableObject(stubOf(id), (_object, { storage }) => {
    storage.sql.exec("UPDATE asset SET created = created - ? WHERE state = 'pending'", ASSET_PENDING_MS)
  })
  expect(await runDurableObjectAlarm(stubOf(id))).toBe(true)
  await expect.poll(async () => (await listStoredAssets(T, id)).rows.filter((row) => !row.endsWith("kept"))).toEqual([])
}

describe("an erased session", () => {
  const deleteSession = (id: string, token: string, options = {}) =>
    call(`/v1/sessions/${id}`, { method: "DELETE", token, ...options })
  const keysOf = async (id: string) => (await env.MEDIA.list({ prefix: `${T}/${id}/` })).objects.length

  test("[AS9] loses all its files, even if there is more than one page of them", async () => {
    const token = await tokenOf(T, "dan")
    const [id, other] = [await makeSession(token), await makeSession(token)]
    await postFile(other, token, png(1))
    for (let i = 0; i < 1_005; i++) await env.MEDIA.put(`${T}/${id}/x${i}`, "x")
    expect((await deleteSession(id, token)).status).toBe(204)
    expect([await keysOf(id), await keysOf(other)]).toEqual([0, 1])
  })

  test("[AS9] is erased completely by a second attempt if the first failed half-way", async () => {
    const token = await tokenOf(T, "dan")
    const id = await makeSession(token)
    await postFile(id, token, png(1))
    const failed = await withBrokenBucket(stubOf(id), "delete", () => deleteSession(id, token))
    expect(failed.status).toBe(500)
    expect(await keysOf(id)).toBe(1)
    expect((await deleteSession(id, token)).status).toBe(204)
    expect(await keysOf(id)).toBe(0)
  })

  test("[AS9] leaves nothing behind from an upload in progress", async () => {
    const token = await tokenOf(T, "dan")
    const id = await makeSession(token)
    const bytes = file(30_000, "%PDF-1.7")
    const { promise: erased, resolve } = Promise.withResolvers<void>()
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (at >= 20_000) await erased
        controller.enqueue(bytes.slice(at, at + 10_000))
        at += 10_000
        if (at >= bytes.length) controller.close()
      },
    })
    const uploading = postFile(id, token, body, { headers: { "content-length": "30000" } })
    await expect.poll(async () => (await listStoredAssets(T, id)).rows.length).toBe(1)
    expect((await deleteSession(id, token)).status).toBe(204)
    resolve()
    expect(await uploading).toEqual(refusal(404, "session_unknown"))
    expect(await keysOf(id)).toBe(0)
  })

  test("[AS9] leaves nothing behind even if the uploading process is killed before it learns of the erasure", async () => {
    const token = await tokenOf(T, "dan")
    const id = await makeSession(token)
    const reserved = await stubOf(id).reserveAsset(claimsOf("dan"), 200)
    if (!reserved.ok) throw new Error(reserved.fault.reason)
    expect((await deleteSession(id, token)).status).toBe(204)
    await env.MEDIA.put(`${T}/${id}/${reserved.value}`, png())
    const getAlarm = () => runInDurableObject(stubOf(id), (_object, { storage }) => storage.getAlarm())
    expect((await getAlarm()) ?? 0).toBeGreaterThan(Date.now() + ASSET_PENDING_MS / 2)
    await evictDurableObject(stubOf(id))
    expect(await runDurableObjectAlarm(stubOf(id))).toBe(true)
    expect([await keysOf(id), await getAlarm()]).toEqual([0, null])
    expect(await runInDurableObject(stubOf(id), (_object, { storage }) => [...storage.kv.list()])).toEqual([])
  })

  test("[AS9] doesn't affect the files of a new session with the same id", async () => {
    const token = await tokenOf(T, "dan")
    const id = await makeSession(token)
    await stubOf(id).reserveAsset(claimsOf("dan"), 200)
    expect((await deleteSession(id, token)).status).toBe(204)
    await call("/v1/sessions", { method: "POST", token, body: JSON.stringify({ id }) })
    expect((await postFile(id, token, png(1))).status).toBe(201)
    await runDurableObjectAlarm(stubOf(id))
    expect(await keysOf(id)).toBe(1)
  })
})
