/**
 * migrate.ts: runs the numbered migrations of an object's tables. Each runs once, when the object starts or before the
 * object's first write.
 */

/** Whether the object has tables. Does not write, so an object that was never used stays empty. */
export function hasSchema(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").toArray().length > 0
}

/** Runs the migrations that have not run yet, all in one transaction. A migration's number is its index. */
export function runMigrations(storage: DurableObjectStorage, migrations: readonly string[]): void {
  const { sql } = storage
  const appliedCount = hasSchema(sql) ? Number(sql.exec("SELECT version FROM schema_version").one()["version"]) : 0
  if (appliedCount >= migrations.length) return
  storage.transactionSync(() => {
    sql.exec(
      "CREATE TABLE IF NOT EXISTS schema_version (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL)",
    )
    for (const migration of migrations.slice(appliedCount)) sql.exec(migration)
    sql.exec("INSERT OR REPLACE INTO schema_version (one, version) VALUES (1, ?)", migrations.length)
  })
}

/** The tables of an object. They are created before its first write, so an object that was never used stays empty. */
export class ObjectTables {
  readonly #storage: DurableObjectStorage
  readonly #migrations: readonly string[]

  /** Runs the migrations that were added since the object was last used. */
  constructor(storage: DurableObjectStorage, migrations: readonly string[]) {
    this.#storage = storage
    this.#migrations = migrations
    if (this.exist()) this.create()
  }

  exist(): boolean {
    return hasSchema(this.#storage.sql)
  }

  /** Creates or updates the tables. Must be called before each write. */
  create(): void {
    runMigrations(this.#storage, this.#migrations)
  }
}

/**
 * Deletes the rows of all tables. The tables themselves and the schema version are kept. Full-text indexes are dropped,
 * because they would keep the words of deleted rows.
 */
export function deleteAllRows(sql: SqlStorage): void {
  const indexes = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%'"
  for (const { name } of sql.exec<{ name: string }>(indexes).toArray()) sql.exec(`DROP TABLE "${name}"`)
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray()
  for (const { name } of tables) {
    // The other tables belong to SQLite and to the platform.
    if (!/^(?:sqlite_|_|schema_version$)/.test(name)) sql.exec(`DELETE FROM "${name}"`)
  }
}
