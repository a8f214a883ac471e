/** webhook-form.tsx: the form for a webhook tool. The schema is checked as the administrator types it. SPEC AD21. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useMemo } from "preact/hooks"
import { toolsText } from "../../words/admin/tools-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, notice } from "../admin-state.ts"
import { JsonEditor } from "../cards/json-editor.tsx"
import { FormDialog } from "../confirm-dialog.tsx"
import { SelectField, TextField } from "../form-fields.tsx"
import {
  entryToTool,
  findSchemaProblem,
  parseTool,
  TOOLS_PATH,
  type ToolEntry,
  toolToEntry,
  type WebhookTool,
} from "./webhook-fields.ts"

interface WebhookFormProps {
  readonly api: AdminContext["api"]
  /** Null for a new tool. */
  readonly tool: WebhookTool | null
  readonly onSaved: (tool: WebhookTool) => void
  readonly onClose: () => void
}

export function WebhookForm({ api, tool, onSaved, onClose }: WebhookFormProps): VNode {
  const entry = useSignal(toolToEntry(tool))
  const saved = useSignal<WebhookTool | null>(null)
  const change = (part: Partial<ToolEntry>): void => {
    entry.value = { ...entry.peek(), ...part }
  }
  return (
    <FormDialog
      title={tool === null ? toolsText.addTitle : toolsText.editTitle(tool.name)}
      submit={adminText.save}
      onClose={() => (saved.peek() === null ? onClose() : onSaved(saved.peek() as WebhookTool))}
      onSubmit={async () => {
        const path = pathOf(TOOLS_PATH, entry.peek().name.trim())
        saved.value = await api.send("PUT", path, entryToTool(entry.peek()), parseTool)
        notice.value = adminText.saved
      }}
    >
      {tool === null && (
        <TextField
          label={toolsText.name}
          hint={toolsText.nameHint}
          value={entry.value.name}
          onChange={(name) => change({ name })}
          maxLength={48}
          isRequired
          isFirst
        />
      )}
      <WebhookFields entry={entry.value} onChange={change} />
    </FormDialog>
  )
}

interface WebhookFieldsProps {
  readonly entry: ToolEntry
  readonly onChange: (part: Partial<ToolEntry>) => void
}

function WebhookFields({ entry, onChange }: WebhookFieldsProps): VNode {
  const problem = useMemo(() => findSchemaProblem(entry.schema), [entry.schema])
  return (
    <>
      <TextField
        label={toolsText.description}
        hint={toolsText.descriptionHint}
        rows={2}
        value={entry.description}
        onChange={(description) => onChange({ description })}
        isRequired
      />
      <TextField
        label={toolsText.address}
        hint={toolsText.addressHint}
        type="url"
        value={entry.url}
        onChange={(url) => onChange({ url })}
        isRequired
      />
      <JsonEditor
        label={toolsText.schema}
        rows={8}
        value={entry.schema}
        problem={problem}
        onChange={(schema) => onChange({ schema })}
      />
      <SelectField
        label={toolsText.effects}
        value={entry.effects}
        options={toolsText.effect}
        onChange={(effects) => onChange({ effects })}
      />
      <SelectField
        label={toolsText.approval}
        value={entry.approval}
        options={toolsText.approvals}
        onChange={(approval) => onChange({ approval })}
      />
    </>
  )
}
