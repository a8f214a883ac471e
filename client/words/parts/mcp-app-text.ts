/** mcp-app-text.ts: the strings around an MCP App, and its questions to the user. */

import { translate } from "../languages/language.ts"

export const mcpAppText = translate("mcpApp", {
  /** `server`: the name of the MCP server. */
  app: (server: string) => `App: ${server}`,
  linkAsked: "This app wants to open a link:",
  openLink: "Open the link",
  messageAsked: "This app wants to send a message as you:",
  send: "Send",
  callAsked: (tool: string) => `This app wants to use ${tool}:`,
})
