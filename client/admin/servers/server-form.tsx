/**
 * server-form.tsx: the form for an MCP server. The server is saved once to connect to it, and again with the tools that
 * agents may use. A stored secret is never shown. SPEC AD19.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { serversText } from "../../words/admin/servers-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, notice } from "../admin-state.ts"
import { FormDialog } from "../confirm-dialog.tsx"
import { CheckList, SelectField, TextField } from "../form-fields.tsx"
import {
  entryToServer,
  type McpServer,
  parseServer,
  SERVERS_PATH,
  type ServerEntry,
  serverToEntry,
} from "./server-fields.ts"

interface ServerFormProps {
  readonly api: AdminContext["api"]
  /** Null for a new server. */
  readonly server: McpServer | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

interface FieldsProps {
  readonly entry: ServerEntry
  readonly onChange: (part: Partial<ServerEntry>) => void
}

export function ServerForm({ api, server, onSaved, onClose }: ServerFormProps): VNode {
  const entry = useSignal(serverToEntry(server))
  const change = (part: Partial<ServerEntry>): void => {
    entry.value = { ...entry.peek(), ...part }
  }
  const offered = server?.offered.map(({ name }) => name) ?? []
  return (
    <FormDialog
      title={server === null ? serversText.addTitle : serversText.editTitle(server.name)}
      submit={server === null ? serversText.connect : serversText.save}
      submitting={serversText.connecting}
      onClose={onClose}
      onSubmit={async () => {
        const path = pathOf(SERVERS_PATH, entry.peek().name.trim())
        await api.send("PUT", path, entryToServer(entry.peek()), parseServer)
        notice.value = adminText.saved
        onSaved()
      }}
    >
      {server === null && (
        <TextField
          label={serversText.name}
          hint={serversText.nameHint}
          value={entry.value.name}
          onChange={(name) => change({ name })}
          maxLength={20}
          isRequired
          isFirst
        />
      )}
      <TextField
        label={serversText.address}
        hint={serversText.addressHint}
        type="url"
        value={entry.value.url}
        onChange={(url) => change({ url })}
        isRequired
      />
      <AuthFields entry={entry.value} hasSecret={server?.has_secret === true} onChange={change} />
      <SelectField
        label={serversText.approval}
        value={entry.value.approval}
        options={serversText.approvals}
        onChange={(approval) => change({ approval })}
      />
      {server === null ? (
        <p class="row-note">{serversText.connectFirst}</p>
      ) : (
        <ToolFields entry={entry.value} offered={offered} onChange={change} />
      )}
    </FormDialog>
  )
}

function AuthFields({ entry, hasSecret, onChange }: FieldsProps & { readonly hasSecret: boolean }): VNode {
  const hint = hasSecret ? serversText.secretKept : serversText.secretHint
  const secret = (label: string): VNode => (
    <TextField
      label={label}
      hint={hint}
      type="password"
      value={entry.secret}
      onChange={(text) => onChange({ secret: text })}
    />
  )
  return (
    <>
      <SelectField
        label={serversText.auth}
        value={entry.auth}
        options={serversText.auths}
        onChange={(auth) => onChange({ auth })}
      />
      {entry.auth === "header" && (
        <>
          <TextField label={serversText.header} value={entry.header} onChange={(header) => onChange({ header })} />
          {secret(serversText.value)}
        </>
      )}
      {(entry.auth === "oauth" || entry.auth === "user") && (
        <>
          <TextField
            label={serversText.issuer}
            type="url"
            value={entry.issuer}
            onChange={(issuer) => onChange({ issuer })}
            isRequired
          />
          <TextField
            label={serversText.clientId}
            value={entry.clientId}
            onChange={(clientId) => onChange({ clientId })}
            isRequired
          />
          {secret(serversText.clientSecret)}
          <TextField label={serversText.scope} value={entry.scope} onChange={(scope) => onChange({ scope })} />
        </>
      )}
    </>
  )
}

function ToolFields({ entry, offered, onChange }: FieldsProps & { readonly offered: readonly string[] }): VNode {
  const allowed = offered.filter((name) => entry.tools.includes(name))
  return (
    <>
      <CheckList
        label={serversText.tools}
        options={offered}
        value={entry.tools}
        onChange={(tools) => onChange({ tools })}
      />
      {allowed.length > 0 && (
        <CheckList
          label={serversText.reads}
          options={allowed}
          value={entry.reads}
          onChange={(reads) => onChange({ reads })}
        />
      )}
      <TextField
        label={serversText.appHosts}
        hint={serversText.appHostsHint}
        value={entry.appHosts}
        onChange={(appHosts) => onChange({ appHosts })}
      />
    </>
  )
}
