/** search-table.ts: the SQL table of the text that a user can search, in the user's directory. */

/**
 * `n` grows with the time of the message and is the entry's row in the full-text index, so that the newest hits come
 * first without sorting. `indexed` is 0 for a session whose entries must still be fetched, such as one from before this
 * migration.
 */
export const SEARCH_TABLE = `
  CREATE TABLE search_entry (
    n INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    pos INTEGER NOT NULL,          -- of its newest message; 0: the entry has only a title
    question TEXT, answer TEXT);   -- JSON: MessageText
  CREATE UNIQUE INDEX search_session ON search_entry (session, pos);
  ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_unindexed ON sessions (active) WHERE indexed = 0`
