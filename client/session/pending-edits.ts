/**
 * pending-edits.ts: edits that were saved and that the server has not heard yet: words, so they are kept like those of the outbox.
 *
 * commands → EDITS → shelf → the next page's commands, under the same id
 * Source: SPEC SO13, PG22.
 */

import { parseJson } from "../../shared/protocol/frame.ts"
import type { Command, Commands } from "./commands.ts"
import { rowsOf, type Shelf } from "../net/outbox.ts"

type Edit = Extract<Command, { type: "edit" }>

export class Edits {
  readonly #shelf: Shelf
  readonly #prefix: string
  readonly #commands: Commands
  /** Ids of those that lie there. */
  #kept: readonly string[] = []

  constructor(shelf: Shelf, session: string, commands: Commands) {
    this.#shelf = shelf
    this.#prefix = `cuecard.edit.${session}.`
    this.#commands = commands
    commands.asked.subscribe((asked) => {
      const unheard = [...asked.values()].filter(({ isHeard }) => !isHeard).map(({ command }) => command)
      this.#keep(unheard.filter((command) => command.type === "edit"))
    })
  }

  /** Asks for those that another page left there. */
  collect(): readonly Edit[] {
    const rows = rowsOf(this.#shelf).filter(([key]) => key.startsWith(this.#prefix))
    const edits = rows.flatMap(([, value]) => toEdit(parseJson(value)) ?? [])
    for (const edit of edits) this.#commands.ask(edit.message, edit)
    return edits
  }

  #keep(edits: readonly Edit[]): void {
    const ids = edits.map(({ id }) => id)
    try {
      for (const id of this.#kept) if (!ids.includes(id)) this.#shelf.removeItem(this.#prefix + id)
      for (const edit of edits) {
        if (!this.#kept.includes(edit.id)) this.#shelf.setItem(this.#prefix + edit.id, JSON.stringify(edit))
      }
    } catch {
      // A full or forbidden storage costs only the survival of a reload.
    }
    this.#kept = ids
  }
}

function toEdit(value: unknown): Edit | null {
  const { id, message, content } = Object(value) as Partial<Edit>
  if (typeof id !== "string" || typeof message !== "string" || typeof content !== "string") return null
  return { type: "edit", id, message, content }
}
