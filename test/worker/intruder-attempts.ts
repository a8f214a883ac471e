/**
 * intruder-attempts.ts: generates the requests and frames that intruders send in order to read or change a tenant's
 * data.
 */

import fc from "fast-check"
import { ACCESS_TABLE } from "../../worker/routes/access/administration-rules.ts"
import { FRAME_ACCESS } from "../../worker/socket/frame-access.ts"
import { isAdministration } from "./administration-attempts.ts"

/** The tenant of the victims. */
export const T = "vault"
/** The sessions of each victim. */
export const VICTIMS = { ada: ["a1", "a2"], boss: ["b1"] } as const

const SESSIONS = ["a1", "a2", "b1", "e1", "a1.ada", "a1.eve", "shared", "A1"]
export const USERS = ["ada", "boss", "eve", "vic", "ex", "own"]

export const RULES = ACCESS_TABLE.filter(({ allow }) => allow !== "open")
const READING_RULES = RULES.filter(({ admitsViewers }) => admitsViewers === true)
const SESSION_RULES = RULES.filter(({ path }) => path.startsWith("/v1/sessions/:id"))
export const ADMINISTRATION_RULES = RULES.filter(isAdministration)

/**
 * Generates attempts. Half of them name a victim's session together with its owner. Independently of that, half of
 * them come from inside the victims' tenant.
 */
const attempt = fc.record({
  intruder: fc.record({ isInside: fc.boolean(), n: fc.nat() }),
  rule: fc.oneof(
    ...[READING_RULES, SESSION_RULES, ADMINISTRATION_RULES, RULES].map((rules) => fc.constantFrom(...rules)),
  ),
  target: fc.oneof(
    fc.constantFrom(...Object.entries(VICTIMS).flatMap(([owner, ids]) => ids.map((session) => ({ session, owner })))),
    fc.record({ session: fc.constantFrom(...SESSIONS), owner: fc.constantFrom(undefined, ...USERS) }),
  ),
  user: fc.constantFrom(...USERS),
  agent: fc.constantFrom("secret", "general"),
  claims: fc.constantFrom(undefined, { tenant: T, user: "ada", expires: 4e9, token: null, issued: 0, role: "owner" }),
  // With null, the request gets a body that the route accepts.
  body: fc.constantFrom<object | null>(
    null,
    null,
    null,
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
  query: fc.constantFrom(
    "",
    "&q=zq",
    "&around=a1-q",
    "&undo=1",
    "&after=0",
    "&limit=100",
    "&responseId=a1-q",
    "&format=markdown",
  ),
  frame: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, fc.constantFrom(...Object.keys(FRAME_ACCESS))),
})

export type Attempt = typeof attempt extends fc.Arbitrary<infer A> ? A : never

export const PLAIN_ATTEMPT: Omit<Attempt, "rule" | "user" | "body"> = {
  intruder: { isInside: true, n: 0 },
  target: { session: "a1", owner: undefined },
  agent: "secret",
  claims: undefined,
  query: "",
  frame: null,
}

/** Generates a viewer's frames. Unlike the sockets of most intruders, a viewer's socket opens. */
const viewerFrame = fc
  .tuple(attempt, fc.constantFrom(...Object.keys(FRAME_ACCESS)))
  .map(([one, frame]): Attempt => ({ ...one, frame, target: { session: "a2", owner: "ada" } }))

export const anyAttempt = fc.oneof(
  { weight: 7, arbitrary: fc.record({ one: attempt, isViewers: fc.constant(false) }) },
  fc.record({ one: viewerFrame, isViewers: fc.constant(true) }),
)
