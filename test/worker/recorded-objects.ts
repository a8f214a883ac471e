/**
 * recorded-objects.ts: a production deployment whose objects and buckets record their calls.
 *
 * workerd has no jurisdictions. Here, the objects of a region are ordinary objects that are recorded as
 * `<region>!<name>`. Their names begin with the region anyway, so they never equal the names of other objects.
 */

import { createExecutionContext, env, runInDurableObject } from "cloudflare:test"
import { issueToken } from "../../worker/auth/verify-token.ts"
import type { Env } from "../../worker/env.ts"
import worker from "../../worker/index.ts"
import type { Claims } from "../../worker/platform/rpc/claims.ts"

/** The operator's secret of the recorded deployment. */
export const RECORDED_OPERATOR = "the-operator-of-a-recorded-deployment-0"

/** The secret that signs the tokens of the recorded deployment. */
export const RECORDED_SECRET = "a-secret-of-a-recorded-deployment-000"
const NAMESPACES = ["SESSION", "DIRECTORY", "TENANT", "REGISTRY"] as const

/** The tenants `region1`, `region2` … of recorded deployments that have ended. */
const finished = new Set<string>()

/** Returns the tenant of an object: `eu!eu.acme:s1` → `eu.acme`. */
function getTenant(name: string): string {
  return name.replace(/^[a-z-]+!/, "").split(":", 1)[0] ?? ""
}

export interface RecordedDeployment {
  /** Names of the objects that the Worker or other objects have called. */
  readonly asked: Set<string>
  /** The location hint of the first request to each object. */
  readonly hints: Map<string, string | undefined>
  /** The keys that were written, with their binding: `MEDIA_EU eu.acme/s/a`. */
  readonly written: Set<string>
  readonly fetch: (path: string, init?: RequestInit<RequestInitCfProperties>) => Promise<Response>
  readonly tokenFor: (claims: Pick<Claims, "tenant" | "user"> & Partial<Claims>) => Promise<string>
}

/** Runs `work` with a production deployment that has the bindings `over`. Until `work` ends, all objects use them. */
export async function withRecordedDeployment(
  over: Partial<Record<keyof Env, unknown>>,
  work: (deployment: RecordedDeployment) => Promise<void>,
): Promise<void> {
  const [asked, hints, written] = [new Set<string>(), new Map<string, string | undefined>(), new Set<string>()]
  const recordCall = (name: string, hint?: string): void => {
    // Don't record these calls, because objects of an earlier test may still notify each other.
    if (finished.has(getTenant(name))) return
    if (!asked.has(name)) hints.set(name, hint)
    asked.add(name)
  }
  const bindings: Record<string, unknown> = {
    OPERATOR_SECRET: RECORDED_OPERATOR,
    ENVIRONMENT: "production",
    AUTH: "jwt",
    JWT_SECRET: RECORDED_SECRET,
  }
  for (const name of NAMESPACES) bindings[name] = recordNamespace(env[name], recordCall)
  const buckets = { MEDIA: env.MEDIA, ...over }
  for (const [name, bucket] of Object.entries(buckets)) {
    bindings[name] = name.startsWith("MEDIA") && bucket !== undefined ? recordBucket(name, written) : bucket
  }
  const restore = await replaceBindings(bindings)
  const testOnly = {
    PROBE_TOOLS: undefined,
    PROBE_URL: undefined,
    MEDIA_UPSTREAM: undefined,
    TIME_SCALE: undefined,
  }
  try {
    await work({
      asked,
      hints,
      written,
      fetch: async (path, init) => {
        const request = new Request(new URL(path, "https://chat.example.com"), init)
        return await worker.fetch(
          request,
          { ...env, ...testOnly, ...bindings } as unknown as Env,
          createExecutionContext(),
        )
      },
      tokenFor: async (claims) => {
        const [expires, issued] = [Math.floor(Date.now() / 1000) + 600, Date.now() / 1000]
        return await issueToken({ expires, issued, token: crypto.randomUUID(), ...claims }, RECORDED_SECRET)
      },
    })
  } finally {
    restore()
    for (const name of asked) if (/\bregion\d/.test(name)) finished.add(getTenant(name))
  }
}

function recordNamespace(namespace: DurableObjectNamespace, record: (name: string, hint?: string) => void) {
  return {
    getByName(name: string, options?: { locationHint?: string }) {
      record(name, options?.locationHint)
      return namespace.getByName(name)
    },
    jurisdiction: (region: string) => ({
      getByName(name: string) {
        record(`${region}!${name}`)
        return namespace.getByName(name)
      },
    }),
  }
}

/**
 * Returns a bucket that records writes. All bindings share the tests' one bucket, so that anything stored through a
 * wrong binding would be found.
 */
function recordBucket(binding: string, written: Set<string>): R2Bucket {
  return new Proxy(env.MEDIA, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== "function") return value
      return (...args: unknown[]) => {
        if (name === "put") written.add(`${binding} ${String(args[0])}`)
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** Replaces bindings in the `env` that all objects share. Returns a function that restores them. */
async function replaceBindings(bindings: Record<string, unknown>): Promise<() => void> {
  const shared = await runInDurableObject(
    env.SESSION.getByName("any:object"),
    (object) => (object as unknown as { env: Record<string, unknown> }).env,
  )
  const before = Object.fromEntries(Object.keys(bindings).map((name) => [name, shared[name]]))
  Object.assign(shared, bindings)
  return () => void Object.assign(shared, before)
}
