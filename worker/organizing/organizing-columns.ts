/**
 * organizing-columns.ts: the SQL columns and tables that record how a user organises sessions, in the user's directory.
 */

/**
 * `shelf` says which list contains a session. With the indexes, a page of any list reads only the rows that it returns,
 * and a turn changes one index row, or two in a folder. Hiding a session (2 or 3) and restoring it preserves whether
 * the session was archived. `erasing`: the erasure of a hidden session has begun, so it can't be restored.
 */
export const SHELVES = { main: 0, archive: 1, hiddenMain: 2, hiddenArchive: 3, temporary: 4, erasing: 5 } as const

export const ORGANIZING_TABLES = `
  ALTER TABLE sessions ADD COLUMN shelf INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN folder TEXT;
  ALTER TABLE sessions ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN gone INTEGER; -- when a hidden session is erased (again, if that failed), in milliseconds since 1970
  DROP INDEX IF EXISTS sessions_active;
  CREATE INDEX sessions_listed ON sessions (shelf, pinned, active, created);
  CREATE INDEX sessions_folder ON sessions (folder, shelf, pinned, active, created) WHERE folder IS NOT NULL;
  CREATE INDEX sessions_gone ON sessions (gone) WHERE gone IS NOT NULL;
  CREATE TABLE folders (id TEXT PRIMARY KEY, name TEXT NOT NULL, created INTEGER NOT NULL) WITHOUT ROWID`

/** How long a deleted session can be restored (`?undo=1`), in milliseconds. SPEC OG6. */
export const UNDO_MS = 30_000
