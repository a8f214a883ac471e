/**
 * intruders.test.ts: generated requests and frames of other tenants, users and roles against everything that a tenant has.
 * None returns any of it, and none changes a row or a file.
 */

import { env, SELF } from "cloudflare:test"
import fc from "fast-check"
import { nanoid } from "nanoid"
import { expect, test } from "vitest"
import { issueToken } from "../../worker/auth/verify-token.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"
import { ACCESS_TABLE } from "../../worker/routes/access/access-table.ts"
import { FRAME_ACCESS } from "../../worker/socket/frame-access.ts"
import { PROTOCOL_VERSION } from "../../shared/limits.ts"
import { assertPropertyAsync, IS_FULL } from "../support/seeded.ts"
import { png, upload } from "./files.ts"
import { call, HELLO, HOST, nowSeconds, SECRET, socketHeaders, tokenOf } from "./http.ts"
import { createKey, createTenant } from "./tenant-access.ts"
import { digestBucket, digestOf } from "./storage-digest.ts"

const T = "vault"
/** In everything that only ada, boss and the tenant's administrators may read. */
const MARK = "zq-private-mark"
/** In the session that ada shares with vic. */
const SHARED_MARK = "zq-shared-mark"
const VICTIMS = { ada: ["a1", "a2"], boss: ["b1"] } as const

/** Attempts between two comparisons of what is stored. */
const ATTEMPTS_PER_RUN = 50
const ATTEMPTS = 10_000

interface Intruder {
  readonly name: string
  readonly token: string | null
  /** Belongs to the victims' tenant, or claims to. */
  readonly isInside: boolean
  /** May read the shared session. */
  readonly isViewer?: true
  /** May configure the tenant, so only the routes of sessions are tried. */
  readonly isAdmin?: true
}

const intruders: Intruder[] = []
let assetId = ""

function sign(claims: Partial<Claims> & Pick<Claims, "tenant" | "user">, secret = SECRET): Promise<string> {
  const issued = Date.now() / 1000
  return issueToken({ expires: nowSeconds() + 3_600, issued, token: nanoid(), ...claims }, secret)
}

const asJson = (value: object) => ({ body: JSON.stringify(value) })

/** Creates what the victims have, and the intruders' tokens. */
async function prepare(): Promise<void> {
  const [ada, boss] = [await tokenOf(T, "ada"), await sign({ tenant: T, user: "boss", role: "owner" })]
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
  assetId = (await upload("a1", ada, png(1), { name: `${MARK}.png` })).json.id
  await call("/v1/agents/secret", { method: "PUT", token: boss, ...asJson({ description: "d", prompt: MARK }) })
  for (const id of ["vic", "ex"]) await env.TENANT.getByName(T).registerUser({ id })
  for (const user of ["vic", "ex"]) await call(`/v1/sessions/a2/viewers/${user}`, { method: "PUT", token: ada })
  await call("/v1/sessions/a1/viewers/ex", { method: "PUT", token: ada })
  for (const id of VICTIMS.ada) await call(`/v1/sessions/${id}/viewers/ex`, { method: "DELETE", token: ada })
  const revoked = await sign({ tenant: T, user: "ada" })
  await call("/v1/tokens/revoke", { method: "POST", token: revoked, body: "{}" })
  await call("/v1/sessions", { method: "POST", token: await tokenOf(T, "eve"), ...asJson({ id: "e1" }) })

  const add = (name: string, token: string | null, more: Partial<Intruder> = {}) =>
    intruders.push({ name, token, isInside: true, ...more })
  // Every tenant name that a mistake could confuse with the victim's, as its most powerful user and as the victim's namesake.
  for (const tenant of ["eu.vault", "us.vault", "Vault", "vault2", "vaul", "vault_", "demo"]) {
    const outside = { isInside: false }
    for (const user of ["ada", "boss", "eve"])
      add(`${tenant} ${user}`, await sign({ tenant, user, role: user === "eve" ? "viewer" : "owner" }), outside)
    add(`${tenant} admin scope`, await sign({ tenant, user: "ada", scope: "admin" }), outside)
    add(`${tenant} external`, await sign({ tenant, user: "ada", scope: "external", session: "a1" }), outside)
  }
  add("eve", await sign({ tenant: T, user: "eve" }))
  add("eve as viewer", await sign({ tenant: T, user: "eve", role: "viewer" }))
  add("a namesake in upper case", await sign({ tenant: T, user: "Ada" }))
  add("eve's producer", await sign({ tenant: T, user: "eve", scope: "external", session: "e1" }))
  add("a producer of eve for a1", await sign({ tenant: T, user: "eve", scope: "external", session: "a1" }))
  add("an administrator", await sign({ tenant: T, user: "adm", role: "admin" }), { isAdmin: true })
  add("another owner", await sign({ tenant: T, user: "own", role: "owner" }), { isAdmin: true })
  add("an admin token", await sign({ tenant: T, user: "ada", scope: "admin" }), { isAdmin: true })
  add("vic", await sign({ tenant: T, user: "vic", role: "viewer" }), { isViewer: true })
  add("vic as member", await sign({ tenant: T, user: "vic" }), { isViewer: true })
  add("a former viewer", await sign({ tenant: T, user: "ex" }))
  const [ownKey, otherKey] = [await createTenant(T), await createTenant("vault2")]
  add("an API key of another tenant", otherKey)
  add("an API key for viewers", (await createKey(ownKey, { roles: ["viewer"] })).key)
  add("an API key with another tenant's name", otherKey.replace("vault2", T))
  add("no token", null)
  add("ada, revoked", revoked)
  add("ada, expired", await sign({ tenant: T, user: "ada", expires: nowSeconds() - 60 }))
  add("ada, another secret", await sign({ tenant: T, user: "ada" }, `${SECRET}x`))
  const [head, , signature] = revoked.split(".")
  const payload = btoa(JSON.stringify({ tenant: T, sub: "ada", exp: nowSeconds() + 600 })).replaceAll("=", "")
  add("ada, payload replaced", `${head}.${payload}.${signature}`)
  add("ada, no algorithm", `${btoa('{"alg":"none"}').replaceAll("=", "")}.${payload}.`)
}

const SESSIONS = ["a1", "a2", "b1", "e1", "a1.ada", "a1.eve", "shared", "A1"]
const USERS = ["ada", "boss", "eve", "vic", "ex", "own"]

const RULES = ACCESS_TABLE.filter(({ allow }) => allow !== "open")
const READING_RULES = RULES.filter(({ admitsViewers }) => admitsViewers === true)
const SESSION_RULES = RULES.filter(({ path }) => path.startsWith("/v1/sessions/:id"))

/** Half of the attempts name a victim's session with its owner, and half come from the tenant itself. */
const attempt = fc.record({
  intruder: fc.record({ isInside: fc.boolean(), n: fc.nat() }),
  rule: fc.oneof(fc.constantFrom(...READING_RULES), fc.constantFrom(...SESSION_RULES), fc.constantFrom(...RULES)),
  target: fc.oneof(
    fc.constantFrom(...Object.entries(VICTIMS).flatMap(([owner, ids]) => ids.map((session) => ({ session, owner })))),
    fc.record({ session: fc.constantFrom(...SESSIONS), owner: fc.constantFrom(undefined, ...USERS) }),
  ),
  user: fc.constantFrom(...USERS),
  agent: fc.constantFrom("secret", "general"),
  claims: fc.constantFrom(undefined, { tenant: T, user: "ada", expires: 4e9, token: null, issued: 0, role: "owner" }),
  body: fc.constantFrom<object>(
    {},
    { id: "a1", title: "x" },
    { id: "a1-q", content: "/say x", reply_to: "a1-q" },
    { content: "", attachments: ["ASSET"] },
    { urls: ["/media/ASSET", "/canvas/documents/ASSET/index.html"] },
    { exchange_id: "a1-q" },
    { text: "x", responseId: "a1-q" },
    { all: true },
    { media_hosts: ["evil.example.com"] },
    { description: "d", prompt: "p" },
    { user: "ada", role: "owner" },
  ),
  query: fc.constantFrom("", "&after=0", "&limit=100", "&responseId=a1-q", "&format=markdown"),
  frame: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom(...Object.keys(FRAME_ACCESS))),
})

type Attempt = typeof attempt extends fc.Arbitrary<infer A> ? A : never

/** A frame of a viewer, whose socket opens. */
const viewerFrame = fc
  .tuple(attempt, fc.constantFrom(...Object.keys(FRAME_ACCESS)))
  .map(([one, frame]): Attempt => ({ ...one, frame, target: { session: "a2", owner: "ada" } }))

const anyAttempt = fc.oneof(
  { weight: 7, arbitrary: fc.record({ one: attempt, isViewers: fc.constant(false) }) },
  fc.record({ one: viewerFrame, isViewers: fc.constant(true) }),
)

/** Text that an intruder receives. */
async function tryRequest(
  intruder: Intruder,
  { rule, target: { session, owner }, user, agent, claims, body, query }: Attempt,
): Promise<string> {
  const path = rule.path.replace(":id", session).replace(":user", user).replace(/:\w+/g, agent)
  const params = `${owner === undefined ? "" : `owner=${owner}`}${query}`
  const text = JSON.stringify(body).replaceAll("ASSET", assetId)
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
  const links = (answer.json?.signed ?? []).map(({ href }: { href: string | null }) => href)
  const files = await Promise.all(links.filter(Boolean).map(async (href: string) => (await call(href)).status))
  // A link for another session's file may be signed, but finds nothing.
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
    // The answer to this one is the last.
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

/** What others share with a victim, and, in the tenant object, who is a user, what was done and when a key was used. */
const OTHERS_TABLES = ["shared", "users", "audit", "audit_head", "api_keys"]

/** Everything the victims have. */
async function digestVictims(): Promise<string> {
  const objects = [
    env.TENANT.getByName(T),
    ...Object.keys(VICTIMS).map((user) => env.DIRECTORY.getByName(`${T}:${user}`)),
    ...Object.values(VICTIMS).flatMap((ids) => ids.map((id) => env.SESSION.getByName(`${T}:${id}`))),
  ]
  const digests = await Promise.all(objects.map((stub) => digestOf(stub, OTHERS_TABLES)))
  const files = await Promise.all(Object.values(VICTIMS).flatMap((ids) => ids.map((id) => digestBucket(`${T}/${id}/`))))
  return [...digests, ...files].join("\n")
}

test("[RL6] of 10,000 attempts across tenants, users and roles, on every route and with every frame, none succeeds", async () => {
  await prepare()
  const before = await digestVictims()
  const seen = new Set<string>()
  await assertPropertyAsync(
    fc.asyncProperty(
      // Each attempt acts on what the ones before left, so a shorter list shows nothing.
      fc.noShrink(fc.array(anyAttempt, { minLength: ATTEMPTS_PER_RUN, maxLength: ATTEMPTS_PER_RUN })),
      async (attempts) => {
        for (const { one, isViewers } of attempts) {
          const { isInside, n } = one.intruder
          const group = intruders.filter((intruder) =>
            isViewers ? intruder.isViewer === true : intruder.isInside === isInside,
          )
          const intruder = group[n % group.length] as Intruder
          const isOfSessions = /^\/(?:v1|external)\/sessions/.test(one.rule.path)
          if (intruder.isAdmin === true && !isOfSessions) continue
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
  )
  // Each route and each frame was among them.
  if (IS_FULL) expect(seen.size).toBe(RULES.length + Object.keys(FRAME_ACCESS).length)
}, 600_000)
