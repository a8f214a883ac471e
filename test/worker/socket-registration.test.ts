/**
 * socket-registration.test.ts: tests that a socket opens without waiting for its user's directory, and is registered
 * later.
 */

import { env, evictDurableObject, runInDurableObject } from "cloudflare:test"
import { afterEach, describe, expect, test, vi } from "vitest"
import { SOCKET_REGISTER_MS, TOKEN_TRUST_MS } from "../../shared/limits.ts"
import { Directory } from "../../worker/directory/directory-object.ts"
import { verifyToken } from "../../worker/auth/verify-token.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"
import { getAttachment, setAttachment } from "../../worker/socket/socket-attachment.ts"
import { Tenant } from "../../worker/tenant/tenant-object.ts"
import { call, makeSession, openSocket, SECRET, type TestConnection, tokenOf } from "./http.ts"

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const directoryOf = (tenant: string) => env.DIRECTORY.getByName(`${tenant}:ada`)

async function claimsOf(token: string): Promise<Claims> {
  const verified = await verifyToken(token, SECRET, Date.now())
  if (!verified.ok) throw new Error(verified.fault.reason)
  return verified.value
}

/** Revokes a token as another isolate does, so that this isolate's memory does not contain the revocation. */
async function revokeElsewhere(tenant: string, token: string): Promise<void> {
  expect(await directoryOf(tenant).revokeTokens(await claimsOf(token), false)).toMatchObject({ ok: true })
}

const listHolders = (tenant: string): Promise<string[]> =>
  runInDurableObject(directoryOf(tenant), (_object, { storage: { sql } }) =>
    sql
      .exec("SELECT session FROM holder")
      .toArray()
      .map(({ session }) => String(session)),
  )

/** Methods that only the directory's own parts call. */
const OWN_METHODS = new Set(["constructor", "getHost", "getLists"])

/** Holds back every call to the objects of a class until `release` is called. Returns the names of the calls so far. */
function holdCalls(prototype: object, methods?: readonly string[]) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const calls: string[] = []
  for (const name of methods ?? Object.getOwnPropertyNames(prototype)) {
    const original: unknown = Reflect.get(prototype, name)
    if (OWN_METHODS.has(name) || typeof original !== "function") continue
    const holdCall = async function (this: unknown, ...args: unknown[]) {
      calls.push(name)
      await released
      return await Reflect.apply(original, this, args)
    }
    vi.spyOn(prototype as Record<string, () => unknown>, name).mockImplementation(holdCall)
  }
  return { calls, release }
}

const failRegistration = () =>
  vi.spyOn(Directory.prototype, "authorizeSocket").mockImplementation(() => Promise.reject(new Error("away")))

async function expectEnd(connection: TestConnection, error: string, code = 4401): Promise<void> {
  await expect.poll(() => connection.closed).toBe(code)
  expect(connection.received.at(-1)).toBe(error)
}

describe("opening a socket", () => {
  test("[AU18] waits only for the session's object if the Worker knows the user and the tenant", async () => {
    const token = await tokenOf("au18a", "ada")
    const id = await makeSession(token)
    expect(await call("/v1/sessions", { token })).toMatchObject({ status: 200 })
    const held = [holdCalls(Directory.prototype), holdCalls(Tenant.prototype)]
    // The socket opens and exchanges hellos.
    const connection = await openSocket(id, token)
    connection.socket.send('{"type":"send","id":"q1","content":"/say hi"}')
    await expect.poll(() => connection.received).toContain("ack")
    expect(held.map(({ calls }) => calls.filter((name) => name !== "recordActivity" && name !== "setRunning"))).toEqual(
      // The tenant isn't called, because this isolate has just read the agent's configuration.
      [["authorizeSocket"], []],
    )
    for (const { release } of held) release()
    await expect.poll(() => listHolders("au18a")).toEqual([id])
    expect(connection.closed).toBeNull()
  })

  test("[AU18] [AU7] calls the directory and the tenant first if the Worker does not know them", async () => {
    const [known, token] = [await tokenOf("au18b", "ada"), await tokenOf("au18b", "ada")]
    const id = await makeSession(known)
    await revokeElsewhere("au18b", token)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TOKEN_TRUST_MS })
    const asked = vi.spyOn(Directory.prototype, "getRevocationState")
    const access = vi.spyOn(Tenant.prototype, "getAccess")
    await expect(openSocket(id, token)).rejects.toThrow("token_revoked")
    expect([asked.mock.calls.length, access.mock.calls.length]).toEqual([1, 1])
  })

  test("[AU18] with a token that another isolate has revoked is undone: the socket closes when the directory has responded", async () => {
    const token = await tokenOf("au18c", "ada")
    const id = await makeSession(token)
    await revokeElsewhere("au18c", token)
    await expectEnd(await openSocket(id, token, null), "token_revoked")
    expect(await listHolders("au18c")).toEqual([])
  })

  test("[AU18] [US7] as a suspended user is undone in the same way", async () => {
    const token = await tokenOf("au18d", "ada")
    const id = await makeSession(token)
    await directoryOf("au18d").applyUserState({ version: 1, suspended: true, role: "member", upTo: null })
    await expectEnd(await openSocket(id, token, null), "user_suspended")
  })

  test("[AU18] [AU8] is undone by a revocation between the acceptance and the registration, too", async () => {
    const token = await tokenOf("au18e", "ada")
    const id = await makeSession(token)
    const { release } = holdCalls(Directory.prototype, ["authorizeSocket"])
    const connection = await openSocket(id, token)
    await revokeElsewhere("au18e", token)
    release()
    await expectEnd(connection, "token_revoked")
  })

  test("[AU18] checks the token again first if the last check was so long ago that its result would expire before the registration", async () => {
    const token = await tokenOf("au18f", "ada")
    const id = await makeSession(token)
    await call("/v1/sessions", { token })
    await revokeElsewhere("au18f", token)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + TOKEN_TRUST_MS - SOCKET_REGISTER_MS })
    expect(await call("/v1/sessions", { token })).toMatchObject({ status: 200 })
    failRegistration()
    await expect(openSocket(id, token)).rejects.toThrow("token_revoked")
  })
})

describe("a socket that could not be registered", () => {
  test("[AU19] is registered later, and then revocations reach it", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {})
    const token = await tokenOf("au19a", "ada")
    const id = await makeSession(token)
    const failing = failRegistration()
    const connection = await openSocket(id, token)
    await expect.poll(() => failing.mock.calls.length).toBeGreaterThan(1)
    failing.mockRestore()
    await expect.poll(() => listHolders("au19a"), { timeout: 10_000 }).toEqual([id])
    await revokeElsewhere("au19a", token)
    await expectEnd(connection, "token_revoked")
  })

  test("[AU19] is closed after SOCKET_REGISTER_MS", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {})
    const token = await tokenOf("au19b", "ada")
    const id = await makeSession(token)
    const failing = failRegistration()
    const connection = await openSocket(id, token)
    await expect.poll(() => failing.mock.calls.length).toBeGreaterThan(0)
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + SOCKET_REGISTER_MS })
    await expectEnd(connection, "internal", 1011)
  })

  test("[AU19] is closed even if the directory never responds", async () => {
    vi.spyOn(console, "error").mockImplementation(() => {})
    const token = await tokenOf("au19c", "ada")
    const id = await makeSession(token)
    const { release } = holdCalls(Directory.prototype, ["authorizeSocket"])
    const connection = await openSocket(id, token)
    await expect.poll(() => connection.closed, { timeout: 4 * SOCKET_REGISTER_MS }).toBe(1011)
    release()
  })

  test("[AU19] is registered when its object wakes up, if the object slept meanwhile", async () => {
    const token = await tokenOf("au19d", "ada")
    const id = await makeSession(token)
    const connection = await openSocket(id, token)
    await expect.poll(() => listHolders("au19d")).toEqual([id])
    // Pretend that the object was evicted before the directory received the call.
    await directoryOf("au19d").removeSession(id)
    const stub = env.SESSION.getByName(`au19d:${id}`)
    await runInDurableObject(stub, (_object, state) => {
      for (const socket of state.getWebSockets())
        setAttachment(socket, { ...getAttachment(socket), isRegistered: false })
    })
    await evictDurableObject(stub)
    expect(await call(`/v1/sessions/${id}/conversation/recent`, { token })).toMatchObject({ status: 200 })
    await expect.poll(() => listHolders("au19d")).toEqual([id])
    await revokeElsewhere("au19d", token)
    await expectEnd(connection, "token_revoked")
  })
})
