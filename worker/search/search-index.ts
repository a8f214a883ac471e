/**
 * search-index.ts: the full-text index of a user's conversations, in the user's directory.
 *
 * Each entry is a turn of a listed session: a question and its answer. The first entry of a session also contains its
 * title. The text of entries is stored in `search_entry` for the snippets; the index (SQLite's FTS5) contains only the
 * words. A session's entries are always a prefix of its active path.
 */

import { parseJson } from "../../shared/json.ts"
import type { SearchHit } from "../../shared/protocol/http-body.ts"
import { toTitle } from "../../shared/text/title.ts"
import type { FoundHits, MessageText, SearchQuery, SearchUpdate, TurnText } from "../platform/rpc/search-types.ts"
import { type Phrase, phrasesToMatch, parseSearchQuery } from "./search-query.ts"
import { createSnippet } from "./snippet.ts"
import { toIndexText } from "./word-list.ts"

/**
 * The index is not part of the migrations, because the erasure of a user drops it: if only its rows were deleted, terms
 * would remain in the table. The words are already folded. Marks are part of words. Prefixes of two or three letters
 * have their own index.
 */
const WORD_INDEX = `
  CREATE VIRTUAL TABLE IF NOT EXISTS search_words USING fts5(
    title, question, answer, content='', contentless_delete=1, prefix='2 3',
    tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co'")`

/** Maximum number of entries for one millisecond of message time. All messages of an import may have the same time. */
const ENTRIES_PER_MS = 1_000

/** Maximum number of title hits on the first page of a search with the scope `all`. */
const MAX_TITLE_HITS = 5

/**
 * Size of the directory, in bytes. At or above this size, each new entry removes the text of the two oldest entries.
 * The size is well below the platform's 10 GB, so that the index never prevents other writes.
 */
const MAX_DIRECTORY_BYTES = 4 * 1024 * 1024 * 1024

/**
 * Subtracted from the number of an entry whose text is removed, so that such entries follow all others and keep their
 * order. The offset is greater than any entry number.
 */
const EMPTIED_OFFSET = 4_000_000_000_000_000

/** Excludes hidden sessions, whose `shelf` is greater (organizing/organizing-columns.ts). */
const FIND_SQL = `
  SELECT e.n, e.session, e.question, e.answer, s.title, s.active
  FROM search_words CROSS JOIN search_entry e ON e.n = search_words.rowid CROSS JOIN sessions s ON s.id = e.session
  WHERE search_words MATCH ? AND search_words.rowid < ? AND s.shelf < 2
  ORDER BY search_words.rowid DESC LIMIT ?`

type FoundRow = {
  n: number
  session: string
  question: string | null
  answer: string | null
  title: string
  active: number
}

interface ListedRow {
  readonly title: string
  readonly isIndexed: boolean
  readonly isRunning: boolean
}

/** A fetch of a session's text. `isOvertaken`: the session's entries have changed since the fetch began. */
export interface TextFetch {
  readonly session: string
  isOvertaken: boolean
}

type NumberRow = { n: number }

export class SearchIndex {
  readonly #sql: SqlStorage
  readonly #maxBytes: number
  #hasWordIndex = false
  /** The current fetch. There is only one at a time. */
  #fetching: TextFetch | null = null

  constructor(sql: SqlStorage, maxBytes = MAX_DIRECTORY_BYTES) {
    this.#sql = sql
    this.#maxBytes = maxBytes
  }

  /** Call this before the text of a session is fetched. */
  beginFetch(session: string): Readonly<TextFetch> {
    this.#fetching = { session, isOvertaken: false }
    return this.#fetching
  }

  /** Creates the word index before its first use. */
  #createWordIndex(): void {
    if (!this.#hasWordIndex) this.#sql.exec(WORD_INDEX)
    this.#hasWordIndex = true
  }

  /**
   * Applies what a session sends: removes the entries that are no longer on the active path, and adds `turns` if no
   * entry is missing before them. Ignores temporary sessions and sessions that are not listed.
   *
   * Returns whether entries are still missing; these must be fetched from the session. Cost: three rows written per
   * turn.
   */
  apply(session: string, { tip, after, turns }: SearchUpdate): boolean {
    if (this.#fetching?.session === session) this.#fetching.isOvertaken = true
    const row = this.#findListed(session)
    if (row === null) return false
    let newest = this.findNewest(session)
    if (newest !== tip) {
      if (newest > after) this.#removeAfter(session, after)
      if (this.findNewest(session) === after) for (const turn of turns) this.#add(session, turn, row.title)
      newest = this.findNewest(session)
    }
    const isComplete = newest === tip
    if (isComplete && !row.isRunning) this.#ensureTitle(session, row.title)
    if (row.isIndexed !== isComplete) this.setIndexed(session, isComplete)
    return !isComplete
  }

  /** Returns the position of the session's newest entry; 0 if it has none. */
  findNewest(session: string): number {
    const query = "SELECT pos FROM search_entry WHERE session = ? ORDER BY pos DESC LIMIT 1"
    const [row] = this.#sql.exec<{ pos: number }>(query, session).toArray()
    return row?.pos ?? 0
  }

  setIndexed(session: string, isIndexed: boolean): void {
    this.#sql.exec("UPDATE sessions SET indexed = ? WHERE id = ?", isIndexed ? 1 : 0, session)
  }

  /**
   * Replaces the title of a session. The title of a session whose first turn is running is added with that turn. Cost:
   * two rows written.
   */
  replaceTitle(session: string): void {
    const row = this.#findListed(session)
    if (row === null) return
    const query = "SELECT n, pos, question, answer FROM search_entry WHERE session = ? ORDER BY pos LIMIT 1"
    type EntryRow = { n: number; pos: number; question: string | null; answer: string | null }
    const [first] = this.#sql.exec<EntryRow>(query, session).toArray()
    if (first === undefined) {
      if (!row.isRunning) this.#ensureTitle(session, row.title)
      return
    }
    this.#createWordIndex()
    this.#sql.exec("DELETE FROM search_words WHERE rowid = ?", first.n)
    const { n, question, answer } = first
    this.#addWords(n, row.title, columnToText(question)?.text ?? "", columnToText(answer)?.text ?? "")
  }

  /** Adds the title of a new session. Repeating the call has no effect. */
  addTitle(session: string): void {
    const row = this.#findListed(session)
    if (row !== null && !row.isRunning) this.#ensureTitle(session, row.title)
  }

  removeSession(session: string): void {
    if (this.#fetching?.session === session) this.#fetching.isOvertaken = true
    this.#removeAfter(session, -1)
  }

  /** Finds a page of hits, the newest first. Null if the query has no words, or too many. */
  find({ text, scope, limit, after }: SearchQuery): FoundHits | null {
    const phrases = parseSearchQuery(text)
    if (phrases === null) return null
    const hasTitlesFirst = scope === "all" && after === null
    const titles = hasTitlesFirst ? this.#match(phrases, ["title"], MAX_TITLE_HITS, null) : []
    const columns = scope === "titles" ? ["title"] : ["question", "answer"]
    const found = this.#match(phrases, columns, limit + 1, after)
    const page = found.slice(0, limit)
    const toHit = scope === "titles" ? toTitleHit : toMessageHit
    const hits = [...titles.map((row) => toTitleHit(row, phrases)), ...page.map((row) => toHit(row, phrases))]
    const next = found.length > limit ? (page.at(-1)?.n ?? null) : null
    return { hits, next, pending: this.hasUnindexed() }
  }

  /** Whether entries of any session that is not hidden must still be fetched. */
  hasUnindexed(): boolean {
    return this.#sql.exec("SELECT 1 FROM sessions WHERE indexed = 0 AND shelf < 2 LIMIT 1").toArray().length > 0
  }

  #match(phrases: readonly Phrase[], columns: readonly string[], limit: number, after: number | null): FoundRow[] {
    const match = phrasesToMatch(phrases, columns)
    this.#createWordIndex()
    return this.#sql.exec<FoundRow>(FIND_SQL, match, after ?? Number.MAX_SAFE_INTEGER, limit).toArray()
  }

  #findListed(session: string): ListedRow | null {
    type Row = { title: string; indexed: number; running: number }
    const query = "SELECT title, indexed, running FROM sessions WHERE id = ? AND shelf < 4"
    const [row] = this.#sql.exec<Row>(query, session).toArray()
    return row === undefined
      ? null
      : { title: toTitle(row.title), isIndexed: row.indexed === 1, isRunning: row.running === 1 }
  }

  #add(session: string, { pos, question, answer }: TurnText, title: string): void {
    this.#evictOldest()
    const isFirst = !this.#hasEntries(session)
    const n = this.#findFreeNumber((answer ?? question)?.at ?? Date.now())
    this.#sql.exec(
      "INSERT INTO search_entry (n, session, pos, question, answer) VALUES (?, ?, ?, ?, ?)",
      n,
      session,
      pos,
      question === null ? null : JSON.stringify(question),
      answer === null ? null : JSON.stringify(answer),
    )
    this.#addWords(n, isFirst ? title : "", question?.text ?? "", answer?.text ?? "")
  }

  #addWords(n: number, ...texts: readonly [title: string, question: string, answer: string]): void {
    this.#createWordIndex()
    this.#sql.exec(
      "INSERT INTO search_words (rowid, title, question, answer) VALUES (?, ?, ?, ?)",
      n,
      ...texts.map(toIndexText),
    )
  }

  /** Adds an entry that has only the title, for a session without finished messages. */
  #ensureTitle(session: string, title: string): void {
    if (title !== "" && !this.#hasEntries(session)) this.#add(session, { pos: 0, question: null, answer: null }, title)
  }

  #hasEntries(session: string): boolean {
    return this.#sql.exec("SELECT 1 FROM search_entry WHERE session = ? LIMIT 1", session).toArray().length > 0
  }

  #removeAfter(session: string, pos: number): void {
    this.#createWordIndex()
    const numbers = "SELECT n FROM search_entry WHERE session = ? AND pos > ?"
    this.#sql.exec(`DELETE FROM search_words WHERE rowid IN (${numbers})`, session, pos)
    this.#sql.exec("DELETE FROM search_entry WHERE session = ? AND pos > ?", session, pos)
  }

  /**
   * Returns the number for a new entry, which follows those of the same millisecond. Imported messages can have any
   * time, and all of them can have the same time. So if the numbers of a millisecond are used up, twice as many are
   * searched. Cost: at most one row read per doubling.
   */
  #findFreeNumber(atMs: number): number {
    const at = Math.min(Math.max(Number.isFinite(atMs) ? Math.trunc(atMs) : 0, 0), Date.now())
    const first = at * ENTRIES_PER_MS
    const query = "SELECT n FROM search_entry WHERE n >= ? AND n < ? ORDER BY n DESC LIMIT 1"
    for (let count = ENTRIES_PER_MS; ; count *= 2) {
      const [last] = this.#sql.exec<NumberRow>(query, first, first + count).toArray()
      if (last === undefined) return first
      if (last.n + 1 < first + count) return last.n + 1
    }
  }

  /** Removes the text of the two oldest entries that still have text. */
  #evictOldest(): void {
    if (this.#sql.databaseSize < this.#maxBytes) return
    this.#createWordIndex()
    type Row = NumberRow & { session: string; pos: number }
    const oldest = "SELECT n, session, pos FROM search_entry WHERE n >= 0 ORDER BY n LIMIT 2"
    for (const { n, session, pos } of this.#sql.exec<Row>(oldest).toArray()) this.#evict(n, session, pos)
  }

  /**
   * Removes an entry's text, and the entry itself if it is neither the session's first nor its newest. The first entry
   * keeps the title, so that the session can still be found by title. The newest entry keeps the position, so that
   * nothing is fetched again.
   */
  #evict(n: number, session: string, pos: number): void {
    const neighbours = `SELECT
      EXISTS (SELECT 1 FROM search_entry WHERE session = ?1 AND pos < ?2) AS hasEarlier,
      EXISTS (SELECT 1 FROM search_entry WHERE session = ?1 AND pos > ?2) AS hasNewer`
    const [row] = this.#sql.exec<{ hasEarlier: number; hasNewer: number }>(neighbours, session, pos).toArray()
    this.#sql.exec("DELETE FROM search_words WHERE rowid = ?", n)
    if (row?.hasEarlier === 1 && row.hasNewer === 1)
      return void this.#sql.exec("DELETE FROM search_entry WHERE n = ?", n)
    const empty = "UPDATE search_entry SET n = ?, question = NULL, answer = NULL WHERE n = ?"
    this.#sql.exec(empty, n - EMPTIED_OFFSET, n)
    const title = row?.hasEarlier === 0 ? this.#findListed(session)?.title : undefined
    if (title !== undefined && title !== "") this.#addWords(n - EMPTIED_OFFSET, title, "", "")
  }
}

/** Parses a column that `#add` wrote. */
function columnToText(column: string | null): MessageText | null {
  return column === null ? null : (parseJson(column) as unknown as MessageText)
}

function toTitleHit({ session, title, active }: FoundRow, phrases: readonly Phrase[]): SearchHit {
  const shown = toTitle(title)
  return {
    session,
    title: shown,
    message: null,
    role: "title",
    snippet: createSnippet(shown, phrases).parts,
    at: active,
  }
}

/** Returns the message of the entry in which more of the phrases occur, or the question if there is a tie. */
function toMessageHit({ session, title, question, answer }: FoundRow, phrases: readonly Phrase[]): SearchHit {
  const found = [question, answer]
    .map(columnToText)
    .filter((text) => text !== null)
    .map((text) => ({ ...text, snippet: createSnippet(text.text, phrases) }))
  const [first, second] = found
  const best = second !== undefined && second.snippet.found > (first?.snippet.found ?? 0) ? second : first
  const { id = null, role = "user", at = 0, snippet } = best ?? {}
  return { session, title: toTitle(title), message: id, role, snippet: snippet?.parts ?? [], at }
}
