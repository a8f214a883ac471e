/**
 * storage-digest.ts: prints everything that an object or the bucket stores, so that tests can prove that a request
 * changed nothing.
 */

import { env, runInDurableObject } from "cloudflare:test"

/**
 * Returns all rows and key-value entries. The alarm is omitted, because opening a socket sets the alarm to the token's
 * expiry.
 */
export async function digestOf(stub: DurableObjectStub, without: readonly string[] = []): Promise<string> {
  return await runInDurableObject(stub, (_object, { storage }) => {
    const tables = storage.sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'",
      )
      .toArray()
      .filter(({ name }) => !without.includes(name))
      .map(({ name }) => [name, storage.sql.exec(`SELECT * FROM "${name}"`).toArray()])
    return JSON.stringify([tables, [...storage.kv.list()]])
  })
}

/** Returns all keys that have the prefix, with their ETags. */
export async function digestBucket(prefix: string, bucket: R2Bucket = env.MEDIA): Promise<string> {
  const { objects } = await bucket.list({ prefix })
  return objects.map(({ key, etag }) => `${key} ${etag}`).join("\n")
}
