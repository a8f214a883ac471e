/** agents-section.tsx: the tenant's agents: their instructions, models and tools. Source: SPEC AD5. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { MAX_AGENT_PROMPT_CHARS } from "../../shared/limits.ts"
import { createParser, hasShape, isListOf, isString } from "../../shared/protocol/shape-check.ts"
import { adminText, agentsText } from "../words/admin-text.ts"
import { pathOf } from "./admin-api.ts"
import { type Agent, parseAgentList } from "./admin-responses.ts"
import { type AdminContext, notice, useLoaded } from "./admin-state.ts"
import { FormDialog, RemoveDialog } from "./confirm-dialog.tsx"
import { CheckList, Detail, TextField } from "./form-fields.tsx"
import { RowList } from "./row-list.tsx"

const AGENTS_PATH = "/v1/agents"
const SERVERS_PATH = "/v1/mcp-servers"
const TOOLS_PATH = "/v1/tools"
/** The agent that can't be removed. */
const GENERAL_AGENT_NAME = "general"
/** Maximum length of a description, in UTF-16 code units. */
const MAX_DESCRIPTION_CHARS = 200

const NEW_AGENT: Agent = { name: "", description: "", prompt: "", model: null, tools: [] }

interface NamedServers {
  readonly servers: readonly { readonly name: string }[]
}

interface NamedTools {
  readonly tools: readonly { readonly name: string }[]
}

const parseToolNames = createParser<NamedTools>({ tools: isListOf(hasShape({ name: isString })) })
const parseServerNames = createParser<NamedServers>({ servers: isListOf(hasShape({ name: isString })) })

type OpenDialog =
  | { readonly kind: "edit"; readonly agent: Agent | null }
  | { readonly kind: "remove"; readonly agent: Agent }

export function AgentsSection({ api }: AdminContext): VNode {
  const list = useLoaded(() => api.get(AGENTS_PATH, parseAgentList))
  const dialog = useSignal<OpenDialog | null>(null)
  const closeDialog = (): void => {
    dialog.value = null
  }
  const open = dialog.value
  return (
    <>
      <RowList
        text={agentsText}
        label={adminText.section.agents}
        list={list}
        rows={list.value?.agents}
        onAdd={() => (dialog.value = { kind: "edit", agent: null })}
      >
        {(agent) => (
          <AgentRow
            key={agent.name}
            agent={agent}
            onEdit={() => (dialog.value = { kind: "edit", agent })}
            onRemove={() => (dialog.value = { kind: "remove", agent })}
          />
        )}
      </RowList>
      {open?.kind === "edit" && (
        <AgentForm
          api={api}
          tools={list.value?.tools ?? []}
          agent={open.agent}
          onSaved={() => void list.reload()}
          onClose={closeDialog}
        />
      )}
      {open?.kind === "remove" && (
        <RemoveDialog
          api={api}
          path={AGENTS_PATH}
          name={open.agent.name}
          text={agentsText}
          list={list}
          onClose={closeDialog}
        />
      )}
    </>
  )
}

interface AgentRowProps {
  readonly agent: Agent
  readonly onEdit: () => void
  readonly onRemove: () => void
}

function AgentRow({ agent, onEdit, onRemove }: AgentRowProps): VNode {
  const { name, description, model, tools, mcp_servers = [] } = agent
  return (
    <li>
      <div class="row-main">
        <p class="row-title">{name}</p>
        <p dir="auto">{description}</p>
        <dl>
          <Detail label={agentsText.model}>{model ?? agentsText.defaultModel}</Detail>
          <Detail label={agentsText.tools}>{tools.length === 0 ? agentsText.noTools : tools.join(", ")}</Detail>
          {mcp_servers.length > 0 && <Detail label={agentsText.servers}>{mcp_servers.join(", ")}</Detail>}
        </dl>
        {name === GENERAL_AGENT_NAME && <p class="row-note">{agentsText.general}</p>}
      </div>
      <fieldset class="row-actions" aria-label={agentsText.actionsOf(name)}>
        <button type="button" onClick={onEdit}>
          {agentsText.edit}
        </button>
        {name !== GENERAL_AGENT_NAME && (
          <button type="button" class="danger-text" onClick={onRemove}>
            {adminText.remove}
          </button>
        )}
      </fieldset>
    </li>
  )
}

interface AgentFormProps {
  readonly api: AdminContext["api"]
  /** Null for a new agent. */
  readonly agent: Agent | null
  /** The names of the built-in tools. */
  readonly tools: readonly string[]
  readonly onSaved: () => void
  readonly onClose: () => void
}

function AgentForm({ api, agent, tools, onSaved, onClose }: AgentFormProps): VNode {
  const entry = useSignal(agent ?? NEW_AGENT)
  const changeAgent = (part: Partial<Agent>): void => {
    entry.value = { ...entry.peek(), ...part }
  }
  return (
    <FormDialog
      title={agent === null ? agentsText.addTitle : agentsText.editTitle(agent.name)}
      submit={adminText.save}
      onClose={onClose}
      onSubmit={async () => {
        const { name, model: typed, ...rest } = entry.peek()
        const model = typed?.trim() || null
        await api.sendAction("PUT", pathOf(AGENTS_PATH, name.trim()), { ...rest, model })
        notice.value = adminText.saved
        onSaved()
      }}
    >
      {agent === null && (
        <TextField
          label={agentsText.name}
          hint={agentsText.nameHint}
          value={entry.value.name}
          onChange={(name) => changeAgent({ name })}
          isRequired
          isFirst
        />
      )}
      <TextField
        label={agentsText.description}
        hint={agentsText.descriptionHint}
        value={entry.value.description}
        maxLength={MAX_DESCRIPTION_CHARS}
        onChange={(description) => changeAgent({ description })}
      />
      <TextField
        label={agentsText.prompt}
        value={entry.value.prompt}
        rows={6}
        maxLength={MAX_AGENT_PROMPT_CHARS}
        onChange={(prompt) => changeAgent({ prompt })}
        isRequired
      />
      <TextField
        label={agentsText.model}
        hint={agentsText.modelHint}
        value={entry.value.model ?? ""}
        onChange={(model) => changeAgent({ model })}
      />
      <ToolList api={api} known={tools} value={entry.value.tools} onChange={changeAgent} />
      <ServerList api={api} value={entry.value.mcp_servers ?? []} onChange={changeAgent} />
    </FormDialog>
  )
}

interface ListProps {
  readonly api: AdminContext["api"]
  readonly value: readonly string[]
  readonly onChange: (part: Partial<Agent>) => void
}

/** The tools that the agent can use, among the built-in tools and the tenant's webhook tools. */
function ToolList({ api, known, value, onChange }: ListProps & { readonly known: readonly string[] }): VNode {
  const own = useLoaded(() => api.get(TOOLS_PATH, parseToolNames))
  const names = mergeNames(known, own.value?.tools.map(({ name }) => name) ?? [])
  return (
    <CheckList
      label={agentsText.tools}
      options={mergeNames(names, value)}
      value={value}
      onChange={(tools) => onChange({ tools })}
    />
  )
}

/** The MCP servers whose tools the agent can use. Renders nothing if the tenant has no servers. */
function ServerList({ api, value, onChange }: ListProps): VNode | null {
  const list = useLoaded(() => api.get(SERVERS_PATH, parseServerNames))
  const names = mergeNames(list.value?.servers.map(({ name }) => name) ?? [], value)
  if (names.length === 0) return null
  return (
    <CheckList
      label={agentsText.servers}
      options={names}
      value={value}
      onChange={(mcp_servers) => onChange({ mcp_servers })}
    />
  )
}

/** Merges the lists. A chosen name remains an option even if it isn't in the loaded list. */
function mergeNames(known: readonly string[], chosen: readonly string[]): readonly string[] {
  return [...new Set([...known, ...chosen])]
}
