/**
 * kill-points-worker.ts: the Worker with numbered points: each write by an object, each alarm that it sets, and each
 * call to another object. At the point that `POST /v1/kill-at` names, it logs a line and stops, so that the process is
 * killed exactly there. Only the fault suite builds this Worker.
 */

import { Directory as ProductionDirectory } from "../../worker/directory/directory-object.ts"
import type { Env } from "../../worker/env.ts"
import worker from "../../worker/index.ts"
import { Session as ProductionSession } from "../../worker/session/session-object.ts"
import { Tenant as ProductionTenant } from "../../worker/tenant/tenant-object.ts"
import { watchCalls } from "../support/watch-calls.ts"
import { KILL_LINE, KILL_PATH } from "./kill-points.ts"

const WRITE = /^\s*(?:insert|update|delete|replace|create|alter)\b/i
const NAMESPACES = ["SESSION", "DIRECTORY", "TENANT", "REGISTRY"]

/** Number of points that have been passed. All objects share this counter, because they run in one isolate. */
let passed = 0
let killAt = 0

function passPoint(): void {
  passed += 1
  if (passed !== killAt) return
  console.log(KILL_LINE)
  // Block the process, because nothing else may happen before the kill.
  for (;;);
}

type AnyMethod = (this: object, ...args: unknown[]) => unknown

const watched = new WeakSet()

/** Wraps a method so that each matching call passes a kill point first. */
function watchMethod(of: object, name: string, isPoint: (args: unknown[]) => boolean): void {
  const prototype = Object.getPrototypeOf(of) as Record<string, AnyMethod>
  const method = prototype[name]
  if (method === undefined || watched.has(method)) return
  const watching: AnyMethod = function (...args) {
    if (isPoint(args)) passPoint()
    return method.apply(this, args)
  }
  watched.add(watching)
  prototype[name] = watching
}

function watchStorage({ storage }: DurableObjectState): void {
  watchMethod(storage.sql, "exec", ([query]) => WRITE.test(String(query)))
  watchMethod(storage, "setAlarm", () => true)
}

function watchNamespaces(env: Env): Env {
  const bindings = env as unknown as Record<string, DurableObjectNamespace>
  const entries = NAMESPACES.flatMap((name) => {
    const namespace = bindings[name]
    return namespace === undefined ? [] : [[name, watchNamespace(namespace)] as const]
  })
  return { ...env, ...Object.fromEntries(entries) }
}

function watchNamespace(namespace: DurableObjectNamespace) {
  return { getByName: (name: string) => watchCalls(namespace.getByName(name), passPoint) }
}

export { Registry } from "../../worker/tenant/registry-object.ts"

export class Session extends ProductionSession {
  constructor(ctx: DurableObjectState, env: Env) {
    watchStorage(ctx)
    super(ctx, watchNamespaces(env))
  }
}

export class Directory extends ProductionDirectory {
  constructor(ctx: DurableObjectState, env: Env) {
    watchStorage(ctx)
    super(ctx, watchNamespaces(env))
  }
}

export class Tenant extends ProductionTenant {
  constructor(ctx: DurableObjectState, env: Env) {
    watchStorage(ctx)
    super(ctx, watchNamespaces(env))
  }
}

export default {
  /**
   * Handles KILL_PATH: `?n=3` arms the third point from now; `?n=0` arms none. Responds with the number of points
   * passed since the previous request to this path.
   */
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== KILL_PATH) return await worker.fetch(request, env, ctx)
    const before = passed
    killAt = Number(searchParams.get("n"))
    passed = 0
    return Response.json({ passed: before })
  },
}
