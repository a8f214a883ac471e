/**
 * connect-request.tsx: asks the user to connect to an MCP server. Shown below a tool call that needs the connection.
 * Source: SPEC MP14.
 */

import type { VNode } from "preact"
import type { Api } from "../net/api.ts"
import { getRootElement } from "../ui/kept-focus/page-elements.ts"
import { mcpConnectionText } from "../words/parts/mcp-connection-text.ts"
import { useConnection } from "./use-connection.ts"

interface ConnectRequestProps {
  readonly api: Api
  readonly server: string
  /** Sends the user's question again. */
  readonly onRetry: () => void
}

export function ConnectRequest({ api, server, onRetry }: ConnectRequestProps): VNode {
  const { status, fault, connect } = useConnection(api, server)
  const isConnected = status === "connected"
  // On other sites, browsers block the cookie that the consent page requires.
  const isWidget = getRootElement() !== document.documentElement
  return (
    <fieldset class="ask" aria-label={mcpConnectionText.connect(server)}>
      <p role="status">
        {isConnected
          ? mcpConnectionText.connectedTo(server)
          : status === "waiting"
            ? mcpConnectionText.waiting
            : mcpConnectionText.needed(server)}
      </p>
      {!isWidget && (
        <button type="button" class="firm" onClick={isConnected ? onRetry : connect}>
          {isConnected ? mcpConnectionText.askAgain : mcpConnectionText.connect(server)}
        </button>
      )}
      {fault !== "" && (
        <p class="fault" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  )
}
