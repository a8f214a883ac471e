/**
 * admin-responses.ts: parses the responses that the admin page uses. Each parser returns null if a field has the wrong
 * type. Pure.
 */

import { isJsonObject } from "../../shared/json.ts"
import type { RoleName } from "../account/identity.ts"
import type { AuditEntry, AuditPage, AuditVerification } from "../../shared/protocol/audit-entry.ts"
import type { UserPage, UserSummary } from "../../shared/protocol/http-body.ts"
import {
  type Check,
  createParser,
  hasShape,
  isBoolean,
  isListOf,
  isNumber,
  isOptional,
  isString,
} from "../../shared/protocol/shape-check.ts"

export const isNullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)

const USER = {
  id: isString,
  name: isNullOr(isString),
  role: isString,
  issuer: isNullOr(isString),
  status: isString,
  created: isNumber,
}

export const parseUser = createParser<UserSummary>(USER)

export const parseUserPage = createParser<UserPage>({
  users: isListOf(hasShape<UserSummary>(USER)),
  next: isNullOr(isString),
  incomplete: isOptional(isBoolean),
})

/** An API key, without its secret. Times are in milliseconds since 1970. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly roles: readonly RoleName[]
  readonly created: number
  readonly expires: number | null
  /** When the key was last used, to the minute. */
  readonly used: number | null
  /** `user:<id>`, `key:<id>` or `operator`. */
  readonly created_by: string
}

const API_KEY = {
  id: isString,
  name: isString,
  roles: isListOf(isString),
  created: isNumber,
  expires: isNullOr(isNumber),
  used: isNullOr(isNumber),
  created_by: isString,
}

export const parseKeyList = createParser<{ readonly keys: readonly ApiKey[] }>({
  keys: isListOf(hasShape<ApiKey>(API_KEY)),
})

/** `key` is the secret, which is shown once. */
export const parseCreatedKey = createParser<ApiKey & { readonly key: string }>({ ...API_KEY, key: isString })

export interface TokenKey {
  readonly generation: number
  readonly created: number | null
  /** Null for the key that currently signs tokens. */
  readonly retires: number | null
}

export const parseTokenKeys = createParser<{ readonly keys: readonly TokenKey[] }>({
  keys: isListOf(
    hasShape<TokenKey>({ generation: isNumber, created: isNullOr(isNumber), retires: isNullOr(isNumber) }),
  ),
})

export interface Issuer {
  readonly name: string
  readonly issuer: string
  readonly audience: string
  readonly algorithms: readonly string[]
  readonly user_claim: string
  readonly name_claim: string
  readonly role_claim: string | null
  readonly roles: readonly RoleName[]
  readonly authorized_parties: readonly string[]
  readonly required_claims: Readonly<Record<string, unknown>>
  readonly scopes: string
  readonly jwks_uri: string | null
  readonly client_id: string | null
  readonly has_client_secret: boolean
  readonly label: string
  readonly logout: boolean
  readonly keys_fetched: number
}

const ISSUER = {
  name: isString,
  issuer: isString,
  audience: isString,
  algorithms: isListOf(isString),
  user_claim: isString,
  name_claim: isString,
  role_claim: isNullOr(isString),
  roles: isListOf(isString),
  authorized_parties: isListOf(isString),
  required_claims: isJsonObject,
  scopes: isString,
  jwks_uri: isNullOr(isString),
  client_id: isNullOr(isString),
  has_client_secret: isBoolean,
  label: isString,
  logout: isBoolean,
  keys_fetched: isNumber,
}

export const parseIssuerList = createParser<{ readonly issuers: readonly Issuer[] }>({
  issuers: isListOf(hasShape<Issuer>(ISSUER)),
})

export interface Agent {
  readonly name: string
  readonly description: string
  readonly prompt: string
  readonly model: string | null
  readonly tools: readonly string[]
  /** The MCP servers whose tools the agent can use. */
  readonly mcp_servers?: readonly string[]
}

export interface AgentList {
  readonly agents: readonly Agent[]
  /** The names of the built-in tools. */
  readonly tools: readonly string[]
}

export const parseAgentList = createParser<AgentList>({
  tools: isListOf(isString),
  agents: isListOf(
    hasShape<Agent>({
      name: isString,
      description: isString,
      prompt: isString,
      model: isNullOr(isString),
      tools: isListOf(isString),
      mcp_servers: isOptional(isListOf(isString)),
    }),
  ),
})

const isHead = hasShape<AuditPage["head"]>({ seq: isNumber, hash: isString })

export const parseAuditPage = createParser<AuditPage>({
  entries: isListOf(
    hasShape<AuditEntry>({
      seq: isNumber,
      at: isNumber,
      actor: hasShape<AuditEntry["actor"]>({
        kind: isString,
        id: isString,
        address: isNullOr(isString),
      }),
      action: isString,
      target: isNullOr(isString),
      details: (value) => typeof value === "object",
      hash: isString,
    }),
  ),
  next: isNullOr(isNumber),
  head: isHead,
})

export const parseAuditVerification = createParser<AuditVerification>({
  ok: isBoolean,
  rows: isNumber,
  first_bad: isNullOr(isNumber),
  next: isNullOr(isString),
  head: isHead,
})
