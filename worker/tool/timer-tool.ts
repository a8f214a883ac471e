/**
 * timer-tool.ts: a countdown, as the data of a card (shared/card/templates/timer.json). The card counts down by itself.
 */

import { defineTool } from "./define-tool.ts"

const MAX_LABEL_CHARS = 80
/** One day. A countdown in an answer is for something that the user is waiting for. */
const MAX_SECONDS = 86_400

/** Creates the tool (SPEC BT2). Error: `tool_arguments`. */
export const createTimerTool = () =>
  defineTool({
    description: "Shows a countdown in the answer. It is silent.",
    args: {
      type: "object",
      properties: {
        label: { type: "string", minLength: 1, maxLength: MAX_LABEL_CHARS },
        seconds: { type: "integer", minimum: 1, maximum: MAX_SECONDS },
      },
      required: ["label", "seconds"],
      additionalProperties: false,
    },
    effects: "read",
    repeatable: true,
    card: "timer",
    run: ({ label, seconds }, { now }) => ({
      label,
      ends_at: new Date(now() + seconds * 1000).toISOString(),
      seconds,
    }),
  })
