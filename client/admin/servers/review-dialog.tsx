/**
 * review-dialog.tsx: the dialog in which an administrator reviews and allows the definitions of changed tools. SPEC
 * AD19, MP4.
 */

import type { VNode } from "preact"
import { serversText } from "../../words/admin/servers-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, notice } from "../admin-state.ts"
import { ConfirmDialog } from "../confirm-dialog.tsx"
import { listUnreviewed, type McpServer, parseServer, SERVERS_PATH, type ServerTool } from "./server-fields.ts"

interface ReviewDialogProps {
  readonly api: AdminContext["api"]
  readonly server: McpServer
  readonly onSaved: () => void
  readonly onClose: () => void
}

/**
 * Shows the tools to review. The approval names the revision that is shown, so the server refuses it if the tools have
 * changed since.
 */
export function ReviewDialog({ api, server, onSaved, onClose }: ReviewDialogProps): VNode {
  const { name, revision } = server
  return (
    <ConfirmDialog
      title={serversText.reviewTitle(name)}
      text={serversText.reviewText}
      confirm={serversText.allow}
      onClose={onClose}
      onConfirm={async () => {
        await api.send("POST", pathOf(SERVERS_PATH, name, "/review"), { revision }, parseServer)
        notice.value = serversText.reviewed(name)
        onSaved()
      }}
    >
      {listUnreviewed(server).map((tool) => (
        <ToolDefinition key={tool.name} tool={tool} />
      ))}
    </ConfirmDialog>
  )
}

function ToolDefinition({ tool: { name, description, schema, app, state } }: { readonly tool: ServerTool }): VNode {
  return (
    <section class="tool-definition" aria-label={name}>
      <h3>
        <code>{name}</code>
        <span class="tag warn">{serversText.state[state] ?? state}</span>
      </h3>
      {state === "gone" ? (
        <p>{serversText.goneText}</p>
      ) : (
        <>
          <p dir="auto">{description}</p>
          {app !== undefined && <p>{serversText.showsApp(app)}</p>}
          <details>
            <summary>{serversText.schema}</summary>
            <pre dir="ltr">{indentJson(schema)}</pre>
          </details>
        </>
      )}
    </section>
  )
}

function indentJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
