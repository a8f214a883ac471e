/**
 * directory-library.ts: the calls of a directory object for its lists of sessions, for search and for organising.
 *
 * The library (worker/organizing) is loaded on the first call that needs it.
 */

import { DurableObject } from "cloudflare:workers"
import { fail, faultToWire, type Result, succeed } from "../../shared/fault.ts"
import type { BulkResult, SessionFolder, SessionSummary, SharedSession } from "../../shared/protocol/http-body.ts"
import type { SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"
import type { UsageReceipt, UsageReport } from "../../shared/usage/usage-report.ts"
import type { Env } from "../env.ts"
import type { Library } from "../organizing/library.ts"
import type * as Types from "../platform/rpc/directory-rpc.ts"
import type { FoundHits, SearchQuery } from "../platform/rpc/search-types.ts"
import { TextFetches } from "../search/text-fetches.ts"
import type { DirectoryHost } from "../usage/directory-host.ts"
import type { SessionLists } from "./session-lists.ts"

/** The pause between two alarms that fetch missing text, in milliseconds. */
const FETCH_PAUSE_MS = 500

export abstract class DirectoryLibrary extends DurableObject<Env> {
  #library: Library | null = null

  protected abstract getHost(): DirectoryHost
  protected abstract getLists(): SessionLists
  protected abstract scheduleAlarm(): void
  /** Adds the user to the tenant's list, if necessary. */
  protected abstract ensureUser(): Promise<void>

  abstract removeSession(id: string): Promise<boolean>

  async recordActivity(id: string, at: number, title?: string, running?: boolean): Promise<boolean> {
    const isStored = running !== undefined
    if (!this.getHost().tables.exist()) return isStored
    const library = this.getLists().isRenamed(id, title) ? await this.#loadLibrary() : null
    this.getLists().recordActivity(id, at, title, running)
    library?.index.replaceTitle(id)
    return isStored
  }

  async setRunning(id: string, running: boolean, report?: UsageReport, news?: Types.TurnNews): Promise<UsageReceipt> {
    const isFirst = !this.getHost().tables.exist()
    const library = news?.search === undefined || isFirst ? null : await this.#loadLibrary()
    const receipt = this.getLists().setRunning(id, running, report, news?.isUnattended)
    // The index is written in the same transaction, because nothing is awaited in between.
    if (news?.search !== undefined && library?.index.apply(id, news.search) === true) this.scheduleAlarm()
    return receipt
  }

  listSessions(limit: number, after?: Types.SessionCursor | null, filter?: Types.SessionFilter): SessionSummary[] {
    return this.getLists().list(limit, after, filter)
  }

  putShared(shared: SharedSession): Result<null> {
    return this.getLists().putShared(shared)
  }

  renameShared(owner: string, id: string, title: string): void {
    this.getLists().renameShared(owner, id, title)
  }

  removeShared(owner: string, id: string): void {
    this.getLists().removeShared(owner, id)
  }

  listShared(limit: number, after?: Types.SharedCursor): SharedSession[] {
    return this.getLists().listShared(limit, after)
  }

  listEntries(after: string | null, limit: number, isExport = false): Types.DirectoryEntry[] {
    return this.getLists().listEntries(after, limit, isExport)
  }

  restoreEntry(entry: Types.DirectoryEntry): void {
    this.getLists().restore(entry)
    this.scheduleAlarm()
  }

  async search(query: SearchQuery): Promise<Result<FoundHits>> {
    if (!this.#isUsed()) return succeed({ hits: [], next: null, pending: false })
    return (await this.#loadLibrary()).search(query)
  }

  async changeSessions(ids: readonly string[], action: Types.BulkAction): Promise<BulkResult[]> {
    const { code, text } = faultToWire({ reason: "session_unknown" })
    if (!this.#isUsed()) return ids.map((id) => ({ id, ok: false, code, text }))
    return await (await this.#loadLibrary()).changeAll(ids, action)
  }

  async hideSession(id: string): Promise<Result<number>> {
    return this.#isUsed() ? await (await this.#loadLibrary()).hide(id) : fail({ reason: "session_unknown" })
  }

  async listFolders(): Promise<SessionFolder[]> {
    return this.#isUsed() ? (await this.#loadLibrary()).folders.list() : []
  }

  async addFolder(id: string, name: string): Promise<Result<SessionFolder>> {
    await this.ensureUser()
    this.getHost().tables.create()
    return (await this.#loadLibrary()).addFolder(id, name)
  }

  async renameFolder(id: string, name: string): Promise<Result<SessionFolder>> {
    return this.#isUsed() ? (await this.#loadLibrary()).folders.rename(id, name) : fail({ reason: "folder_unknown" })
  }

  async removeFolder(id: string): Promise<Result<null>> {
    return this.#isUsed() ? (await this.#loadLibrary()).folders.remove(id) : fail({ reason: "folder_unknown" })
  }

  async listPrompts(): Promise<SavedPrompt[]> {
    return this.#isUsed() ? (await this.#loadLibrary()).prompts.list() : []
  }

  async putPrompt(prompt: SavedPrompt): Promise<Result<SavedPrompt>> {
    await this.ensureUser()
    this.getHost().tables.create()
    return (await this.#loadLibrary()).prompts.put(prompt)
  }

  async restorePrompts(prompts: readonly SavedPrompt[]): Promise<void> {
    this.getHost().tables.create()
    const { prompts: rows } = await this.#loadLibrary()
    for (const prompt of prompts) rows.put(prompt)
  }

  async removePrompt(id: string): Promise<void> {
    if (this.#isUsed()) (await this.#loadLibrary()).prompts.remove(id)
  }

  /** Whether the object has been used. An object that was never used stays empty. */
  #isUsed(): boolean {
    return this.getHost().tables.exist()
  }

  async #loadLibrary(): Promise<Library> {
    const { Library } = await import("../organizing/library.ts")
    const host = this.getHost()
    this.#library ??= new Library({
      ...host,
      removeSession: async (id) => await this.removeSession(id),
      scheduleAlarm: () => this.scheduleAlarm(),
    })
    return this.#library
  }

  /** Clears the state in memory. Call this when the tables are emptied. */
  protected forgetLibrary(): void {
    this.#library = null
  }

  /** Makes the title of a new session searchable. */
  protected async addTitle(id: string): Promise<void> {
    const library = await this.#loadLibrary()
    library.index.addTitle(id)
  }

  /** Removes a session from the search index. */
  protected async removeTexts(id: string): Promise<void> {
    if (!this.#isUsed()) return
    new TextFetches(this.getHost().sql).forget(id)
    const query = "SELECT 1 FROM search_entry WHERE session = ? LIMIT 1"
    if (this.getHost().sql.exec(query, id).toArray().length > 0) (await this.#loadLibrary()).index.removeSession(id)
  }

  protected async handleLibraryAlarm(): Promise<void> {
    if (this.nextLibraryAlarmAt() <= Date.now() + FETCH_PAUSE_MS) await (await this.#loadLibrary()).handleAlarm()
  }

  /**
   * Returns when a hidden session must be erased or text can be fetched, in milliseconds since 1970; Infinity if never.
   */
  protected nextLibraryAlarmAt(): number {
    const { sql } = this.getHost()
    const earliest = "SELECT gone FROM sessions WHERE gone IS NOT NULL ORDER BY gone LIMIT 1"
    const [row] = sql.exec<{ gone: number }>(earliest).toArray()
    const fetchAt = new TextFetches(sql).nextAt()
    return Math.min(row?.gone ?? Infinity, fetchAt === 0 ? Date.now() + FETCH_PAUSE_MS : fetchAt)
  }
}
