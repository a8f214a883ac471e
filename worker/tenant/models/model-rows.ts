/** model-rows.ts: the rows of a tenant's own models, in the tenant object. Source: SPEC TM1, TM2. */

import { parseJson } from "../../../shared/json.ts"
import type { KeyRefusal, TenantModel } from "../../settings/model-config.ts"

/** `sealed` is the encrypted key (platform/crypto/seal-secret.ts). `refused` is JSON. */
export const MODEL_TABLE = `CREATE TABLE models (name TEXT PRIMARY KEY, config TEXT NOT NULL,
  sealed TEXT, key_end TEXT, refused TEXT) WITHOUT ROWID`

export interface StoredModel {
  readonly model: TenantModel
  readonly sealed: string | null
  readonly keyEnd: string | null
  readonly refused: KeyRefusal | null
}

type ModelRow = { config: string; sealed: string | null; key_end: string | null; refused: string | null }

/** Returns the models with these names, without their keys. */
export function listNamedModels(sql: SqlStorage, names: readonly string[]): TenantModel[] {
  const rows = new ModelRows(sql)
  return names.flatMap((name) => rows.find(name)?.model ?? [])
}

export class ModelRows {
  readonly #sql: SqlStorage

  constructor(sql: SqlStorage) {
    this.#sql = sql
  }

  list(): StoredModel[] {
    return this.#sql.exec<ModelRow>("SELECT * FROM models ORDER BY name").toArray().map(rowToModel)
  }

  find(name: string): StoredModel | null {
    const [row] = this.#sql.exec<ModelRow>("SELECT * FROM models WHERE name = ?", name).toArray()
    return row === undefined ? null : rowToModel(row)
  }

  put({ model, sealed, keyEnd, refused }: StoredModel): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO models (name, config, sealed, key_end, refused) VALUES (?, ?, ?, ?, ?)",
      model.name,
      JSON.stringify(model),
      sealed,
      keyEnd,
      refused === null ? null : JSON.stringify(refused),
    )
  }

  remove(name: string): boolean {
    return this.#sql.exec("DELETE FROM models WHERE name = ? RETURNING name", name).toArray().length > 0
  }
}

/** Converts a row. `put` wrote its JSON. */
function rowToModel({ config, sealed, key_end, refused }: ModelRow): StoredModel {
  return {
    model: parseJson(config) as unknown as TenantModel,
    sealed,
    keyEnd: key_end,
    refused: refused === null ? null : (parseJson(refused) as unknown as KeyRefusal),
  }
}
