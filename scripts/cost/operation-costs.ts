/**
 * operation-costs.ts: the requests that each operation sends to the Worker and the objects, and the rows that it reads
 * and writes.
 *
 * Requests and rows are counted: test/worker/operation-costs.test.ts compares this table with the real Worker. The
 * table contains the highest counts, because timers and caches of 30 s make some counts vary. When the test fails
 * because an operation has changed, copy the counts that it prints into the table, and update docs/cost.md (`npx vitest
 * run test/cost-page.test.ts -u`).
 */

import { type BilledAmounts, OBJECT_GB } from "./prices.ts"

export const OBJECT_CLASSES = ["SESSION", "DIRECTORY", "TENANT"] as const
export type ObjectClass = (typeof OBJECT_CLASSES)[number]

/** The cost of all objects of one class. */
export interface ObjectCost {
  /** Calls and fetches. */
  readonly requests: number
  readonly rowsRead: number
  /** Rows of tables and indexes; setting an alarm counts as one. */
  readonly rowsWritten: number
}

export interface OperationCost extends Partial<Record<ObjectClass, ObjectCost>> {
  readonly what: string
  readonly workerRequests: number
  /** Frames that the client sends. */
  readonly frames: number
  /** Alarms that fire because of the operation. */
  readonly alarms: number
  /** How long the session's object works outside its requests while a model is answering, in seconds. */
  readonly answerSeconds: number
}

const REQUEST = { workerRequests: 1, frames: 0, alarms: 0, answerSeconds: 0 } as const
const createCost = (requests: number, rowsRead: number, rowsWritten: number): ObjectCost => ({
  requests,
  rowsRead,
  rowsWritten,
})

export const OPERATION_COSTS = {
  signIn: {
    what: "a known user signs in: redirect and callback",
    ...REQUEST,
    workerRequests: 2,
    DIRECTORY: createCost(1, 100, 2),
  },
  firstToken: {
    what: "the first token of a page, with name and role read from the tenant",
    ...REQUEST,
    DIRECTORY: createCost(1, 60, 1),
    TENANT: createCost(1, 90, 0),
  },
  nextToken: { what: "each further token within 12 hours", ...REQUEST, DIRECTORY: createCost(1, 60, 1) },
  listSessions: { what: "the list of sessions", ...REQUEST, DIRECTORY: createCost(1, 60, 0) },
  createSession: {
    what: "a session is created",
    ...REQUEST,
    SESSION: createCost(3, 120, 32),
    DIRECTORY: createCost(1, 150, 3),
  },
  readHistory: { what: "a page of history: 4 turns", ...REQUEST, SESSION: createCost(2, 40, 0) },
  openSocket: {
    what: "the first socket of a session",
    ...REQUEST,
    frames: 1,
    alarms: 1,
    SESSION: createCost(1, 0, 1),
    DIRECTORY: createCost(1, 100, 2),
  },
  reopenSocket: {
    what: "another socket of the same user",
    ...REQUEST,
    frames: 1,
    SESSION: createCost(1, 0, 0),
    DIRECTORY: createCost(2, 170, 2),
  },
  renewSocket: {
    what: "another socket with a new token: an alarm closes the socket when the token expires",
    ...REQUEST,
    frames: 1,
    alarms: 1,
    SESSION: createCost(1, 0, 1),
    DIRECTORY: createCost(2, 170, 2),
  },
  firstTurn: {
    what: "the first turn: 400 deltas over 4 s, with two tools",
    ...REQUEST,
    workerRequests: 0,
    frames: 1,
    alarms: 1,
    answerSeconds: 4.1,
    SESSION: createCost(0, 40, 30),
    DIRECTORY: createCost(2, 120, 11),
  },
  turn: {
    what: "each further turn of that size",
    ...REQUEST,
    workerRequests: 0,
    frames: 1,
    alarms: 1,
    answerSeconds: 4.1,
    SESSION: createCost(0, 50, 28),
    DIRECTORY: createCost(2, 150, 7),
  },
  usageBatch: {
    what: "the usage of up to eight turns, reported to the tenant",
    ...REQUEST,
    workerRequests: 0,
    alarms: 1,
    DIRECTORY: createCost(0, 80, 5),
    TENANT: createCost(1, 110, 3),
  },
} as const satisfies Readonly<Record<string, OperationCost>>

export type Operation = keyof typeof OPERATION_COSTS

/** Number of client frames that are billed as one request. */
const FRAMES_PER_REQUEST = 20

/** How long an object works on a request or an alarm, in seconds: more than `npm run bench -- history` measures. */
const REQUEST_SECONDS = 0.01

/** Processor time of the Worker for a request, in milliseconds: verifying a token, and JSON. */
const WORKER_CPU_MS = 2

/** Returns the billed amounts of an operation. */
export function toAmounts(operation: Operation): BilledAmounts {
  const cost: OperationCost = OPERATION_COSTS[operation]
  const objects = OBJECT_CLASSES.map((name) => cost[name]).filter((objectCost) => objectCost !== undefined)
  const sumObjects = (key: keyof ObjectCost): number =>
    objects.reduce((total, objectCost) => total + objectCost[key], 0)
  const handled = sumObjects("requests") + cost.alarms + cost.frames
  return {
    workerRequests: cost.workerRequests,
    workerCpuMs: cost.workerRequests * WORKER_CPU_MS,
    objectRequests: sumObjects("requests") + cost.alarms + cost.frames / FRAMES_PER_REQUEST,
    objectGbSeconds: OBJECT_GB * (cost.answerSeconds + handled * REQUEST_SECONDS),
    rowsRead: sumObjects("rowsRead"),
    rowsWritten: sumObjects("rowsWritten"),
  }
}
