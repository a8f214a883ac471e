/**
 * intruders.test.ts: sends generated requests and frames of other tenants, users and roles against all data of a
 * tenant. None of them returns any of the data, and none changes a row or a file.
 */

import { env, runInDurableObject, SELF } from "cloudflare:test"
import fc from "fast-check"
import { nanoid } from "nanoid"
import { expect, test } from "vitest"
import { issueToken } from "../../worker/auth/verify-token.ts"
import { archiveKey } from "../../worker/leaving/archive-files.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"
import type { AccessRule } from "../../worker/routes/access/access-table.ts"
import { FRAME_ACCESS } from "../../worker/socket/frame-access.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { assertPropertyAsync, IS_FULL } from "../support/seeded.ts"
import {
  fillPath,
  isAdministration,
  isAlwaysForbidden,
  isForbidden,
  listBodies,
  type Names,
  type Rights,
} from "./administration-attempts.ts"
import {
  ADMINISTRATION_RULES,
  anyAttempt,
  type Attempt,
  PLAIN_ATTEMPT,
  RULES,
  T,
  VICTIMS,
} from "./intruder-attempts.ts"
import { png, postFile } from "./files.ts"
import { call, HELLO, HOST, nowSeconds, SECRET, socketHeaders, tokenOf } from "./http.ts"
import { AUDIENCE, foreignClaims, putIssuer, registerIssuer, startProvider } from "./oidc.ts"
import { createKey, createTenant } from "./tenant-access.ts"
import { digestBucket, digestOf } from "./storage-digest.ts"
import { exportTenant } from "./tenant-transfer.ts"

/** A mark that is part of everything that only ada, boss and the tenant's administrators may read. */
const MARK = "zq-private-mark"
/** A mark that is part of the session that ada shares with vic. */
const SHARED_MARK = "zq-shared-mark"

/** Number of attempts with `RUNS=long`. */
const ATTEMPTS = 10_000
/** Number of attempts between two comparisons of the stored data. */
const ATTEMPTS_PER_RUN = 50

interface Intruder {
  readonly name: string
  readonly token: string | null
  /** Whether the intruder belongs to the victims' tenant, or claims to. */
  readonly isInside: boolean
  /** Whether the intruder may read the shared session. */
  readonly isViewer?: true
  /** The intruder's rights; absent if there are none. */
  readonly rights?: Rights
}

const intruders: Intruder[] = []
let assetId = ""
let names: Names
/** The users of the tenant before the first attempt. */
let known: string[] = []

function signClaims(claims: Partial<Claims> & Pick<Claims, "tenant" | "user">, secret = SECRET): Promise<string> {
  const issued = Date.now() / 1000
  return issueToken({ expires: nowSeconds() + 3_600, issued, token: nanoid(), ...claims }, secret)
}

const asJson = (value: object) => ({ body: JSON.stringify(value) })

/** Creates the victims' data. */
async function prepareVictims(): Promise<void> {
  const [ada, boss] = [await tokenOf(T, "ada"), await signClaims({ tenant: T, user: "boss", role: "owner" })]
  for (const [token, ids] of [
    [ada, VICTIMS.ada],
    [boss, VICTIMS.boss],
  ] as const) {
    for (const id of ids) {
      const mark = id === "a2" ? SHARED_MARK : MARK
      await call("/v1/sessions", { method: "POST", token, ...asJson({ id, title: mark }) })
      await call(`/v1/sessions/${id}/messages`, {
        method: "POST",
        token,
        ...asJson({ id: `${id}-q`, content: `/say ${mark}` }),
      })
      await expect
        .poll(async () => (await call(`/v1/sessions/${id}/conversation/recent`, { token })).json.messages[1]?.status)
        .toBe("completed")
    }
  }
  assetId = (await postFile("a1", ada, png(1), { name: `${MARK}.png` })).json.id
  await call("/v1/agents/secret", { method: "PUT", token: boss, ...asJson({ description: "d", prompt: MARK }) })
  for (const id of ["vic", "ex"]) await env.TENANT.getByName(T).registerUser({ id })
  for (const user of ["vic", "ex"]) await call(`/v1/sessions/a2/viewers/${user}`, { method: "PUT", token: ada })
  await call("/v1/sessions/a1/viewers/ex", { method: "PUT", token: ada })
  for (const id of VICTIMS.ada) await call(`/v1/sessions/${id}/viewers/ex`, { method: "DELETE", token: ada })
  await call("/v1/users/ada", { method: "PATCH", token: boss, ...asJson({ name: MARK }) })
  await call("/v1/sessions", { method: "POST", token: await tokenOf(T, "eve"), ...asJson({ id: "e1" }) })
  // Let the other users make their first contact.
  for (const [user, role] of [
    ["adm", "admin"],
    ["own", "owner"],
    ["vic", "member"],
    ["ex", "member"],
  ] as const)
    await call("/v1/sessions", { method: "POST", token: await signClaims({ tenant: T, user, role }), body: "{}" })
}

/** Creates the intruders' credentials, and the data of the tenant's owners. */
async function prepareIntruders(): Promise<void> {
  const revoked = await signClaims({ tenant: T, user: "ada" })
  await call("/v1/tokens/revoke", { method: "POST", token: revoked, body: "{}" })
  const addIntruder = (name: string, token: string | null, more: Partial<Intruder> = {}) =>
    intruders.push({ name, token, isInside: true, ...more })
  // For each tenant name that a mistake could confuse with the victims' tenant, add users who have the same ids as
  // the victims and the intruder eve.
  for (const tenant of ["eu.vault", "us.vault", "Vault", "vault2", "vaul", "vault_", "demo"]) {
    const outside = { isInside: false }
    for (const user of ["ada", "boss", "eve"])
      addIntruder(
        `${tenant} ${user}`,
        await signClaims({ tenant, user, role: user === "eve" ? "viewer" : "owner" }),
        outside,
      )
    addIntruder(`${tenant} admin scope`, await signClaims({ tenant, user: "ada", scope: "admin" }), outside)
    addIntruder(
      `${tenant} external`,
      await signClaims({ tenant, user: "ada", scope: "external", session: "a1" }),
      outside,
    )
  }
  addIntruder("eve", await signClaims({ tenant: T, user: "eve" }))
  addIntruder("eve as viewer", await signClaims({ tenant: T, user: "eve", role: "viewer" }))
  addIntruder("a namesake in upper case", await signClaims({ tenant: T, user: "Ada" }))
  addIntruder("eve's producer", await signClaims({ tenant: T, user: "eve", scope: "external", session: "e1" }))
  addIntruder(
    "a producer of eve for a1",
    await signClaims({ tenant: T, user: "eve", scope: "external", session: "a1" }),
  )
  addIntruder("an administrator", await signClaims({ tenant: T, user: "adm", role: "admin" }), { rights: "admin" })
  addIntruder("another owner", await signClaims({ tenant: T, user: "own", role: "owner" }), { rights: "owner" })
  addIntruder("an admin token", await signClaims({ tenant: T, user: "ada", scope: "admin" }), { rights: "agents" })
  addIntruder("vic", await signClaims({ tenant: T, user: "vic", role: "viewer" }), { isViewer: true })
  addIntruder("vic as member", await signClaims({ tenant: T, user: "vic" }), { isViewer: true })
  addIntruder("a former viewer", await signClaims({ tenant: T, user: "ex" }))
  const [ownKey, otherKey] = [await createTenant(T), await createTenant("vault2")]
  addIntruder("an API key of another tenant", otherKey, { isInside: false })
  addIntruder("an API key for viewers", (await createKey(ownKey, { roles: ["viewer"] })).key)
  addIntruder("an API key for members", (await createKey(ownKey, { roles: ["member"] })).key)
  addIntruder("an API key for administrators", (await createKey(ownKey, { roles: ["admin"] })).key, { rights: "admin" })
  addIntruder("an owner's API key", ownKey, { rights: "owner" })
  addIntruder("an API key with another tenant's name", otherKey.replace("vault2", T))
  addIntruder("no token", null)
  addIntruder("ada, revoked", revoked)
  addIntruder("ada, expired", await signClaims({ tenant: T, user: "ada", expires: nowSeconds() - 60 }))
  addIntruder("ada, another secret", await signClaims({ tenant: T, user: "ada" }, `${SECRET}x`))
  const [head, , signature] = revoked.split(".")
  const payload = btoa(JSON.stringify({ tenant: T, sub: "ada", exp: nowSeconds() + 600 })).replaceAll("=", "")
  addIntruder("ada, payload replaced", `${head}.${payload}.${signature}`)
  addIntruder("ada, no algorithm", `${btoa('{"alg":"none"}').replaceAll("=", "")}.${payload}.`)
  await prepareProviders(addIntruder)
  names = { ...names, tenant: T, key: (await createKey(ownKey, { name: MARK, roles: ["owner"] })).id }
  names = { ...names, exported: await exportTenant(T) }
}

/**
 * Adds users from the tenant's provider and from another tenant's provider, and tokens that a provider signed for
 * another audience or in another issuer's name.
 */
async function prepareProviders(
  add: (name: string, token: string | null, more?: Partial<Intruder>) => void,
): Promise<void> {
  const [own, other] = [await startProvider(), await startProvider()]
  const put = await putIssuer(T, { issuer: own.issuer, audience: AUDIENCE, roles: ["owner", "member"] }, { name: MARK })
  expect(put.status, put.text).toBe(200)
  await registerIssuer("vault2", other)
  names = { ...names, issuer: MARK, provider: own.issuer }
  const createClaims = (change: object = {}) => foreignClaims(own, { exp: nowSeconds() + 3_600, ...change })
  const mallory = await own.sign({ payload: createClaims({ sub: "mallory" }) })
  expect((await call("/v1/sessions", { token: mallory })).status).toBe(200)
  add("mallory of the provider", mallory)
  const more = { tenant: T, role: "owner", scope: "admin", user: "ada" }
  add("ada of the provider, with claims of ours", await own.sign({ payload: createClaims(more) }))
  const payload = { ...foreignClaims(other, { exp: nowSeconds() + 3_600 }), ...more }
  add("another tenant's provider", await other.sign({ payload }), { isInside: false })
  add("another provider in the tenant's name", await other.sign({ payload: createClaims(more) }))
  add(
    "a token of the provider for another audience",
    await own.sign({ payload: createClaims({ aud: "https://other.example.com" }) }),
  )
}

let prepared: Promise<void> | undefined

/** Prepares the data once for all tests. The first test does it, because it polls. */
function prepareOnce(): Promise<void> {
  prepared ??= prepareVictims()
    .then(prepareIntruders)
    .then(async () => {
      known = (await listRows(env.TENANT.getByName(T), "SELECT id FROM users")).map(({ id }) => String(id))
    })
  return prepared
}

/** Returns whether the sender may use the route for at least some users and keys. */
function isAllowedForSome(rule: AccessRule, rights: Rights): boolean {
  const isOfSessions = /^\/(?:v1|external)\/sessions/.test(rule.path)
  return !isOfSessions && !isAlwaysForbidden(rule, rights)
}

/** Sends a request and returns the text that the intruder receives. */
async function tryRequest(
  intruder: Intruder,
  { rule, target: { session, owner }, user, agent, claims, body, query }: Attempt,
): Promise<string> {
  const path = isAdministration(rule)
    ? fillPath(rule, user, agent, intruder.isInside ? names : { ...names, issuer: "idp" })
    : rule.path.replace(":id", session).replace(":user", user).replace(/:\w+/g, agent)
  const params = `${owner === undefined ? "" : `owner=${owner}`}${query}`
  const text = JSON.stringify(body ?? listBodies(rule, names)[0]).replaceAll("ASSET", assetId)
  const { token } = intruder
  const answer = await call(`${path}?${params}`, {
    method: rule.method,
    ...(token === null ? {} : { token }),
    ...(rule.method === "GET" ? {} : { body: text }),
    headers: {
      ...(path.endsWith("/socket") ? socketHeaders(token ?? "x") : {}),
      ...(claims === undefined ? {} : { "x-cuecard-claims": JSON.stringify(claims) }),
    },
  })
  // An intruder's request to an administration route must be refused before it is read.
  const isRefused = [401, 403, 404].includes(answer.status) || (body !== null && answer.status === 400)
  if (intruder.isInside && isAdministration(rule) && !isRefused) return MARK
  const links = (answer.json?.signed ?? []).map(({ href }: { href: string | null }) => href)
  const files = await Promise.all(links.filter(Boolean).map(async (href: string) => (await call(href)).status))
  // A link for another session's file may be signed, but must not return the file.
  return answer.text + (files.includes(200) ? MARK : "")
}

/** Opens a socket and sends one frame that names the victims' messages. Returns what came back, or the refusal. */
async function tryFrame({ token }: Intruder, { target: { session, owner }, frame }: Attempt): Promise<string> {
  const path = `${HOST}/v1/sessions/${session}/socket${owner === undefined ? "" : `?owner=${owner}`}`
  const answer = await SELF.fetch(path, { headers: socketHeaders(token ?? "x") })
  const socket = answer.webSocket
  if (socket === null) return await answer.text()
  const received: string[] = []
  const ids = { id: "f1", message: "a2-q", exchange_id: "a2-q", call_id: "a2-q", decision: "allow" }
  const frames = [
    { ...JSON.parse(HELLO), after: 0, epoch: "x" },
    { type: frame, ...ids, content: "x", version: 1, seq: 1, protocol: PROTOCOL_VERSION, live: true },
    // The response to this frame is the last one.
    { type: "last" },
  ]
  await new Promise<void>((resolve) => {
    socket.addEventListener("close", () => resolve())
    socket.addEventListener("message", ({ data }) => {
      received.push(String(data))
      if (received.at(-1)?.includes('"frame_unknown"') === true) resolve()
    })
    socket.accept()
    for (const one of frames) socket.send(JSON.stringify(one))
  })
  socket.close()
  return received.join("\n")
}

/** Returns the tables that other users write to, each with a query for the rows that no intruder may change. */
function listTablesOfOtherUsers(): Readonly<Record<string, string>> {
  const ids = known.map((id) => `'${id}'`).join()
  return {
    shared: "SELECT * FROM shared WHERE owner IN ('ada', 'boss')",
    users: `SELECT * FROM users WHERE id IN (${ids}) OR role IN ('owner', 'admin')`,
    user_keys: `SELECT * FROM user_keys WHERE user IN (${ids})`,
    // Omit the columns that change when a key is used.
    api_keys: "SELECT id, hash, name, roles, created, expires FROM api_keys",
    // Omit the column with the time of the last fetch, because a token that names an unknown key makes the tenant fetch
    // the provider's keys again.
    issuers: "SELECT name, issuer, audience, config, secret, metadata, keys, created FROM issuers",
    audit:
      "SELECT at, actor, action, target FROM audit WHERE action NOT IN ('key.used', 'key.refused', 'token.refused', 'failures.omitted')",
  }
}

async function listRows(stub: DurableObjectStub, sql: string) {
  return await runInDurableObject(stub, (_object, { storage }) => storage.sql.exec(sql).toArray())
}

/** Returns all of the victims' data, as text. */
async function digestVictims(): Promise<string> {
  const [tenant, others] = [env.TENANT.getByName(T), listTablesOfOtherUsers()]
  const directories = ["ada", "boss", "vic", "ex"].map((user) => env.DIRECTORY.getByName(`${T}:${user}`))
  const objects = [
    tenant,
    ...directories.slice(0, 2),
    ...Object.values(VICTIMS).flatMap((ids) => ids.map((id) => env.SESSION.getByName(`${T}:${id}`))),
  ]
  const digests = await Promise.all(objects.map((stub) => digestOf(stub, [...Object.keys(others), "audit_head"])))
  const { shared = "", ...ofTenant } = others
  const rows = await Promise.all([
    ...Object.values(ofTenant).map((sql) => listRows(tenant, sql)),
    ...directories.map((stub) => listRows(stub, shared)),
  ])
  const prefixes = [...Object.values(VICTIMS).flatMap((ids) => ids.map((id) => `${T}/${id}/`)), dirOf(names.exported)]
  const files = await Promise.all(prefixes.map((prefix) => digestBucket(prefix)))
  return [...digests, ...rows.map((row) => JSON.stringify(row)), ...files].join("\n")
}

const dirOf = (exported: string): string => archiveKey(T, exported, 0).replace(/[^/]*$/, "")

test("[RL6] every administration route refuses every intruder from the tenant, even with a request that an owner could make", async () => {
  await prepareOnce()
  const before = await digestVictims()
  for (const rule of ADMINISTRATION_RULES) {
    for (const intruder of intruders) {
      const { isInside, rights = "none" } = intruder
      // Skip users of other tenants, who may do all this in their own tenant.
      if (!isInside || !isForbidden(rule, rights)) continue
      // An administrator may change everyone except owners.
      for (const user of rights === "none" && rule.path.includes("/users/:id") ? ["ada", "boss"] : ["boss"])
        for (const body of listBodies(rule, names)) {
          const text = await tryRequest(intruder, { ...PLAIN_ATTEMPT, rule, user, body })
          const what = `${intruder.name}: ${rule.method} ${rule.path} ${JSON.stringify(body)}`
          if (text.includes(MARK)) throw new Error(`allowed for ${what}`)
        }
    }
    expect(await digestVictims(), rule.path).toBe(before)
  }
}, 600_000)

test("[RL6] no generated attempt across tenants, users and roles succeeds, on any route or with any frame", async () => {
  await prepareOnce()
  const before = await digestVictims()
  const seen = new Set<string>()
  await assertPropertyAsync(
    fc.asyncProperty(
      // Don't shrink a failing list, because each attempt acts on the state that the earlier attempts left.
      fc.noShrink(fc.array(anyAttempt, { minLength: ATTEMPTS_PER_RUN, maxLength: ATTEMPTS_PER_RUN })),
      async (attempts) => {
        for (const { one, isViewers } of attempts) {
          const { isInside, n } = one.intruder
          const group = intruders.filter((intruder) =>
            isViewers ? intruder.isViewer === true : intruder.isInside === isInside,
          )
          const intruder = group[n % group.length] as Intruder
          // An allowed request is not an intrusion.
          const { rights = "none" } = intruder
          if (rights !== "none" && isAllowedForSome(one.rule, rights)) continue
          const text = await (one.frame === null ? tryRequest(intruder, one) : tryFrame(intruder, one))
          const what = `${intruder.name}: ${JSON.stringify(one)}`
          if (text.includes(MARK)) throw new Error(`read by ${what}`)
          if (text.includes(SHARED_MARK) && intruder.isViewer !== true) throw new Error(`read by ${what}`)
          seen.add(one.frame ?? `${one.rule.method} ${one.rule.path}`)
        }
        expect(await digestVictims()).toBe(before)
      },
    ),
    ATTEMPTS / ATTEMPTS_PER_RUN,
    0.5,
  )
  // In full runs, the attempts must have covered each route and each frame.
  if (IS_FULL) expect(seen.size).toBe(RULES.length + Object.keys(FRAME_ACCESS).length)
}, 600_000)
