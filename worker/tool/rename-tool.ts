/**
 * rename-tool.ts: renames the conversation. The title belongs to the user, so every call needs their approval.
 */

import { MAX_TITLE_CHARS } from "../../shared/limits.ts"
import { toTitle } from "../../shared/text/title.ts"
import { defineTool } from "./define-tool.ts"
import { createRefusal } from "./tool.ts"

/** Stores a title in the session and in the user's directory. */
export type RenameSession = (title: string) => Promise<void>

/** Creates the tool (SPEC TO10). Error: `tool_arguments`. */
export const createRenameTool = (renameSession: RenameSession) =>
  defineTool({
    description: "Renames this conversation. The user is asked for approval first.",
    args: {
      type: "object",
      properties: {
        title: {
          type: "string",
          minLength: 1,
          maxLength: MAX_TITLE_CHARS,
          description: "A few words, without quotation marks.",
        },
      },
      required: ["title"],
      additionalProperties: false,
    },
    effects: "write",
    repeatable: false,
    asksApproval: true,
    async run(args) {
      const title = toTitle(args.title.replace(/\s+/g, " ")).trim()
      if (title === "") return createRefusal("tool_arguments", '"/title" has no visible characters.')
      await renameSession(title)
      return { title }
    },
  })
