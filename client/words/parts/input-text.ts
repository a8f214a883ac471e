/** input-text.ts: the strings around a question that the server of a tool call asks the user. */

import { translate } from "../languages/language.ts"

export const inputText = translate("input", {
  /** `server`: the name of the MCP server. */
  asks: (server: string) => `The server “${server}” asks you:`,
  careful: "Your answer goes to this server. Never enter passwords, keys or card numbers.",
  send: "Send",
  decline: "Decline",
  sending: "Sending…",
  choose: "Choose…",
  check: "Check this field.",
})
