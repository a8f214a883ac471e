/**
 * files.ts: creates sample bytes of each accepted type, uploads them, and lists the assets stored in the bucket and the
 * table.
 */

import { env, runInDurableObject } from "cloudflare:test"
import type { sessionOf } from "../support/socket.ts"
import { type Call, call } from "./http.ts"

const bytesOf = (...parts: readonly (string | number)[]): number[] =>
  parts.flatMap((part) => (typeof part === "string" ? Array.from(part, (char) => char.charCodeAt(0)) : part))

/** Returns a file that contains the parts, followed by zeros up to `size` bytes. */
export function file(size: number, ...parts: readonly (string | number)[]): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set(bytesOf(...parts))
  return bytes
}

export const PNG_HEAD = [0x89, "PNG\r\n\x1a\n", 0, 0, 0, 13, "IHDR"] as const
/** Returns a small file with the signature of a PNG. `mark` makes its bytes unique. */
export const png = (mark = 0, size = 200): Uint8Array => file(size, ...PNG_HEAD, mark % 256, mark >> 8)

export interface Upload extends Call {
  readonly name?: string
}

export function postFile(session: string, token: string, body: BodyInit, { name = "a.png", ...options }: Upload = {}) {
  const length = body instanceof Uint8Array ? { "content-length": String(body.byteLength) } : {}
  const headers = { ...length, ...options.headers }
  const path = `/v1/sessions/${session}/assets?name=${encodeURIComponent(name)}`
  return call(path, { ...options, method: "POST", token, body, headers })
}

export async function signUrls(session: string, token: string, urls: readonly string[]) {
  return await call(`/v1/sessions/${session}/media/sign`, { method: "POST", token, body: JSON.stringify({ urls }) })
}

/** Returns the signed URL of one asset. */
export async function hrefOf(session: string, token: string, url: string): Promise<string> {
  return (await signUrls(session, token, [url])).json.signed[0].href
}

/** Lists the ids in the bucket, and the rows with their states. Both lists are sorted. */
export async function listStoredAssets(tenant: string, session: string) {
  const { objects } = await env.MEDIA.list({ prefix: `${tenant}/${session}/` })
  const stub = env.SESSION.getByName(`${tenant}:${session}`)
  const rows = await runInDurableObject(stub, (_object, { storage }) =>
    storage.sql.exec<{ id: string; state: string }>("SELECT id, state FROM asset ORDER BY id").toArray(),
  )
  return {
    bytes: objects.map(({ key }) => key.split("/")[2] ?? "").sort(),
    rows: rows.map(({ id, state }) => `${id} ${state}`),
  }
}

export const NOTHING = { bytes: [], rows: [] }

/** Returns a bucket with one method that fails, either immediately or after it has read some of its input. */
export function brokenBucket(method: "put" | "get" | "head" | "delete", when: "early" | "late" = "early"): R2Bucket {
  const refuseWrite = async (_key: string, value: unknown) => {
    if (when === "late" && value instanceof ReadableStream) {
      const reader = value.getReader()
      await reader.read()
      reader.releaseLock()
    }
    throw new Error("the bucket is unavailable")
  }
  return new Proxy(env.MEDIA, {
    get(target, name) {
      if (name === method) return refuseWrite
      const value: unknown = Reflect.get(target, name)
      return typeof value === "function" ? value.bind(target) : value
    },
  })
}

/** Runs `work` while the session object's bucket fails. */
export async function withBrokenBucket<T>(
  stub: ReturnType<typeof sessionOf>,
  way: "put" | "delete",
  work: () => Promise<T>,
): Promise<T> {
  const setBucket = (bucket: R2Bucket): Promise<boolean> =>
    runInDurableObject(stub, (object) => Reflect.set((object as unknown as { env: object }).env, "MEDIA", bucket))
  const { MEDIA } = env
  if (!(await setBucket(brokenBucket(way)))) throw new Error("the object's bucket can't be replaced")
  try {
    return await work()
  } finally {
    await setBucket(MEDIA)
  }
}
