/**
 * auth.ts: measures the cost of authentication, for a request and for opening a socket, when all caches are warm.
 *
 * The floor for a request is a request that the same Worker refuses before it looks at credentials (an unknown route).
 * The other requests are refused right after authentication (a malformed query). So no object is called, and the
 * difference is the cost of authentication alone. The kinds alternate, because the machine's load changes. The 10th
 * percentiles are compared, because other processes on the machine delay most of the slower requests. The floor for a
 * socket is a bare object.
 */

import { Agent, get } from "node:http"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { connectSocket } from "./client.ts"
import { startOidcProvider, type TestProvider } from "../support/oidc-provider.ts"
import { startFloor } from "./floor.ts"
import { median, percentile } from "./measure.ts"
import type { Row } from "./table.ts"

const ROUNDS = 1_000
const SOCKET_ROUNDS = 150
const OPERATOR_SECRET = "the-operator-of-this-benchmark-only"
const AUDIENCE = "https://bench.example.com"
const GOAL_MS = 0.3

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

interface Kind {
  readonly what: string
  readonly path: string
  readonly status: number
  readonly token: string
}

/** Returns the time from sending a request to the end of its response, in milliseconds. */
function timeRequest({ url }: Cuecard, { path, status, token }: Kind): Promise<number> {
  const headers = token === "" ? {} : { authorization: `Bearer ${token}` }
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const request = get(new URL(path, url), { agent, headers }, (response) => {
      if (response.statusCode !== status) reject(new Error(`${path}: ${response.statusCode}`))
      response.resume().on("end", () => resolve(performance.now() - started))
    })
    request.on("error", reject)
  })
}

async function sendRequest(
  { url }: Cuecard,
  [method, path]: readonly [method: string, path: string],
  token: string,
  body: object,
): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const response = await fetch(new URL(path, url), { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

/** Returns the kinds of requests. The first kind is the floor. */
async function listKinds(cuecard: Cuecard, provider: TestProvider): Promise<readonly Kind[]> {
  const { key = "" } = await sendRequest(cuecard, ["POST", "/v1/tenants"], OPERATOR_SECRET, { id: "bench" })
  const { token = "" } = await sendRequest(cuecard, ["POST", "/v1/tokens"], key, { user: "ada", ttl: 3600 })
  const { issuer } = provider
  await sendRequest(cuecard, ["PUT", "/v1/issuers/company"], key, { issuer, audience: AUDIENCE })
  const now = Math.floor(Date.now() / 1000)
  const providerToken = await provider.sign({
    payload: { iss: issuer, aud: AUDIENCE, sub: "ben", iat: now, exp: now + 3600 },
  })
  const refused = { path: "/v1/sessions?after=x", status: 400 }
  return [
    { what: "no credentials", path: "/v1/nothing?after=x", status: 404, token: "" },
    { what: "a token signed with the deployment's secret", ...refused, token: cuecard.token },
    { what: "a token of the tenant's key (kid)", ...refused, token },
    { what: "a token of an OpenID provider (RS256)", ...refused, token: providerToken },
    { what: "an API key", path: "/v1/users?after=.", status: 400, token: key },
  ]
}

async function benchRequests(cuecard: Cuecard, kinds: readonly Kind[]): Promise<Row[]> {
  const times = kinds.map((): number[] => [])
  for (let round = -100; round < ROUNDS; round += 1) {
    for (const [i, kind] of kinds.entries()) {
      const ms = await timeRequest(cuecard, kind)
      if (round >= 0) times[i]?.push(ms)
    }
  }
  const [floor = 0, ...others] = times.map((values) => percentile(values, 10))
  return others.map((ms, i) => ({
    what: `a request with ${kinds[i + 1]?.what}: added by authentication`,
    ours: formatMs(ms - floor),
    goal: `≤ ${GOAL_MS} ms`,
    floor: `${formatMs(floor)} (a request that is refused before authentication)`,
    peer: "",
  }))
}

/**
 * Measures how long it takes to open a socket. Opening waits for no object except the session's (AU18);
 * test/worker/socket-registration.test.ts counts the calls.
 */
async function benchSockets(cuecard: Cuecard): Promise<Row[]> {
  const floor = await startFloor()
  const { id } = await cuecard.createSession()
  const [ours, bare]: [number[], number[]] = [[], []]
  for (let round = -20; round < SOCKET_ROUNDS; round += 1) {
    const before = performance.now()
    const socket = await connectSocket(cuecard, id)
    const between = performance.now()
    const other = await floor.open()
    const after = performance.now()
    for (const opened of [socket, other]) opened.close()
    if (round < 0) continue
    ours.push(between - before)
    bare.push(after - between)
  }
  await floor.close()
  return [
    {
      what: "opening a socket, including the checks of its token, owner and revocations; waits for no other object",
      ours: `${formatMs(percentile(ours, 10))} (median ${formatMs(median(ours))})`,
      goal: "",
      floor: `${formatMs(percentile(bare, 10))} (median ${formatMs(median(bare))}), a bare object`,
      peer: "",
    },
  ]
}

export async function benchAuth(): Promise<Row[]> {
  const provider = await startOidcProvider()
  const cuecard = await startCuecard({ port: 0, vars: { OPERATOR_SECRET } })
  try {
    return [...(await benchRequests(cuecard, await listKinds(cuecard, provider))), ...(await benchSockets(cuecard))]
  } finally {
    await cuecard.close()
    await provider.close()
    agent.destroy()
  }
}

const formatMs = (ms: number): string => `${ms.toFixed(2)} ms`
