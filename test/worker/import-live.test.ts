/** import-live.test.ts: tests what connected clients receive while a file is imported into their session. */

import { evictDurableObject, runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import type { ServerFrame } from "../../shared/protocol/server-frame.ts"
import { CLAIMS, connect, pageOf, sessionOf, type TestClient } from "../support/socket.ts"
import { freshSession as fresh, renewPage } from "./session-helpers.ts"
import { importFile, toJsonl } from "./import-file.ts"

const freshSession = (): Promise<string> => fresh("live")

const TURNS = 250

/** Returns a file of TURNS turns. */
function fileOf(prefix: string): string {
  const timeAt = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString()
  const turns = Array.from({ length: TURNS }, (_, n) => n)
  const records = turns.flatMap((n): object[] => [
    { type: "user_message", text: `${prefix} question ${n}`, responseId: `${prefix}u${n}`, timestamp: timeAt(2 * n) },
    { type: "assistant_message", text: `${prefix} ${n}`, responseId: `${prefix}a${n}`, timestamp: timeAt(2 * n + 1) },
  ])
  return toJsonl(...records)
}

/** Returns the numbered frames that a client received, and the announced epochs, in order. */
function wireOf({ frames }: TestClient): (number | string)[] {
  return frames.flatMap((frame): (number | string)[] =>
    "prev" in frame ? [frame.seq] : frame.type === "hello" ? [frame.epoch] : [],
  )
}

async function untilNewEpoch(client: TestClient, before: string): Promise<string> {
  const isNew = (frame: ServerFrame): frame is Extract<ServerFrame, { type: "hello" }> =>
    frame.type === "hello" && frame.epoch !== before
  return (await client.until(isNew)).epoch
}

/** Sends a message that waits for the end of the import. */
async function queueMessage(client: TestClient, id: string): Promise<void> {
  client.say({ type: "send", id, content: `/say ${id}` })
  await client.untilTrue((frame) => frame.type === "message" && frame.id === id)
  expect(client.messages.get(id)?.status).toBe("queued")
}

test("[HI6] an import sends no numbered frame and uses no seq: clients see one new epoch and no gap", async () => {
  const id = await freshSession()
  const [client, whole] = [await connect(id), await connect(id, CLAIMS, { live: false })]
  const first = (await pageOf(id)).epoch
  expect(await importFile(id, fileOf("a"), 1, 2)).toMatchObject({ ok: true, value: { state: "staging" } })
  await queueMessage(client, "m1")
  const folding = importFile(id, fileOf("b"), 2, 2)
  await queueMessage(client, "m2")
  expect(await folding).toMatchObject({ ok: true })
  const epoch = await untilNewEpoch(client, first)
  expect(wireOf(client)).toEqual([first, 1, 2, epoch])
  expect(client.frames.at(-1)).toMatchObject({ type: "hello", epoch, seq: 2 })
  await whole.untilTrue((frame) => frame.type === "hello" && frame.epoch === epoch)
  expect(wireOf(whole)).toEqual([first, 1, 2, epoch])
  await renewPage(id, client)
  const last = client.last
  await client.untilEnd("m2")
  const seqs = wireOf(client).slice(4)
  const numbered = seqs.flatMap((seq) => (typeof seq === "number" ? [seq] : []))
  expect(numbered).toEqual(numbered.map((_, at) => last + 1 + at))
  expect(client.broken).toBeNull()
  const page = await pageOf(id, { limit: 4 * TURNS + 50 })
  expect(page.messages).toHaveLength(4 * TURNS + 4)
  expect(page.seq).toBe(client.last)
})

test("[HI6] history is empty for reloads and connected clients until the whole file is folded, even after a restart", async () => {
  const id = await freshSession()
  const client = await connect(id)
  await importFile(id, fileOf("a"), 1, 2)
  await queueMessage(client, "m1")
  // Fold a part of the file, and stop there.
  await runInDurableObject(sessionOf(id), (_object, { storage }) => {
    storage.sql.exec(`CREATE TRIGGER stop BEFORE INSERT ON transcript WHEN NEW.words = 'b question 100'
      BEGIN SELECT RAISE(ABORT, 'stop'); END`)
  })
  await importFile(id, fileOf("b"), 2, 2)
  const countRows = () =>
    runInDurableObject(sessionOf(id), (_object, { storage }) =>
      Number(storage.sql.exec("SELECT count(*) AS n FROM transcript").one()["n"]),
    )
  await expect.poll(countRows).toBeGreaterThan(100)
  const during = await pageOf(id)
  expect(during).toMatchObject({ messages: [{ id: "m1", status: "queued" }], has_more: false, seq: 1 })
  expect([...client.messages.keys()]).toEqual(["m1"])
  await evictDurableObject(sessionOf(id))
  expect((await pageOf(id)).messages).toEqual(during.messages)
  // A client that connects now resumes without a gap.
  const late = await connect(id, CLAIMS, { epoch: during.epoch, after: 0 })
  await late.untilTrue((frame) => frame.type === "message" && frame.id === "m1")
  await queueMessage(client, "m2")
  await late.untilTrue((frame) => frame.type === "message" && frame.id === "m2")
  await runInDurableObject(sessionOf(id), (_object, { storage }) => void storage.sql.exec("DROP TRIGGER stop"))
  await evictDurableObject(sessionOf(id))
  expect((await pageOf(id)).messages.length).toBeGreaterThan(0)
  const epoch = await untilNewEpoch(late, during.epoch)
  expect(wireOf(late)).toEqual([during.epoch, 1, 2, epoch])
  expect(late.broken).toBeNull()
  await expect.poll(async () => (await pageOf(id)).messages.at(-1)?.status).toBe("completed")
  const page = await pageOf(id, { limit: 4 * TURNS + 50 })
  expect(page.messages).toHaveLength(4 * TURNS + 4)
  expect(page.messages[0]).toMatchObject({ content: "a question 0" })
})
