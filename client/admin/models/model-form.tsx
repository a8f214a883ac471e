/** model-form.tsx: the form for a model of the tenant. A stored key is never shown. SPEC AD18. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { modelsText } from "../../words/admin/models-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, notice } from "../admin-state.ts"
import { FormDialog } from "../confirm-dialog.tsx"
import { CheckList, SelectField, TextField } from "../form-fields.tsx"
import {
  EFFORT_OPTIONS,
  entryToModel,
  FILE_KINDS,
  MODELS_PATH,
  type Model,
  type ModelEntry,
  modelToEntry,
} from "./model-fields.ts"

interface ModelFormProps {
  readonly api: AdminContext["api"]
  /** Null for a new model. */
  readonly model: Model | null
  readonly onSaved: () => void
  readonly onClose: () => void
}

export function ModelForm({ api, model, onSaved, onClose }: ModelFormProps): VNode {
  const entry = useSignal(modelToEntry(model))
  const change = (part: Partial<ModelEntry>): void => {
    entry.value = { ...entry.peek(), ...part }
  }
  return (
    <FormDialog
      title={model === null ? modelsText.addTitle : modelsText.editTitle(model.name)}
      submit={adminText.save}
      onClose={onClose}
      onSubmit={async () => {
        const { name } = entry.peek()
        await api.sendAction("PUT", pathOf(MODELS_PATH, name.trim()), entryToModel(entry.peek()))
        notice.value = adminText.saved
        onSaved()
      }}
    >
      {model === null && (
        <TextField
          label={modelsText.name}
          hint={modelsText.nameHint}
          value={entry.value.name}
          onChange={(name) => change({ name })}
          maxLength={64}
          isRequired
          isFirst
        />
      )}
      <ModelFields entry={entry.value} model={model} onChange={change} />
    </FormDialog>
  )
}

interface ModelFieldsProps {
  readonly entry: ModelEntry
  readonly model: Model | null
  readonly onChange: (part: Partial<ModelEntry>) => void
}

function ModelFields({ entry, model, onChange }: ModelFieldsProps): VNode {
  return (
    <>
      <SelectField
        label={modelsText.provider}
        value={entry.provider}
        options={modelsText.providers}
        onChange={(provider) => onChange({ provider })}
      />
      <TextField
        label={modelsText.model}
        hint={modelsText.modelHint}
        value={entry.model}
        onChange={(name) => onChange({ model: name })}
        isRequired
      />
      <TextField
        label={modelsText.address}
        hint={modelsText.addressHint}
        type="url"
        value={entry.base_url}
        onChange={(base_url) => onChange({ base_url })}
        isRequired={entry.provider === "openai-compatible"}
      />
      <TextField
        label={modelsText.key}
        hint={describeKeyHint(model?.key_end ?? null)}
        type="password"
        value={entry.key}
        onChange={(key) => onChange({ key })}
      />
      <CheckList
        label={modelsText.takes}
        options={FILE_KINDS}
        texts={modelsText.kinds}
        value={entry.takes}
        onChange={(takes) => onChange({ takes })}
      />
      <TextField
        label={modelsText.context}
        hint={modelsText.contextHint}
        type="decimal"
        value={entry.context}
        onChange={(context) => onChange({ context })}
      />
      <SelectField
        label={modelsText.effort}
        value={entry.effort}
        options={EFFORT_OPTIONS}
        onChange={(effort) => onChange({ effort })}
      />
    </>
  )
}

function describeKeyHint(end: string | null): string {
  if (end === null) return modelsText.keyHint
  return end === "" ? modelsText.keyKeptUnnamed : modelsText.keyKept(end)
}
