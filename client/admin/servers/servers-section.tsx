/** servers-section.tsx: the tenant's MCP servers, their states, and the reviews of changed tools. SPEC AD19. */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { serversText } from "../../words/admin/servers-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, type Loaded, notice, useAction, useLoaded } from "../admin-state.ts"
import { RemoveDialog } from "../confirm-dialog.tsx"
import { Detail, FaultText, Time } from "../form-fields.tsx"
import { RowList } from "../row-list.tsx"
import { ReviewDialog } from "./review-dialog.tsx"
import { listUnreviewed, type McpServer, parseServer, parseServerList, SERVERS_PATH } from "./server-fields.ts"
import { ServerForm } from "./server-form.tsx"

interface ServerList {
  readonly servers: readonly McpServer[]
}

type OpenDialog =
  | { readonly kind: "edit"; readonly server: McpServer | null }
  | { readonly kind: "review" | "remove"; readonly server: McpServer }

export function Section({ api }: AdminContext): VNode {
  const list = useLoaded(() => api.get(SERVERS_PATH, parseServerList))
  const dialog = useSignal<OpenDialog | null>(null)
  return (
    <>
      <RowList
        text={serversText}
        label={adminText.section.servers}
        list={list}
        rows={list.value?.servers}
        onAdd={() => (dialog.value = { kind: "edit", server: null })}
      >
        {(server) => (
          <ServerRow
            key={server.name}
            api={api}
            server={server}
            onChange={() => void list.reload()}
            onOpen={(kind) => (dialog.value = { kind, server })}
          />
        )}
      </RowList>
      <ServerDialog api={api} list={list} dialog={dialog} />
    </>
  )
}

interface ServerDialogProps {
  readonly api: AdminContext["api"]
  readonly list: Loaded<ServerList>
  readonly dialog: Signal<OpenDialog | null>
}

function ServerDialog({ api, list, dialog }: ServerDialogProps): VNode | null {
  const open = dialog.value
  const onClose = (): void => {
    dialog.value = null
  }
  const onSaved = (): void => void list.reload()
  switch (open?.kind) {
    case undefined:
      return null
    case "edit":
      return <ServerForm api={api} server={open.server} onSaved={onSaved} onClose={onClose} />
    case "review":
      return <ReviewDialog api={api} server={open.server} onSaved={onSaved} onClose={onClose} />
    case "remove":
      return (
        <RemoveDialog
          api={api}
          path={SERVERS_PATH}
          name={open.server.name}
          text={serversText}
          list={list}
          onClose={onClose}
        />
      )
  }
}

interface ServerRowProps {
  readonly api: AdminContext["api"]
  readonly server: McpServer
  readonly onChange: () => void
  readonly onOpen: (kind: "edit" | "review" | "remove") => void
}

function ServerRow({ api, server, onChange, onOpen }: ServerRowProps): VNode {
  const { name, url, flaw } = server
  const refreshing = useAction()
  const isUnreviewed = listUnreviewed(server).length > 0
  const refresh = (): void =>
    void refreshing.run(async () => {
      await api.send("POST", pathOf(SERVERS_PATH, name, "/refresh"), {}, parseServer)
      notice.value = serversText.refreshed(name)
      onChange()
    })
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
          {isUnreviewed && <span class="tag warn">{serversText.needsReview}</span>}
          {flaw !== null && <span class="tag warn">{serversText.failing}</span>}
        </p>
        <code>{url}</code>
        <ServerFacts server={server} />
        {flaw !== null && <p class="row-note">{serversText.flaw[flaw] ?? serversText.otherFlaw}</p>}
        <FaultText text={refreshing.fault} />
      </div>
      <fieldset class="row-actions" aria-label={serversText.actionsOf(name)}>
        {isUnreviewed && (
          <button type="button" class="firm" onClick={() => onOpen("review")}>
            {serversText.review}
          </button>
        )}
        <button type="button" disabled={refreshing.isRunning} onClick={refresh}>
          {serversText.refresh}
        </button>
        <button type="button" onClick={() => onOpen("edit")}>
          {serversText.edit}
        </button>
        <button type="button" class="danger-text" onClick={() => onOpen("remove")}>
          {adminText.remove}
        </button>
      </fieldset>
    </li>
  )
}

function ServerFacts({ server: { approval, protocol, fetched, offered } }: { readonly server: McpServer }): VNode {
  return (
    <>
      <dl>
        <Detail label={serversText.approval}>{serversText.approvals[approval] ?? approval}</Detail>
        <Detail label={serversText.protocol}>{protocol}</Detail>
        <Detail label={serversText.listed}>{fetched === 0 ? adminText.never : <Time at={fetched} />}</Detail>
      </dl>
      {offered.length > 0 && (
        <ul class="server-tools">
          {offered.map(({ name, state }) => (
            <li key={name} data-state={state}>
              <code>{name}</code> <small>{serversText.state[state] ?? state}</small>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
