/**
 * rename-tool.ts: renames the conversation. The title belongs to the user, so every call needs their approval.
 */

import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { toTitle } from "../../shared/text/title.ts"
import type { Tool } from "./tool.ts"

/** Stores a title in the session and in the user's directory. */
export type RenameSession = (title: string) => Promise<void>

/** Creates the tool (SPEC TO10). Errors: a title that is empty or too long. */
export function createRenameTool(renameSession: RenameSession): Tool {
  return {
    name: "rename_conversation",
    description: "Renames this conversation. The user is asked for approval first.",
    parameters: {
      type: "object",
      properties: { title: { type: "string", description: "A few words, without quotation marks." } },
      required: ["title"],
      additionalProperties: false,
    },
    repeatable: false,
    ephemeral: false,
    needsApproval: ({ title }) => parseTitle(title) !== null,
    async execute({ title }) {
      const newTitle = parseTitle(title)
      if (newTitle === null) {
        return { error: "The title is not valid.", details: `"title" must have 1 to ${MAX_TITLE_CHARS} characters.` }
      }
      await renameSession(newTitle)
      return { title: newTitle }
    },
  }
}

function parseTitle(value: unknown): string | null {
  if (typeof value !== "string") return null
  const line = value.trim().replace(/\s+/g, " ")
  const title = toTitle(line).trim()
  return title === "" || line.length > MAX_TITLE_CHARS ? null : title
}
