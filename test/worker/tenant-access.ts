/** tenant-access.ts: creates tenants, API keys and tokens through their routes, for tests. */

import { expect } from "vitest"
import { LOCAL_OPERATOR_SECRET } from "../../worker/env.ts"
import { call } from "./http.ts"

export const OPERATOR = LOCAL_OPERATOR_SECRET

/** Creates a tenant. Returns the tenant's first key, which has all rights. */
export async function createTenant(id: string): Promise<string> {
  const created = await call("/v1/tenants", { method: "POST", token: OPERATOR, body: JSON.stringify({ id }) })
  expect(created.status).toBe(201)
  return created.json.key
}

export function postJson(path: string, token: string, body: object = {}) {
  return call(path, { method: "POST", token, body: JSON.stringify(body) })
}

export interface CreatedKey {
  readonly id: string
  readonly key: string
}

/** Uses an API key to create another one. */
export async function createKey(manager: string, fields: object = {}): Promise<CreatedKey> {
  const created = await postJson("/v1/keys", manager, { name: "backend", ...fields })
  expect(created.status).toBe(201)
  return created.json
}

/** Returns a token that an API key creates for a user. */
export async function tokenWith(key: string, user: string, fields: object = {}): Promise<string> {
  const issued = await postJson("/v1/tokens", key, { user, ...fields })
  expect(issued.status).toBe(200)
  return issued.json.token
}
