/**
 * migrate.ts: numbered migrations of an object's tables: each runs once, on waking or before the first write.
 */

/** Whether anything was ever stored here. Reads only: an unknown object stays empty. */
export function hasSchema(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'schema_version'").toArray().length > 0
}

/** Runs those of `migrations`, numbered by their place, that did not run here yet: all of them or none. */
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
