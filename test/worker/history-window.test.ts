/** history-window.test.ts: tests pages of history around a message and after a position. */

import { runInDurableObject } from "cloudflare:test"
import { describe, expect, test } from "vitest"
import type { HistoryPage } from "../../shared/protocol/http-body.ts"
import { MAX_PAGE_BYTES } from "../../shared/limits.ts"
import { createMessage } from "../../shared/protocol/message.ts"
import { readWindow } from "../../worker/socket/history-window.ts"
import { createSessionStore } from "../../worker/store/session-store.ts"
import { call, makeSession, refusal, tokenOf } from "./http.ts"
import { freshSession } from "./session-helpers.ts"
import { sessionOf } from "../support/socket.ts"
import { askQuestion } from "./tenant-transfer.ts"
import { TIME } from "../support/turn.ts"

const HEAD = { epoch: "e", seq: 0, isTemporary: false }

type Store = ReturnType<typeof createSessionStore>

/** Runs `work` with a session whose active path has messages with the given texts. Their ids are m1, m2 and so on. */
async function withPath<T>(texts: readonly string[], work: (store: Store) => T): Promise<T> {
  const id = await freshSession("window")
  return await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    const store = createSessionStore(storage.sql)
    for (const [i, words] of texts.entries()) {
      const message = createMessage({
        id: `m${i + 1}`,
        role: "user",
        exchange_id: `m${i + 1}`,
        status: "completed",
        words,
        timestamp: TIME,
      })
      store.insertMessage({ pos: i + 1, parent: i === 0 ? null : i, seq: i + 1, deadline: null, message })
    }
    return work(store)
  })
}

function read(store: Store, query: Parameters<typeof readWindow>[2]): HistoryPage {
  const page = readWindow(store, HEAD, query)
  if (page === null) throw new Error("no page")
  return JSON.parse(page.json)
}

const idsOf = ({ messages }: HistoryPage): string[] => messages.map(({ id }) => id)
const range = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, i) => `m${from + i}`)
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `words ${i}`)

describe("a page in the middle of a session", () => {
  test("[FT9] contains the message, as many messages before it as after it, and the cursors of the pages before and after", async () => {
    await withPath(words(40), (store) => {
      const page = read(store, { limit: 9, around: "m20" })
      expect(idsOf(page)).toEqual(range(16, 24))
      expect(page).toMatchObject({ has_more: true, cursor: "16", next: "24" })
      expect(idsOf(read(store, { limit: 9, after: Number(page.next) }))).toEqual(range(25, 33))
      const last = read(store, { limit: 9, after: 33 })
      expect(idsOf(last)).toEqual(range(34, 40))
      expect(last.next).toBeUndefined()
      const first = read(store, { limit: 9, around: "m2" })
      expect(idsOf(first)).toEqual(range(1, 6))
      expect(first).toMatchObject({ has_more: false, next: "6" })
      expect(idsOf(read(store, { limit: 5, after: 0 }))).toEqual(range(1, 5))
      expect(idsOf(read(store, { limit: 5, around: "m40" }))).toEqual(range(36, 40))
      expect(idsOf(read(store, { limit: 1, around: "m7" }))).toEqual(["m7"])
    })
  })

  test("[FT9] consecutive pages contain each message of the active path once, even if messages have other versions", async () => {
    await withPath(words(30), (store) => {
      // Add another version of m11, below m10, with 7 messages.
      for (let pos = 31; pos <= 37; pos++) {
        const message = createMessage({
          id: `m${pos}`,
          role: "user",
          exchange_id: `m${pos}`,
          status: "completed",
          words: "other",
          timestamp: TIME,
        })
        store.insertMessage({ pos, parent: pos === 31 ? 10 : pos - 1, seq: pos, deadline: null, message })
      }
      const found: string[] = []
      for (let next: string | undefined = "0"; next !== undefined; ) {
        const page: HistoryPage = read(store, { limit: 4, after: Number(next) })
        found.push(...idsOf(page))
        next = page.next
      }
      expect(found).toEqual([...range(1, 10), ...range(31, 37)])
      for (const query of [
        { limit: 3, around: "m15" },
        { limit: 3, after: 15 },
        { limit: 3, around: "nothing" },
      ])
        expect(readWindow(store, HEAD, query)).toBeNull()
    })
  })

  test("[FT9] is limited in size, and the next page continues without a gap", async () => {
    const long = "x".repeat(MAX_PAGE_BYTES / 5)
    await withPath(
      Array.from({ length: 20 }, () => long),
      (store) => {
        const page = read(store, { limit: 20, around: "m10" })
        expect(JSON.stringify(page).length).toBeLessThan(MAX_PAGE_BYTES * 1.2)
        const ids = idsOf(page)
        expect(ids).toContain("m10")
        expect(ids).toEqual(range(Number(page.cursor), Number(page.next)))
        const after = read(store, { limit: 20, after: Number(page.next) })
        expect(idsOf(after)[0]).toBe(`m${Number(page.next) + 1}`)
        expect(idsOf(after).length).toBeLessThan(5)
      },
    )
  })

  test("[FT9] reads the rows of its messages, and only a few more in a long session", async () => {
    const rows = async (count: number): Promise<number> =>
      await withPath(
        words(count),
        (store) => readWindow(store, HEAD, { limit: 10, around: `m${count / 2}` })?.rowsRead ?? 0,
      )
    expect((await rows(2_000)) - (await rows(100))).toBeLessThan(40)
  })

  test("[FT9] the route accepts either a message or a position, and refuses anything else", async () => {
    const token = await tokenOf("ft9", "ada")
    const id = await makeSession(token)
    for (const n of [1, 2, 3]) await askQuestion(id, token, `/say ${n}`)
    const path = `/v1/sessions/${id}/conversation`
    const all: HistoryPage = (await call(`${path}?after=0&limit=50`, { token })).json
    expect(all.messages).toHaveLength(6)
    expect((await call(`${path}/recent?limit=50`, { token })).json.messages).toEqual(all.messages)
    const around = await call(`${path}?around=${all.messages[2]?.id}&limit=3`, { token })
    expect(around.json.messages.map((one: { id: string }) => one.id)).toEqual(
      all.messages.slice(1, 4).map((message) => message.id),
    )
    for (const query of [
      "",
      "?after=x",
      "?around=a%20b",
      "?after=1&around=a",
      "?after=1&limit=0",
      "?after=1&limit=121",
    ])
      expect(await call(path + query, { token })).toEqual(refusal(400, "field_invalid"))
    expect(await call(`${path}?around=unknown`, { token })).toEqual(refusal(404, "message_unknown"))
    expect(await call(`${path}?after=0`, { token: await tokenOf("ft9", "eve") })).toEqual(
      refusal(404, "session_unknown"),
    )
  })
})
