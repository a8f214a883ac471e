/**
 * issuer-rows.ts: the SQL rows of a tenant's issuers with their keys, and of the tenant's claims in the registry.
 */

import type { JWK } from "jose"
import { parseJson } from "../../../shared/json.ts"
import type { IssuerConfig, ProviderMetadata } from "../../settings/issuer-config.ts"

export const ISSUER_TABLES = `
  CREATE TABLE issuers (
    name TEXT PRIMARY KEY,
    issuer TEXT NOT NULL, audience TEXT NOT NULL,
    config TEXT NOT NULL,            -- JSON of an IssuerConfig
    secret TEXT,                     -- the client's secret, encrypted
    metadata TEXT NOT NULL,          -- JSON of ProviderMetadata
    keys TEXT NOT NULL,              -- JSON of a list of public keys
    fetched INTEGER NOT NULL,        -- when the keys were last fetched, in milliseconds since 1970
    attempted INTEGER NOT NULL,      -- when that was last attempted
    failing INTEGER,                 -- the first failed attempt since then; null if there was none
    discovered INTEGER NOT NULL,     -- when the metadata was last fetched
    created INTEGER NOT NULL,
    generation INTEGER NOT NULL,     -- the number in the audit log of the change that decided who its users are
    UNIQUE (issuer, audience)) WITHOUT ROWID;
  CREATE TABLE issuer_claims (
    issuer TEXT NOT NULL, audience TEXT NOT NULL,
    retry INTEGER NOT NULL DEFAULT 0,  -- without an issuer, when it is released again
    PRIMARY KEY (issuer, audience)) WITHOUT ROWID;
  -- Every issuer that was ever registered, with its name: users of a removed issuer still have their data.
  CREATE TABLE issuer_history (
    issuer TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (issuer, name)) WITHOUT ROWID`

/** Times are milliseconds since 1970. */
export interface StoredIssuer {
  readonly name: string
  readonly config: IssuerConfig
  readonly secret: string | null
  readonly metadata: ProviderMetadata
  readonly keys: readonly JWK[]
  readonly fetched: number
  readonly attempted: number
  readonly failing: number | null
  readonly discovered: number
  readonly created: number
  /** Increases when the issuer is replaced by one whose users may be different people. */
  readonly generation: number
}

/** A claim in the registry to an issuer's tokens for an audience. */
export interface IssuerClaim {
  readonly issuer: string
  readonly audience: string
}

type IssuerRow = {
  name: string
  config: string
  secret: string | null
  metadata: string
  keys: string
  fetched: number
  attempted: number
  failing: number | null
  discovered: number
  created: number
  generation: number
}

const COLUMNS = "name, config, secret, metadata, keys, fetched, attempted, failing, discovered, created, generation"

export class IssuerRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  list(): StoredIssuer[] {
    return this.#query<IssuerRow>(`SELECT ${COLUMNS} FROM issuers ORDER BY created, name`).map(toIssuer)
  }

  find(name: string): StoredIssuer | null {
    const [row] = this.#query<IssuerRow>(`SELECT ${COLUMNS} FROM issuers WHERE name = ?`, name)
    return row === undefined ? null : toIssuer(row)
  }

  findByAudience(issuer: string, audience: string): StoredIssuer | null {
    const sql = `SELECT ${COLUMNS} FROM issuers WHERE issuer = ? AND audience = ?`
    const [row] = this.#query<IssuerRow>(sql, issuer, audience)
    return row === undefined ? null : toIssuer(row)
  }

  put({ name, config, secret, metadata, keys, ...row }: StoredIssuer): void {
    const { fetched, attempted, failing, discovered, created, generation } = row
    this.#query(
      `INSERT OR REPLACE INTO issuers (issuer, audience, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      config.issuer,
      config.audience,
      name,
      JSON.stringify(config),
      secret,
      JSON.stringify(metadata),
      JSON.stringify(keys),
      fetched,
      attempted,
      failing,
      discovered,
      created,
      generation,
    )
    this.#query("INSERT OR IGNORE INTO issuer_history (issuer, name) VALUES (?, ?)", config.issuer, name)
  }

  /**
   * Whether no user of the tenant can belong to this issuer. That is the case if the issuer was never registered here,
   * and every user who has signed in did so at an issuer that was. Users of unregistered issuers were imported. Cost:
   * reads the users up to the first imported one.
   */
  isNew(issuer: string): boolean {
    const sql = `SELECT 1 FROM issuer_history WHERE issuer = ?
      UNION ALL SELECT 1 FROM users WHERE issuer IS NOT NULL AND issuer NOT IN (SELECT name FROM issuer_history) LIMIT 1`
    return this.#query(sql, issuer).length === 0
  }

  remove(name: string): boolean {
    return this.#query("DELETE FROM issuers WHERE name = ? RETURNING name", name).length > 0
  }

  markAttempted(name: string, now: number): void {
    this.#query("UPDATE issuers SET attempted = ? WHERE name = ?", now, name)
  }

  markFailing(name: string, now: number): void {
    this.#query("UPDATE issuers SET failing = ? WHERE name = ? AND failing IS NULL", now, name)
  }

  /**
   * Adds a claim, which is released at `retry` if no issuer uses it by then. If the claim exists, only that time
   * changes.
   */
  putClaim({ issuer, audience }: IssuerClaim, retry: number): void {
    const sql = "INSERT OR REPLACE INTO issuer_claims (issuer, audience, retry) VALUES (?, ?, ?)"
    this.#query(sql, issuer, audience, retry)
  }

  removeClaim({ issuer, audience }: IssuerClaim): void {
    this.#query("DELETE FROM issuer_claims WHERE issuer = ? AND audience = ?", issuer, audience)
  }

  listClaims(): IssuerClaim[] {
    return this.#query<{ issuer: string; audience: string }>("SELECT issuer, audience FROM issuer_claims")
  }

  /** Returns the claims without an issuer: those of registrations that failed halfway, were changed or were removed. */
  listUnusedClaims(): IssuerClaim[] {
    return this.#query(
      `SELECT issuer, audience FROM issuer_claims EXCEPT SELECT issuer, audience FROM issuers`,
    ) as unknown as IssuerClaim[]
  }

  /** Returns when the next claim without an issuer must be released; null if there is none. */
  findNextRelease(): number | null {
    const sql = `SELECT min(retry) AS at FROM issuer_claims
      WHERE NOT EXISTS (SELECT 1 FROM issuers i WHERE i.issuer = issuer_claims.issuer AND i.audience = issuer_claims.audience)`
    return this.#query<{ at: number | null }>(sql)[0]?.at ?? null
  }

  #query<T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]): T[] {
    return this.#sql.exec<T>(query, ...bindings).toArray()
  }
}

/** Converts a row. `put` wrote its JSON. */
function toIssuer({ config, metadata, keys, ...row }: IssuerRow): StoredIssuer {
  return {
    ...row,
    config: parseJson(config) as unknown as IssuerConfig,
    metadata: parseJson(metadata) as unknown as ProviderMetadata,
    keys: parseJson(keys) as unknown as readonly JWK[],
  }
}
