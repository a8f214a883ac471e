/**
 * counted-objects.ts: counts the cost of an operation: requests to objects, rows read and written, and alarms set.
 *
 * The Worker and all objects share an environment whose namespaces count every call to a stub. Every cursor of every
 * object's database is kept, and at the end the rows that the cursors have read and written are counted.
 */

import { createExecutionContext, env, runInDurableObject, waitOnExecutionContext } from "cloudflare:test"
import type { Env } from "../../worker/env.ts"
import worker from "../../worker/index.ts"
import { watchCalls } from "../support/watch-calls.ts"

const CLASSES = ["SESSION", "DIRECTORY", "TENANT", "REGISTRY"] as const
export type ObjectClass = (typeof CLASSES)[number]

export interface ObjectCost {
  readonly requests: number
  readonly rowsRead: number
  /** Number of rows written to tables and indexes. Setting an alarm counts as one row. */
  readonly rowsWritten: number
}

export type Cost = Readonly<Partial<Record<ObjectClass, ObjectCost>>>

export interface CountedDeployment {
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** Returns the cost of everything since the last call. Classes whose objects did nothing are omitted. */
  takeCost(): Promise<Cost>
  /** Returns the size of an object's database, in bytes. */
  readSize(objectClass: ObjectClass, name: string): Promise<number>
}

type AnyMethod = (this: object, ...args: unknown[]) => unknown

/**
 * Runs `work` with counted objects. Meanwhile, all objects in the isolate of this test file use the counting
 * environment.
 */
export async function withCountedObjects(work: (deployment: CountedDeployment) => Promise<void>): Promise<void> {
  const requests = new Map<ObjectClass, number>()
  const known = new Map<string, ObjectClass>()
  const cursors = new Map<object, SqlStorageCursor<Record<string, SqlStorageValue>>[]>()
  const alarms = new Map<object, number>()
  const namespaces = Object.fromEntries(
    CLASSES.map((name) => [name, env[name] as unknown as DurableObjectNamespace]),
  ) as Record<ObjectClass, DurableObjectNamespace>
  const bindings = Object.fromEntries(
    CLASSES.map((name) => [
      name,
      countNamespace(namespaces[name], (key, isRequest) => {
        known.set(`${name} ${key}`, name)
        if (isRequest) requests.set(name, (requests.get(name) ?? 0) + 1)
      }),
    ]),
  )
  const [shared, prototypes] = await runInDurableObject(env.SESSION.getByName("any:object"), (object, { storage }) => [
    (object as unknown as { env: Record<string, unknown> }).env,
    { sql: Object.getPrototypeOf(storage.sql), storage: Object.getPrototypeOf(storage) },
  ])
  const { exec } = prototypes.sql
  const { setAlarm } = prototypes.storage
  prototypes.sql.exec = function (...args: unknown[]) {
    const cursor = (exec as AnyMethod).apply(this, args) as SqlStorageCursor<Record<string, SqlStorageValue>>
    cursors.set(this, [...(cursors.get(this) ?? []), cursor])
    return cursor
  } as AnyMethod
  prototypes.storage.setAlarm = function (...args: unknown[]) {
    alarms.set(this, (alarms.get(this) ?? 0) + 1)
    return (setAlarm as AnyMethod).apply(this, args)
  } as AnyMethod
  const before = Object.fromEntries(CLASSES.map((name) => [name, shared[name]]))
  Object.assign(shared, bindings)
  const takeCost = async (): Promise<Cost> => {
    const costs: Partial<Record<ObjectClass, ObjectCost>> = {}
    for (const [object, name] of known) {
      const stub = namespaces[name].getByName(object.slice(name.length + 1))
      const [sql, storage] = await runInDurableObject(stub, (_object, state) => [state.storage.sql, state.storage])
      const own = cursors.get(sql) ?? []
      const sum = costs[name] ?? { requests: requests.get(name) ?? 0, rowsRead: 0, rowsWritten: 0 }
      costs[name] = {
        requests: sum.requests,
        rowsRead: own.reduce((rows, cursor) => rows + cursor.rowsRead, sum.rowsRead),
        rowsWritten:
          own.reduce((rows, cursor) => rows + cursor.rowsWritten, sum.rowsWritten) + (alarms.get(storage) ?? 0),
      }
    }
    for (const map of [requests, cursors, alarms]) map.clear()
    return Object.fromEntries(Object.entries(costs).filter(([, one]) => Object.values(one).some((n) => n > 0)))
  }
  try {
    await work({
      fetch: (path, init) => fetchWorker(path, init, bindings),
      takeCost,
      readSize: (objectClass, name) =>
        runInDurableObject(namespaces[objectClass].getByName(name), (_object, { storage }) => storage.sql.databaseSize),
    })
  } finally {
    Object.assign(shared, before)
    prototypes.sql.exec = exec
    prototypes.storage.setAlarm = setAlarm
  }
}

async function fetchWorker(path: string, init: RequestInit = {}, bindings: object): Promise<Response> {
  const context = createExecutionContext()
  const request = new Request(new URL(path, "https://cuecard.test"), init as RequestInit<RequestInitCfProperties>)
  const response = await worker.fetch(request, { ...env, ...bindings } as unknown as Env, context)
  await waitOnExecutionContext(context)
  return response
}

function countNamespace(namespace: DurableObjectNamespace, count: (name: string, isRequest: boolean) => void) {
  return {
    getByName(name: string) {
      count(name, false)
      return watchCalls(namespace.getByName(name), () => count(name, true))
    },
  }
}
