/**
 * session-schema.ts: the tables of a session, as numbered migrations that run once when an object starts.
 *
 * A delta rewrites a single `leaf` row. Tables that change during a turn therefore have an integer key and no index.
 * `pos` orders messages in the session, `part` orders parts in the message, and `n` orders chunks in the part.
 */

import { REPORTED_BYTES_TABLE } from "../limits/session-bytes.ts"
import { hasSchema, runMigrations } from "../platform/migrate.ts"
import { SESSION_USAGE_TABLE } from "../usage/session-usage.ts"
import { FEEDBACK_COLUMN } from "./annotations/feedback-rows.ts"
import { TOOL_GRANT_TABLE } from "./annotations/tool-grant-rows.ts"

export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE session (
     one INTEGER PRIMARY KEY CHECK (one = 1),
     id TEXT NOT NULL, tenant TEXT NOT NULL, user TEXT NOT NULL, title TEXT NOT NULL,
     epoch TEXT NOT NULL,
     tip INTEGER,               -- last message of the active path; null: the newest row
     late_seq INTEGER NOT NULL, -- seq of the last change to a message that is not the newest
     created INTEGER NOT NULL);
   CREATE TABLE transcript (
     pos INTEGER PRIMARY KEY,
     id TEXT NOT NULL, role TEXT NOT NULL, exchange_id TEXT NOT NULL,
     parent INTEGER, version INTEGER NOT NULL,
     status TEXT NOT NULL, reason TEXT,
     seq INTEGER NOT NULL,      -- written at start and end; in between, the leaf rows have it
     words TEXT NOT NULL,       -- text of a user or agent, verbatim; empty on assistant rows
     meta TEXT NOT NULL,        -- JSON: TranscriptMeta (row-codec.ts)
     created INTEGER NOT NULL);
   CREATE UNIQUE INDEX transcript_id ON transcript (id);
   CREATE TABLE leaf (
     pos INTEGER NOT NULL, part INTEGER NOT NULL, n INTEGER NOT NULL,
     kind TEXT NOT NULL,        -- text, thinking, output (of the tool call at this part)
     step INTEGER NOT NULL, seq INTEGER NOT NULL,
     open INTEGER NOT NULL, ms INTEGER,
     held TEXT,                 -- JSON: state of clean, on the last row of an open part
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
  // Versions, approvals, summaries and withdrawn messages.
  `ALTER TABLE session ADD COLUMN switches TEXT;     -- JSON: ids of the newest version switches, which have no effect if repeated
   ALTER TABLE transcript ADD COLUMN tip INTEGER;      -- end of the path below it when another version became active, or null
   ALTER TABLE transcript ADD COLUMN has_versions INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE transcript ADD COLUMN deadline INTEGER; -- when a running or waiting turn ends at the latest
   ALTER TABLE transcript ADD COLUMN summary TEXT;     -- JSON: {text, upto}
   ALTER TABLE transcript ADD COLUMN depth INTEGER NOT NULL DEFAULT 0; -- number of ancestors
   ALTER TABLE transcript ADD COLUMN jump INTEGER;     -- a far ancestor (ancestry.ts)
   UPDATE transcript SET depth = pos, jump = parent;   -- before this migration there were no branches
   ALTER TABLE tool_calls ADD COLUMN approval TEXT;
   ALTER TABLE tool_calls ADD COLUMN output_size TEXT; -- JSON: {lines, bytes}
   CREATE TABLE version (                              -- only for messages that have more than one
     parent INTEGER NOT NULL, n INTEGER NOT NULL, pos INTEGER NOT NULL,
     PRIMARY KEY (parent, n)) WITHOUT ROWID;
   CREATE TABLE withdrawn (seq INTEGER PRIMARY KEY, id TEXT NOT NULL);
   CREATE UNIQUE INDEX withdrawn_id ON withdrawn (id)`,
  // Imports.
  `ALTER TABLE session ADD COLUMN import TEXT;        -- JSON: ImportState (staged-rows.ts)
   ALTER TABLE transcript ADD COLUMN origin TEXT;
   CREATE TABLE staged (n INTEGER PRIMARY KEY, at INTEGER NOT NULL, line TEXT NOT NULL);
   CREATE INDEX staged_at ON staged (at, n)`,
  // Agents.
  `ALTER TABLE session ADD COLUMN agent TEXT;         -- JSON: AgentView (agent-config.ts); null: the general agent
   ALTER TABLE session ADD COLUMN family TEXT;        -- JSON: SessionGroup (row-codec.ts); null: this session is its root
   ALTER TABLE transcript ADD COLUMN agent TEXT;      -- JSON: AgentTag of a message from or for another agent
   ALTER TABLE queue ADD COLUMN agent TEXT;
   CREATE TABLE begun (                               -- turns that another agent started (agent-ask-rows.ts)
     id TEXT PRIMARY KEY,                             -- of the message that started it, and of the exchange in both sessions
     mode TEXT NOT NULL,                              -- sync, async, callback
     session TEXT NOT NULL, call_id TEXT NOT NULL,    -- that wait for the answer
     path TEXT NOT NULL,                              -- JSON: the sessions that led to this one
     depth INTEGER NOT NULL, budget INTEGER NOT NULL,
     owed INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX begun_owed ON begun (owed) WHERE owed = 1;
   CREATE TABLE asked (                               -- questions to other agents
     id TEXT PRIMARY KEY, call_id TEXT NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL,
     mode TEXT NOT NULL, budget INTEGER NOT NULL,
     until INTEGER,                                   -- when it expires; null: its turn waits for it
     open INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX asked_open ON asked (open) WHERE open = 1`,
  // External answers: the last accepted record of each.
  `CREATE TABLE producer (pos INTEGER PRIMARY KEY, told INTEGER NOT NULL)`,
  // Imports in parts, folding progress, late changes.
  `CREATE TABLE staged_part (part INTEGER PRIMARY KEY, tally TEXT NOT NULL); -- JSON: PartTally (staged-rows.ts)
   CREATE TABLE folding (                              -- the last staged row that was folded into the transcript
     one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL, n INTEGER NOT NULL, folded INTEGER NOT NULL);
   UPDATE session SET import = json_set(import, '$.step', iif(json_extract(import, '$.isDone'), 'done', 'folding'),
     '$.sources', json_array(), '$.skipped', 0, '$.bad', json_array()) WHERE import IS NOT NULL;
   CREATE TABLE late (seq INTEGER PRIMARY KEY, pos INTEGER NOT NULL)`,
  // Lookup of external answers by exchange.
  `ALTER TABLE producer ADD COLUMN exchange TEXT;
   UPDATE producer SET exchange = (SELECT exchange_id FROM transcript t WHERE t.pos = producer.pos);
   CREATE INDEX producer_exchange ON producer (exchange, pos)`,
  // Assets, media of tool calls, and grants of parts.
  `CREATE TABLE asset (
     id TEXT PRIMARY KEY,
     state TEXT NOT NULL,                              -- pending: not complete yet; doomed: its bytes are being deleted; kept
     about TEXT,                                       -- JSON: Asset; null unless kept
     hash TEXT,                                        -- SHA-256 of its bytes, in hexadecimal
     origin TEXT NOT NULL,                             -- user, tool, import
     size INTEGER NOT NULL DEFAULT 0,                  -- bytes; the declared size while pending
     created INTEGER NOT NULL) WITHOUT ROWID;
   CREATE INDEX asset_pending ON asset (created) WHERE state != 'kept';
   CREATE INDEX asset_hash ON asset (hash) WHERE hash IS NOT NULL;
   ALTER TABLE tool_calls ADD COLUMN media TEXT;       -- JSON: Asset[]
   -- JSON: Grants, on the last row of a part. A comment after the statement would become part of the table.
   ALTER TABLE leaf ADD COLUMN grants TEXT`,
  // The session that stores the bytes of a staged asset.
  `ALTER TABLE staged ADD COLUMN home TEXT;
   CREATE INDEX staged_home ON staged (n) WHERE home IS NOT NULL`,
  // Late answers to a version that is not active: `open` is 2, and `reply` holds the AskAnswer as JSON.
  `ALTER TABLE asked ADD COLUMN reply TEXT;
   CREATE INDEX asked_held ON asked (open) WHERE open = 2`,
  // Times of parts, and staged records that are larger than a row.
  `-- JSON: PartTimes, in leaf on the last row of a part.
   ALTER TABLE tool_calls ADD COLUMN times TEXT;
   ALTER TABLE leaf ADD COLUMN times TEXT;
   ALTER TABLE staged ADD COLUMN pieces INTEGER NOT NULL DEFAULT 0;
   CREATE TABLE staged_piece (                         -- what follows the text in the staged row
     n INTEGER NOT NULL, i INTEGER NOT NULL, text TEXT NOT NULL,
     PRIMARY KEY (n, i)) WITHOUT ROWID`,
  // The users who may read the session.
  `CREATE TABLE viewer (user TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID`,
  // Usage: all model calls of a turn so far, as JSON (PricedCall[]). While the turn is running, a tool call's row can
  // be newer.
  `ALTER TABLE transcript ADD COLUMN usage TEXT;
   ALTER TABLE tool_calls ADD COLUMN usage TEXT;
   ${SESSION_USAGE_TABLE}`,
  REPORTED_BYTES_TABLE,
  // When a temporary session is erased, in milliseconds since 1970; null for any other session.
  "ALTER TABLE session ADD COLUMN erases_at INTEGER",
  // Shared copies.
  `CREATE TABLE share (
     id TEXT PRIMARY KEY,
     upto TEXT NOT NULL,                               -- id of the last message
     title TEXT NOT NULL, named INTEGER NOT NULL,
     created INTEGER NOT NULL,
     expires INTEGER,                                  -- when it is deleted; null: never. While it is written: soon
     messages INTEGER NOT NULL) WITHOUT ROWID`,
  "ALTER TABLE session ADD COLUMN title_source TEXT", // TitleSource (session-rows.ts)
  FEEDBACK_COLUMN,
  TOOL_GRANT_TABLE,
]

/**
 * Runs the missing migrations. An object of an unknown id must stay empty, so call this only for a session that exists
 * or is being created (SPEC ST1).
 */
export function migrateSession(storage: DurableObjectStorage): void {
  runMigrations(storage, MIGRATIONS)
}

/** Whether the session was ever created. Reads only, so that an object of an unknown id stays empty (SPEC ST1). */
export const isCreated = hasSchema
