/**
 * list-changes.ts: applies the changes that are being saved to the session list, and adds the sessions in folders that
 * the loaded part of the list doesn't contain.
 *
 * A change is shown at once, and undone if the server refuses it. Source: SPEC LB21, LB24.
 */

import type { SessionSummary } from "../../../shared/protocol/http-body.ts"
import type { SessionList } from "../../session/session-list.ts"

/** A change to sessions. `change` is null if the sessions disappear from the list. */
interface RowChange {
  readonly ids: ReadonlySet<string>
  readonly change: Partial<SessionSummary> | null
}

const changesByList = new WeakMap<SessionList, ListChanges>()

/** Returns the changes to a session list. */
export function listChangesOf(sessionList: SessionList): ListChanges {
  const known = changesByList.get(sessionList) ?? new ListChanges(sessionList)
  changesByList.set(sessionList, known)
  return known
}

export class ListChanges {
  readonly #list: SessionList
  readonly #pending = new Set<RowChange>()
  #saved: Promise<unknown> = Promise.resolve()
  /** The sessions of folders that have been opened, by folder. */
  readonly #folderRows = new Map<string, readonly SessionSummary[]>()

  constructor(list: SessionList) {
    this.#list = list
    list.adaptRows = (rows) => [...this.#pending].reduce(applyChange, this.#addFolderRows(rows))
  }

  /**
   * Shows a change to sessions at once, and saves it. `save` returns the ids of the sessions that could not be changed.
   * Rejects if `save` does.
   */
  async changeSessions(
    ids: ReadonlySet<string>,
    change: RowChange["change"],
    save: () => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    const pending = { ids, change }
    this.#pending.add(pending)
    this.#showAgain()
    try {
      const saving = save()
      this.#saved = Promise.allSettled([this.#saved, saving])
      const failedIds = await saving
      this.#applySaved({ ids: new Set([...ids].filter((id) => !failedIds.has(id))), change })
    } finally {
      this.#pending.delete(pending)
      this.#showAgain()
    }
  }

  /**
   * Waits until the server has responded to all changes made so far. Data that is fetched afterwards includes these
   * changes.
   */
  async untilSaved(): Promise<void> {
    await this.#saved
  }

  /** Shows a change that needs no request. */
  noteChange(id: string, change: Partial<SessionSummary>): void {
    this.#applySaved({ ids: new Set([id]), change })
  }

  /** Puts sessions that had disappeared back into the list. */
  relistSessions(rows: readonly SessionSummary[]): void {
    const ids = new Set(rows.map(({ id }) => id))
    this.#list.editRows((listed) => [...listed.filter(({ id }) => !ids.has(id)), ...rows])
  }

  /** Adds the sessions of a folder to the list. */
  setFolderRows(folder: string, rows: readonly SessionSummary[]): void {
    this.#folderRows.set(folder, rows)
    this.#showAgain()
  }

  #showAgain(): void {
    this.#list.editRows((rows) => rows)
  }

  #applySaved(saved: RowChange): void {
    for (const [folder, rows] of this.#folderRows) this.#folderRows.set(folder, applyChange(rows, saved))
    this.#list.editRows((rows) => applyChange(rows, saved))
  }

  /** Adds the folders' sessions that aren't in the list. */
  #addFolderRows(rows: readonly SessionSummary[]): readonly SessionSummary[] {
    if (this.#folderRows.size === 0) return rows
    const listed = new Map([...this.#folderRows.values()].flat().map((row) => [row.id, row]))
    for (const row of rows) listed.set(row.id, row)
    return [...listed.values()]
  }
}

/** Returns the sessions with a change applied. */
function applyChange(rows: readonly SessionSummary[], { ids, change }: RowChange): readonly SessionSummary[] {
  return change === null
    ? rows.filter(({ id }) => !ids.has(id))
    : rows.map((row) => (ids.has(row.id) ? { ...row, ...change } : row))
}
