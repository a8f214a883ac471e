/**
 * owner-access.ts: sends requests as an owner of a tenant, with the API key from the environment or with one that
 * expires soon.
 */

import process from "node:process"
import {
  type JsonObject,
  readJson,
  readSecret,
  requestJson,
  sendRequest,
  type ServerOptions,
  UsageError,
} from "./tenant-request.ts"

/** Lifetime of a key that a command makes for itself, in seconds. If the command takes longer, it makes another key. */
const KEY_SECONDS = 60 * 60

/**
 * A key that expires within this time, in milliseconds, is replaced. No file takes this long to transfer.
 */
const RENEW_MS = 15 * 60_000

/** Returns the API key in CUECARD_KEY; null if there is none. */
export function readGivenKey(tenant: string): string | null {
  const given = process.env["CUECARD_KEY"]
  if (given === undefined || given === "") return null
  // The key must not belong to a tenant other than the one that the command names.
  if (!given.startsWith(`ck_${tenant}_`)) throw new UsageError(`The key in CUECARD_KEY does not belong to ${tenant}.`)
  return given
}

export interface PassingKey {
  readonly id: string
  readonly key: string
  /** In milliseconds since 1970, by this machine's clock. */
  readonly expires: number
}

/** Creates a key through the operator's routes. `purpose`: the command, which is part of the key's name. */
export async function createPassingKey(
  options: ServerOptions,
  tenant: string,
  about: { readonly purpose: string; readonly roles: readonly string[]; readonly seconds: number },
): Promise<PassingKey> {
  const { purpose, roles, seconds } = about
  const path = `v1/tenants/${encodeURIComponent(tenant)}/keys`
  const body = { name: `npm run tenant -- ${purpose}`, roles, ttl: seconds }
  const created = await requestJson(options, path, readSecret(options), body)
  return { id: String(created["id"]), key: String(created["key"]), expires: Date.now() + seconds * 1000 }
}

export class TenantAccess {
  readonly #options: ServerOptions
  readonly #tenant: string
  readonly #purpose: string
  readonly #given: string | null
  #passing: PassingKey | null = null

  constructor(options: ServerOptions, tenant: string, purpose: string) {
    this.#options = options
    this.#tenant = tenant
    this.#purpose = purpose
    this.#given = readGivenKey(tenant)
  }

  async request(path: string, json?: object, method?: string): Promise<JsonObject> {
    return await requestJson(this.#options, path, await this.#readKey(), json, method)
  }

  /** Returns the bytes of a file. */
  async download(path: string): Promise<Uint8Array<ArrayBuffer>> {
    const response = await sendRequest(this.#options, path, await this.#readKey(), { method: "GET" })
    if (!response.ok) await readJson(this.#options, response)
    return new Uint8Array(await response.arrayBuffer())
  }

  async upload(path: string, file: Uint8Array<ArrayBuffer>): Promise<JsonObject> {
    const response = await sendRequest(this.#options, path, await this.#readKey(), { method: "PUT", file })
    return await readJson(this.#options, response)
  }

  /** Sends JSON text unchanged. */
  async sendText(path: string, text: string): Promise<JsonObject> {
    const response = await sendRequest(this.#options, path, await this.#readKey(), { method: "POST", text })
    return await readJson(this.#options, response)
  }

  /**
   * Revokes the key that this command made. A tenant that is leaving refuses this; in that case the key expires on its
   * own.
   */
  async close(): Promise<void> {
    if (this.#passing === null) return
    const { id, key } = this.#passing
    await sendRequest(this.#options, `v1/keys/${id}`, key, { method: "DELETE" }).catch(() => {})
  }

  async #readKey(): Promise<string> {
    if (this.#given !== null) return this.#given
    if (this.#passing === null || this.#passing.expires < Date.now() + RENEW_MS) {
      const about = { purpose: this.#purpose, roles: ["owner"], seconds: KEY_SECONDS }
      this.#passing = await createPassingKey(this.#options, this.#tenant, about)
    }
    return this.#passing.key
  }
}

/** Runs a command with access to a tenant. */
export async function withAccess<T>(
  options: ServerOptions,
  tenant: string,
  purpose: string,
  command: (access: TenantAccess) => Promise<T>,
): Promise<T> {
  const access = new TenantAccess(options, tenant, purpose)
  try {
    return await command(access)
  } finally {
    await access.close()
  }
}
