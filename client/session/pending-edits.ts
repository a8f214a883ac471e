/**
 * pending-edits.ts: stores edits that the server has not acknowledged, so that a reload doesn't lose their text.
 *
 * commands → EDITS → storage → the next page's commands, under the same id
 * Source: SPEC SO13, PG22.
 */

import { parseJson } from "../../shared/json.ts"
import type { Command, Commands } from "./commands.ts"
import type { KeyValueStorage } from "../net/outbox.ts"
import { readStorageRows } from "../net/user-storage.ts"

type EditCommand = Extract<Command, { type: "edit" }>

export class PendingEdits {
  readonly #storage: KeyValueStorage
  readonly #prefix: string
  readonly #commands: Commands
  readonly #now: () => number
  /** The ids of the stored edits. */
  #storedIds: readonly string[] = []

  constructor(storage: KeyValueStorage, sessionId: string, commands: Commands, now: () => number) {
    this.#storage = storage
    this.#prefix = `cuecard.edit.${sessionId}.`
    this.#commands = commands
    this.#now = now
    commands.pending.subscribe((pending) => {
      const unacknowledged = [...pending.values()]
        .filter(({ isAcknowledged }) => !isAcknowledged)
        .map(({ command }) => command)
      this.#storeEdits(unacknowledged.filter((command) => command.type === "edit"))
    })
  }

  /** Sends the edits that a closed page left behind, and returns them. */
  resendStored(): readonly EditCommand[] {
    const rows = readStorageRows(this.#storage).filter(([key]) => key.startsWith(this.#prefix))
    const edits = rows.flatMap(([, value]) => parseEditCommand(parseJson(value)) ?? [])
    for (const edit of edits) this.#commands.sendCommand(edit.message, edit)
    return edits
  }

  #storeEdits(edits: readonly EditCommand[]): void {
    const ids = edits.map(({ id }) => id)
    try {
      for (const id of this.#storedIds) if (!ids.includes(id)) this.#storage.removeItem(this.#prefix + id)
      for (const edit of edits) {
        if (!this.#storedIds.includes(edit.id))
          this.#storage.setItem(this.#prefix + edit.id, JSON.stringify({ ...edit, at: this.#now() }))
      }
    } catch {
      // If storage is full or blocked, an edit is still sent, but a reload loses it.
    }
    this.#storedIds = ids
  }
}

function parseEditCommand(value: unknown): EditCommand | null {
  const { id, message, content } = Object(value) as Partial<EditCommand>
  if (typeof id !== "string" || typeof message !== "string" || typeof content !== "string") return null
  return { type: "edit", id, message, content }
}
