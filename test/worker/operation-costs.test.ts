/** operation-costs.test.ts: tests that the cost model's table matches what the real Worker and objects count. */

import { env } from "cloudflare:test"
import { afterEach, expect, test } from "vitest"
import {
  OBJECT_CLASSES,
  type ObjectCost,
  OPERATION_COSTS,
  type Operation,
  type OperationCost,
} from "../../scripts/cost/operation-costs.ts"
import { SESSION_BYTES } from "../../scripts/cost/usage-profile.ts"
import { type Cost, type CountedDeployment, withCountedObjects } from "./counted-objects.ts"
import { HELLO, socketHeaders, tokenOf } from "./http.ts"
import { registerIssuer, startProvider, TestBrowser } from "./oidc.ts"
import { PacedClock } from "./paced-clock.ts"

const TURN = "/bench deltas=400 tools=2 delay_ms=10"
const SHORT_TURN = "/bench deltas=4"

/**
 * How far the counts may be below the table's values, for example because an alarm is already set or a cache is still
 * fresh. Rows read may be up to twice the table's values, because a read costs only a thousandth of a write, and each
 * new table adds some reads.
 */
const TOLERANCE = { requests: 1, rowsWritten: 2 } as const

const clock = new PacedClock()
afterEach(() => clock.uninstall())

/**
 * The stub of the real object. It is created here, because `env` contains counting namespaces while objects are
 * counted.
 */
const adasDirectory = env.DIRECTORY.getByName("costs:ada")

const NONE = { requests: 0, rowsRead: 0, rowsWritten: 0 } as const

function subtractCost(from: ObjectCost = NONE, less: ObjectCost = NONE): ObjectCost {
  return {
    requests: from.requests - less.requests,
    rowsRead: from.rowsRead - less.rowsRead,
    rowsWritten: from.rowsWritten - less.rowsWritten,
  }
}

type Counts = Partial<Record<Operation, Cost>>

async function closeAndWait(socket: WebSocket | null): Promise<void> {
  socket?.close(1000)
  await new Promise((resolve) => setTimeout(resolve, 500))
}

/** Counts the cost of everything that a page does with one session. */
async function countSession({ fetch, takeCost, readSize }: CountedDeployment) {
  const counts: Counts = {}
  const token = await tokenOf("costs", "ada")
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  const createSession = async (): Promise<string> => {
    const created = await fetch("/v1/sessions", { method: "POST", headers, body: "{}" })
    return (await created.json<{ id: string }>()).id
  }
  const countOperation = async (operation: Operation, run: () => Promise<unknown>): Promise<void> => {
    await run()
    counts[operation] = await takeCost()
  }
  const frames: string[] = []
  const connectSocket = async (id: string, as = token): Promise<WebSocket> => {
    const { webSocket } = await fetch(`/v1/sessions/${id}/socket`, { headers: socketHeaders(as) })
    if (webSocket === null) throw new Error("no socket")
    webSocket.addEventListener("message", ({ data }) => void frames.push(String(data)))
    webSocket.accept()
    frames.length = 0
    webSocket.send(HELLO)
    await expect.poll(() => frames.at(-1)).toContain('"hello"')
    return webSocket
  }
  await createSession()
  await takeCost()
  let id = ""
  await countOperation("createSession", async () => {
    id = await createSession()
  })
  const empty = await readSize("SESSION", `costs:${id}`)
  let [socket, turns] = [null as WebSocket | null, 0]
  await countOperation("openSocket", async () => {
    socket = await connectSocket(id)
  })
  const runTurn = async (content: string): Promise<void> => {
    turns += 1
    frames.length = 0
    await clock.pace(async () => {
      socket?.send(JSON.stringify({ type: "send", id: `q${turns}`, content }))
      await expect.poll(() => frames.at(-1), { timeout: 20_000 }).toContain('"op":"end"')
    })
    // Wait, because the directory is notified of a turn's end only after the clients.
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  await countOperation("firstTurn", () => runTurn(TURN))
  await countOperation("turn", () => runTurn(TURN))
  await runTurn(TURN)
  await runTurn(TURN)
  await takeCost()
  const afterTurns = await readSize("SESSION", `costs:${id}`)
  await countOperation("listSessions", async () => await (await fetch("/v1/sessions", { headers })).text())
  const history = `/v1/sessions/${id}/conversation/recent?limit=50`
  await countOperation("readHistory", async () => await (await fetch(history, { headers })).text())
  // The directory reports to the tenant after eight turns, so run turns until the next one is the eighth.
  for (let i = 0; i < 2; i++) await runTurn(SHORT_TURN)
  await takeCost()
  await runTurn(SHORT_TURN)
  const withoutBatch = await takeCost()
  await runTurn(SHORT_TURN)
  // Send the batch now. It would otherwise wait for its alarm, which is already counted above.
  await adasDirectory.flushUsage()
  const { TENANT, DIRECTORY } = await takeCost()
  if (TENANT !== undefined) counts.usageBatch = { TENANT, DIRECTORY: subtractCost(DIRECTORY, withoutBatch.DIRECTORY) }
  await closeAndWait(socket)
  await takeCost()
  await countOperation("reopenSocket", async () => {
    socket = await connectSocket(id)
  })
  await closeAndWait(socket)
  await takeCost()
  const next = await tokenOf("costs", "ada", 900)
  await countOperation("renewSocket", async () => await connectSocket(id, next))
  return { counts, bytes: { empty, afterTurns } }
}

/** Counts the cost of what a page does for a user who signs in. */
async function countSignIn({ takeCost }: CountedDeployment): Promise<Counts> {
  await registerIssuer("costs2", await startProvider())
  await new TestBrowser("costs2").signIn("ada")
  await takeCost()
  const counts: Counts = {}
  const browser = new TestBrowser("costs2")
  await browser.signIn("ada")
  counts.signIn = await takeCost()
  await browser.post("/auth/token")
  counts.firstToken = await takeCost()
  await browser.post("/auth/token")
  counts.nextToken = await takeCost()
  return counts
}

test("[CM6] the cost model's table has the counted requests and rows of every operation", async () => {
  clock.install()
  await withCountedObjects(async (deployment) => {
    const { counts, bytes } = await countSession(deployment)
    const all: Counts = { ...counts, ...(await countSignIn(deployment)) }
    const counted: Record<string, unknown> = { bytes }
    const expected: Record<string, unknown> = { bytes: SESSION_BYTES }
    for (const [name, operation] of Object.entries(OPERATION_COSTS) as [Operation, OperationCost][]) {
      for (const objectClass of OBJECT_CLASSES) {
        const real = all[name]?.[objectClass] ?? NONE
        const model = operation[objectClass] ?? NONE
        const isNear = (key: keyof typeof TOLERANCE): boolean =>
          real[key] <= model[key] && real[key] >= model[key] - TOLERANCE[key]
        const isSame = isNear("requests") && isNear("rowsWritten") && real.rowsRead <= 2 * model.rowsRead
        expected[`${name} ${objectClass}`] = model
        // Requests to the tenant's object must match exactly, because it must not be called too often.
        const isExact = objectClass !== "TENANT" || real.requests === model.requests
        counted[`${name} ${objectClass}`] = isSame && isExact ? model : real
      }
    }
    expect(counted).toEqual(expected)
  })
})
