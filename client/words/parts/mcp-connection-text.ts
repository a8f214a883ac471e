/** mcp-connection-text.ts: the strings of the user's connections to MCP servers. */

import { translate } from "../languages/language.ts"

export const mcpConnectionText = translate("mcpConnection", {
  connections: "Connections",
  connected: "Connected with your account.",
  notConnected: "Not connected.",
  connect: (server: string) => `Connect ${server}`,
  disconnect: "Disconnect",
  needed: (server: string) => `${server} needs access to your account.`,
  waiting: "Allow access in the window that opened.",
  connectedTo: (server: string) => `You are connected to ${server}.`,
  askAgain: "Ask again",
})
