/**
 * session-schema.ts: the tables of a session, as numbered migrations that run once on waking.
 *
 * A delta rewrites one leaf and nothing else, so tables that change while a turn runs have one
 * integer key and no index. Array position is order: `pos` in the session, `part` in the message, `n` in the part.
 */

import { hasSchema, runMigrations } from "../platform/migrate.ts"

export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE session (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL, tenant TEXT NOT NULL, user TEXT NOT NULL, title TEXT NOT NULL,
     epoch TEXT NOT NULL,
     tip INTEGER,               -- newest message of the active path; null: the newest row
     late_seq INTEGER NOT NULL, -- seq of the last change to a message that is not the newest
     created INTEGER NOT NULL);
   CREATE TABLE transcript (
     pos INTEGER PRIMARY KEY,
     id TEXT NOT NULL, role TEXT NOT NULL, exchange_id TEXT NOT NULL,
     parent INTEGER, version INTEGER NOT NULL,
     status TEXT NOT NULL, reason TEXT,
     seq INTEGER NOT NULL,      -- written at open and end; between them the leaves carry it
     words TEXT NOT NULL,       -- a user's words, verbatim; empty on assistant rows
     meta TEXT NOT NULL,        -- JSON: reply_to, topic, mode, metrics
     created INTEGER NOT NULL);
   CREATE UNIQUE INDEX transcript_id ON transcript (id);
   CREATE TABLE leaf (
     pos INTEGER NOT NULL, part INTEGER NOT NULL, n INTEGER NOT NULL,
     kind TEXT NOT NULL,        -- text, thinking, output (of the tool call at this part)
     step INTEGER NOT NULL, seq INTEGER NOT NULL,
     open INTEGER NOT NULL, ms INTEGER,
     held TEXT,                 -- JSON: what clean had not settled yet, on the last leaf of an open part
     text TEXT NOT NULL,
     PRIMARY KEY (pos, part, n)) WITHOUT ROWID;
   CREATE TABLE tool_calls (
     pos INTEGER NOT NULL, part INTEGER NOT NULL,
     step INTEGER NOT NULL, seq INTEGER NOT NULL,
     call_id TEXT NOT NULL, name TEXT NOT NULL, args TEXT NOT NULL,
     result TEXT, status TEXT NOT NULL, error TEXT,
     ordinal INTEGER, card TEXT, channel TEXT, ephemeral INTEGER NOT NULL,
     PRIMARY KEY (pos, part)) WITHOUT ROWID;
   CREATE TABLE queue (
     n INTEGER PRIMARY KEY,
     id TEXT NOT NULL, words TEXT NOT NULL, meta TEXT NOT NULL, seq INTEGER NOT NULL, created INTEGER NOT NULL)`,
  // Versions, approvals, summaries, and what was taken back from the queue.
  `ALTER TABLE session ADD COLUMN switches TEXT;     -- JSON: ids of the newest switches: the same again has no effect
   ALTER TABLE transcript ADD COLUMN tip INTEGER;      -- newest message below it when this version was left; null: never left
   ALTER TABLE transcript ADD COLUMN has_versions INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE transcript ADD COLUMN deadline INTEGER; -- when a turn that runs or waits is over at the latest
   ALTER TABLE transcript ADD COLUMN summary TEXT;     -- JSON: {text, upto}
   ALTER TABLE transcript ADD COLUMN depth INTEGER NOT NULL DEFAULT 0; -- how many ancestors it has
   ALTER TABLE transcript ADD COLUMN jump INTEGER;     -- an ancestor far up, so that any other is found in few steps
   UPDATE transcript SET depth = pos, jump = parent;   -- until now each path was a line
   ALTER TABLE tool_calls ADD COLUMN approval TEXT;
   ALTER TABLE tool_calls ADD COLUMN output_size TEXT; -- JSON: {lines, bytes}
   CREATE TABLE version (                              -- only of messages that have several
     parent INTEGER NOT NULL, n INTEGER NOT NULL, pos INTEGER NOT NULL,
     PRIMARY KEY (parent, n)) WITHOUT ROWID;
   CREATE TABLE withdrawn (seq INTEGER PRIMARY KEY, id TEXT NOT NULL);
   CREATE UNIQUE INDEX withdrawn_id ON withdrawn (id)`,
  // Imports.
  `ALTER TABLE session ADD COLUMN import TEXT;        -- JSON: how an import stands (staging.ts)
   ALTER TABLE transcript ADD COLUMN origin TEXT;
   CREATE TABLE staged (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, line TEXT NOT NULL);
   CREATE INDEX staged_at ON staged (at, n)`,
  // Agents.
  `ALTER TABLE session ADD COLUMN agent TEXT;         -- JSON: who answers here (tenant/agents.ts); null: the general one
   ALTER TABLE session ADD COLUMN family TEXT;        -- JSON: the session whose agents this one's are (rows.ts); null: its own
   ALTER TABLE transcript ADD COLUMN agent TEXT;      -- JSON: what was received from, or goes back to, another agent
   ALTER TABLE queue ADD COLUMN agent TEXT;
   CREATE TABLE begun (                               -- turns that an agent began (ask-rows.ts)
     id TEXT PRIMARY KEY,                             -- of the message that began it, and of the exchange on both sides
     mode TEXT NOT NULL,                              -- sync, async, callback
     session TEXT NOT NULL, call_id TEXT NOT NULL,    -- to whom the answer is owed
     path TEXT NOT NULL,                              -- JSON: the sessions that led here
     depth INTEGER NOT NULL, budget INTEGER NOT NULL,
     owed INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX begun_owed ON begun (owed) WHERE owed = 1;
   CREATE TABLE asked (                               -- what this session asked others
     id TEXT PRIMARY KEY, call_id TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL,
     mode TEXT NOT NULL, budget INTEGER NOT NULL,
     until INTEGER,                                   -- when it is given up; null: its turn waits for it
     open INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX asked_open ON asked (open) WHERE open = 1`,
  // Answers from outside: how far the records of each were taken.
  `CREATE TABLE producer (pos INTEGER PRIMARY KEY, told INTEGER NOT NULL)`,
  // Imports in parts, how far folding is, and late changes.
  `CREATE TABLE staged_part (part INTEGER PRIMARY KEY, tally TEXT NOT NULL); -- JSON: what it came to (staging.ts)
   CREATE TABLE folding (                              -- the last staged row that is in the transcript
     one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, n INTEGER NOT NULL, folded INTEGER NOT NULL);
   UPDATE session SET import = json_set(import, '$.step', iif(json_extract(import, '$.isDone'), 'done', 'folding'),
     '$.sources', json_array(), '$.skipped', 0, '$.bad', json_array()) WHERE import IS NOT NULL;
   CREATE TABLE late (seq INTEGER PRIMARY KEY, pos INTEGER NOT NULL)`,
  // An answer from outside is found by its exchange.
  `ALTER TABLE producer ADD COLUMN exchange TEXT;
   UPDATE producer SET exchange = (SELECT exchange_id FROM transcript t WHERE t.pos = producer.pos);
   CREATE INDEX producer_exchange ON producer (exchange, pos)`,
  // Assets, what a call gives to the reply, and what the directives of a part may name.
  `CREATE TABLE asset (
     id TEXT PRIMARY KEY,
     state TEXT NOT NULL,                              -- pending: its bytes may be in the bucket or not; doomed: they are to go; kept
     about TEXT,                                       -- JSON: Asset, once it is kept
     hash TEXT,                                        -- SHA-256 of its bytes, hexadecimal
     origin TEXT NOT NULL,                             -- user, tool, import
     size INTEGER NOT NULL DEFAULT 0,                  -- bytes, as announced while it is pending
     created INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX asset_pending ON asset (created) WHERE state != 'kept';
   CREATE INDEX asset_hash ON asset (hash) WHERE hash IS NOT NULL;
   ALTER TABLE tool_calls ADD COLUMN media TEXT;       -- JSON: Asset[]
   -- Below: JSON, Grants, on the last leaf of a part. A comment behind it would become part of the table.
   ALTER TABLE leaf ADD COLUMN grants TEXT`,
  // Where the bytes of a staged file of a session are.
  `ALTER TABLE staged ADD COLUMN home TEXT;
   CREATE INDEX staged_home ON staged (n) WHERE home IS NOT NULL`,
]

/** Brings the tables up to date. Only called once the session exists, or is being created (law 12). */
export function migrateSession(storage: DurableObjectStorage): void {
  runMigrations(storage, MIGRATIONS)
}

/** Whether anything was ever stored here. Reads only: an unknown object stays empty. */
export const isCreated = hasSchema
