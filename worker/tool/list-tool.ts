/** list-tool.ts: a list whose items are open or done, as the data of a card (shared/card/templates/list.json). */

import { defineTool } from "./define-tool.ts"

const MAX_TITLE_CHARS = 120
const MAX_TEXT_CHARS = 300
/** Maximum number of items that a card shows. */
const MAX_ITEMS = 100

/** Creates the tool (SPEC BT3). Error: `tool_arguments`. */
export const createListTool = () =>
  defineTool({
    description: "Shows a list of tasks or things, each open or done. To change it, call it again with all items.",
    args: {
      type: "object",
      properties: {
        title: { type: "string", minLength: 1, maxLength: MAX_TITLE_CHARS },
        items: {
          type: "array",
          minItems: 1,
          maxItems: MAX_ITEMS,
          items: {
            type: "object",
            properties: {
              text: { type: "string", minLength: 1, maxLength: MAX_TEXT_CHARS },
              done: { type: "boolean" },
              note: { type: "string", maxLength: MAX_TEXT_CHARS },
            },
            required: ["text"],
            additionalProperties: false,
          },
        },
      },
      required: ["title", "items"],
      additionalProperties: false,
    },
    effects: "read",
    repeatable: true,
    card: "list",
    run: ({ title, items }) => ({
      title,
      open: items.filter(({ done = false }) => !done).length,
      items: items.map(({ text, done = false, note = "" }) => ({ text, done, ...(note === "" ? {} : { note }) })),
    }),
  })
