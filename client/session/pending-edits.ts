/**
 * pending-edits.ts: edits that were saved and that the server has not heard yet: words, so they are kept like those of the outbox.
 *
 * commands → EDITS → shelf → the next page's commands, under the same id
 * Source: SPEC SO13, PG22.
 */

import { parseJson } from "../../shared/json.ts"
import type { Command, Commands } from "./commands.ts"
import { readStorageRows, type KeyValueStorage } from "../net/outbox.ts"

type EditCommand = Extract<Command, { type: "edit" }>

export class PendingEdits {
  readonly #storage: KeyValueStorage
  readonly #prefix: string
  readonly #commands: Commands
  /** Ids of those that lie there. */
  #storedIds: readonly string[] = []

  constructor(storage: KeyValueStorage, sessionId: string, commands: Commands) {
    this.#storage = storage
    this.#prefix = `cuecard.edit.${sessionId}.`
    this.#commands = commands
    commands.pending.subscribe((pending) => {
      const unacknowledged = [...pending.values()]
        .filter(({ isAcknowledged: isHeard }) => !isHeard)
        .map(({ command }) => command)
      this.#storeEdits(unacknowledged.filter((command) => command.type === "edit"))
    })
  }

  /** Asks for those that another page left there. */
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
        if (!this.#storedIds.includes(edit.id)) this.#storage.setItem(this.#prefix + edit.id, JSON.stringify(edit))
      }
    } catch {
      // A full or forbidden storage costs only the survival of a reload.
    }
    this.#storedIds = ids
  }
}

function parseEditCommand(value: unknown): EditCommand | null {
  const { id, message, content } = Object(value) as Partial<EditCommand>
  if (typeof id !== "string" || typeof message !== "string" || typeof content !== "string") return null
  return { type: "edit", id, message, content }
}
