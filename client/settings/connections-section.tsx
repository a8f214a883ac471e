/** connections-section.tsx: the user's connections on the settings page. Source: SPEC MP11. */

import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { McpConnection } from "../../shared/protocol/http-body.ts"
import type { Api } from "../net/api.ts"
import { describeError } from "../net/http-request.ts"
import { SettingRow } from "./setting-row.tsx"
import { mcpConnectionText } from "../words/parts/mcp-connection-text.ts"
import { endConnection, listConnections } from "../connections/connections-api.ts"
import { useConnection } from "../connections/use-connection.ts"

/** Renders nothing if there are no servers to which the user can connect. */
export function ConnectionsSection({ api }: { readonly api: Api }): VNode | null {
  const [connections, setConnections] = useState<readonly McpConnection[]>([])
  const refresh = (): void => {
    listConnections(api).then(setConnections, () => {})
  }
  useEffect(refresh, [api])
  if (connections.length === 0) return null
  return (
    <section class="connections">
      <h2>{mcpConnectionText.connections}</h2>
      {connections.map((connection) => (
        <ConnectionRow key={connection.server} api={api} connection={connection} onChange={refresh} />
      ))}
    </section>
  )
}

interface ConnectionRowProps {
  readonly api: Api
  readonly connection: McpConnection
  readonly onChange: () => void
}

function ConnectionRow({ api, connection: { server, connected }, onChange }: ConnectionRowProps): VNode {
  const { fault, connect } = useConnection(api, server, onChange)
  const [endFault, setEndFault] = useState("")
  const disconnect = (): void => {
    endConnection(api, server).then(onChange, (error: unknown) => setEndFault(describeError(error)))
  }
  const shownFault = fault === "" ? endFault : fault
  return (
    <>
      <SettingRow title={server} hint={connected ? mcpConnectionText.connected : mcpConnectionText.notConnected}>
        <button type="button" onClick={connected ? disconnect : connect}>
          {connected ? mcpConnectionText.disconnect : mcpConnectionText.connect(server)}
        </button>
      </SettingRow>
      {shownFault !== "" && (
        <p class="fault" role="alert">
          {shownFault}
        </p>
      )}
    </>
  )
}
