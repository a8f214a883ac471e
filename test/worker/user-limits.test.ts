/** user-limits.test.ts: tests the limits on a user's sessions and sockets. */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import fc from "fast-check"
import { nanoid } from "nanoid"
import { expect, test } from "vitest"
import { MAX_SESSION_SOCKETS, MAX_USER_SESSIONS, MAX_USER_SOCKETS } from "../../shared/user-limits.ts"
import { HolderSockets } from "../../worker/directory/holder-sockets.ts"
import { RevocationRows } from "../../worker/directory/revocation-rows.ts"
import { assertPropertyAsync, testInFull } from "../support/seeded.ts"
import { CLAIMS } from "../support/socket.ts"
import { call, HOST, makeSession, openSocket, refusal, socketHeaders, tokenOf } from "./http.ts"

const directoryOf = (user: string) => env.DIRECTORY.getByName(`acme:${user}`)
const createUser = (): string => `u-${nanoid(8)}`

const readCounts = (user: string) =>
  runInDurableObject(directoryOf(user), (_object, { storage: { sql } }) => ({
    listed: Number(sql.exec("SELECT count(*) AS n FROM sessions").one()["n"]),
    counted: Number(sql.exec("SELECT coalesce(sum(sessions), 0) AS n FROM stock").one()["n"]),
  }))

const setCount = (user: string, sessions: number) =>
  runInDurableObject(directoryOf(user), (_object, { storage }) => {
    storage.sql.exec("UPDATE stock SET sessions = ?", sessions)
  })

test("[LI8] a session over the limit is refused until another one is deleted", async () => {
  const user = createUser()
  const token = await tokenOf("acme", user)
  const id = await makeSession(token)
  await setCount(user, MAX_USER_SESSIONS)
  const createSession = (body: object) => call("/v1/sessions", { method: "POST", token, body: JSON.stringify(body) })
  expect(await createSession({})).toEqual(refusal(409, "sessions_full", "10,000 conversations"))
  // Repeating an earlier request must not create another session.
  expect((await createSession({ id })).status).toBe(201)
  expect((await call(`/v1/sessions/${id}`, { method: "DELETE", token })).status).toBe(204)
  expect((await createSession({})).status).toBe(201)
  expect(await createSession({})).toEqual(refusal(409, "sessions_full"))
})

const stepArbitrary = fc.record({
  what: fc.constantFrom("add", "remove", "restore", "erase" as const),
  id: fc.constantFrom("a", "b", "c", "d"),
})

test("[LI8] the count equals the list after any changes and restarts", async () => {
  const property = fc.asyncProperty(fc.array(stepArbitrary, { maxLength: 12 }), async (steps) => {
    const user = createUser()
    const directoryStub = () => directoryOf(user)
    await directoryStub().addSession("first", "", 1)
    for (const { what, id } of steps) {
      if (what === "add") await directoryStub().addSession(id, "", 1)
      else if (what === "remove") await directoryStub().removeSession(id)
      else if (what === "restore") await directoryStub().restoreEntry({ id, title: "", created: 1, active: 1 })
      else await directoryStub().endErasure(true)
    }
    const { listed, counted } = await readCounts(user)
    expect(counted).toBe(listed)
  })
  await assertPropertyAsync(property, 100)
})

/** The number of sockets that are opened at a time. */
const BATCH = 50

testInFull("[LI9] a socket over the limit is refused, and the others continue", async () => {
  const token = await tokenOf("acme", createUser())
  const id = await makeSession(token)
  const first = await openSocket(id, token)
  const openSocketWith = (headers = socketHeaders(token)) => SELF.fetch(`${HOST}/v1/sessions/${id}/socket`, { headers })
  const others: WebSocket[] = []
  while (others.length < MAX_SESSION_SOCKETS - 1) {
    const count = Math.min(BATCH, MAX_SESSION_SOCKETS - 1 - others.length)
    const responses = await Promise.all(Array.from({ length: count }, () => openSocketWith()))
    for (const { webSocket } of responses) {
      expect(webSocket).not.toBeNull()
      webSocket?.accept()
      if (webSocket !== null) others.push(webSocket)
    }
  }
  const refused = await openSocketWith()
  expect([refused.status, await refused.json()]).toMatchObject([429, { code: "sockets_full" }])
  // A browser gets the reason from the socket.
  const { webSocket } = await openSocketWith(socketHeaders(token, HOST))
  const closed = new Promise<CloseEvent>((resolve) => webSocket?.addEventListener("close", resolve))
  webSocket?.accept()
  expect((await closed).code).toBe(4429)
  first.socket.send(JSON.stringify({ type: "send", id: nanoid(), content: "/say Hi." }))
  await expect.poll(() => first.received).toContain("ack")
  expect(first.closed).toBeNull()
  others[0]?.close()
  await expect.poll(async () => (await openSocketWith()).status).toBe(101)
  for (const socket of [first.socket, ...others]) socket.close()
})

/**
 * Attempts to open sockets. For each session, `stated` is the number of sockets that was last reported, and `actual` is
 * the number of sockets that are really open.
 */
async function checkSockets(
  stated: Readonly<Record<string, number>>,
  actual: Readonly<Record<string, number>>,
  attempts: readonly (readonly [at: number, sockets: number])[],
) {
  const user = createUser()
  await directoryOf(user).addSession("any", "", 1)
  return await runInDurableObject(directoryOf(user), async (_object, { storage: { sql } }) => {
    const rows = new RevocationRows(sql)
    for (const [session, sockets] of Object.entries(stated)) rows.addHolder(session, CLAIMS, 0, sockets)
    const asked: string[] = []
    let now = 0
    const countSockets = async (session: string): Promise<number> => {
      asked.push(session)
      const count = actual[session]
      if (count === undefined) throw new Error("unreachable")
      return count
    }
    const sockets = new HolderSockets({ rows, countSockets, now: () => now })
    const admitted = []
    for (const [at, count] of attempts) {
      now = at
      admitted.push((await sockets.check("new", count)).ok)
    }
    return { admitted, asked }
  })
}

test("[LI9] before a user's socket is refused, the sessions are asked how many sockets are open", async () => {
  const [half, none] = [MAX_USER_SOCKETS / 2, 0]
  const closed = await checkSockets({ a: half, b: half }, { a: none, b: half }, [[0, 1]])
  expect(closed).toEqual({ admitted: [true], asked: ["a", "b"] })
  const full = await checkSockets({ a: half, b: half }, { a: half, b: half }, [[0, 1]])
  expect(full.admitted).toEqual([false])
  const fits = await checkSockets({ a: half }, {}, [[0, half]])
  expect(fits).toEqual({ admitted: [true], asked: [] })
})

test("[LI9] attempts at the limit rarely make the directory ask the sessions, and an unreachable session keeps its last reported number", async () => {
  const full = await checkSockets({ a: MAX_USER_SOCKETS, b: 1 }, { b: 0 }, [
    [0, 1],
    [1, 1],
    [9_999, 1],
    [10_000, 1],
  ])
  expect(full).toEqual({ admitted: [false, false, false, false], asked: ["a", "b", "a"] })
})

test("[LI9] a socket over the user's limit is closed with 4429", async () => {
  const user = createUser()
  const token = await tokenOf("acme", user)
  const id = await makeSession(token)
  // If a session's object does not respond, its last reported number is used.
  await runInDurableObject(directoryOf(user), (_object, { storage: { sql } }) => {
    new RevocationRows(sql).addHolder("gone", CLAIMS, 0, MAX_USER_SOCKETS)
  })
  const open = await openSocket(id, token)
  expect(open.closed).toBeNull()
  await runInDurableObject(directoryOf(user), (_object, { storage: { sql } }) => {
    // The sessions have just been asked, so they are not asked again.
    new RevocationRows(sql).addHolder("gone", CLAIMS, 0, MAX_USER_SOCKETS)
  })
  const over = await openSocket(id, token, null)
  await expect.poll(() => over.closed).toBe(4429)
  expect(over.received).toEqual(["user_sockets_full"])
  expect(open.closed).toBeNull()
  open.socket.close()
})
