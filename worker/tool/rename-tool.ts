/**
 * rename-tool.ts: gives the conversation another title, once the reader allows it.
 *
 * call → approval → RENAME → session, directory
 * The title is the reader's own, so nobody changes it behind their back.
 */

import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import type { Tool } from "./tool.ts"

/** Stores a title where the session and the list of sessions show it. */
export type RenameSession = (title: string) => Promise<void>

/**
 * Errors  `{error, details}` for a title that is empty or too long.
 * Source  SPEC TO10.
 */
export function createRenameTool(renameSession: RenameSession): Tool {
  return {
    name: "rename_conversation",
    description: "Gives this conversation another title. The reader is asked first.",
    parameters: {
      type: "object",
      properties: { title: { type: "string", description: "A few words, no quotes." } },
      required: ["title"],
      additionalProperties: false,
    },
    repeatable: false,
    ephemeral: false,
    needsApproval: ({ title }) => parseTitle(title) !== null,
    async execute({ title }) {
      const newTitle = parseTitle(title)
      if (newTitle === null) {
        return { error: "The title does not fit.", details: `"title" must have 1 to ${MAX_TITLE_CHARS} characters.` }
      }
      await renameSession(newTitle)
      return { title: newTitle }
    },
  }
}

function parseTitle(value: unknown): string | null {
  if (typeof value !== "string") return null
  const title = value.trim().replace(/\s+/g, " ").toWellFormed()
  return title === "" || title.length > MAX_TITLE_CHARS ? null : title
}
