/** models-section.tsx: the tenant's own models, and whether their keys are accepted. SPEC AD18. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { modelsText } from "../../words/admin/models-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { type AdminContext, useLoaded } from "../admin-state.ts"
import { RemoveDialog } from "../confirm-dialog.tsx"
import { Detail, Time } from "../form-fields.tsx"
import { RowList } from "../row-list.tsx"
import { MODELS_PATH, type Model, parseModelList } from "./model-fields.ts"
import { ModelForm } from "./model-form.tsx"

type OpenDialog =
  | { readonly kind: "edit"; readonly model: Model | null }
  | { readonly kind: "remove"; readonly model: Model }

export function Section({ api }: AdminContext): VNode {
  const list = useLoaded(() => api.get(MODELS_PATH, parseModelList))
  const dialog = useSignal<OpenDialog | null>(null)
  const closeDialog = (): void => {
    dialog.value = null
  }
  const open = dialog.value
  return (
    <>
      <RowList
        text={modelsText}
        label={adminText.section.models}
        list={list}
        rows={list.value?.models}
        onAdd={() => (dialog.value = { kind: "edit", model: null })}
      >
        {(model) => (
          <ModelRow
            key={model.name}
            model={model}
            onEdit={() => (dialog.value = { kind: "edit", model })}
            onRemove={() => (dialog.value = { kind: "remove", model })}
          />
        )}
      </RowList>
      {open?.kind === "edit" && (
        <ModelForm api={api} model={open.model} onSaved={() => void list.reload()} onClose={closeDialog} />
      )}
      {open?.kind === "remove" && (
        <RemoveDialog
          api={api}
          path={MODELS_PATH}
          name={open.model.name}
          text={modelsText}
          list={list}
          onClose={closeDialog}
        />
      )}
    </>
  )
}

interface ModelRowProps {
  readonly model: Model
  readonly onEdit: () => void
  readonly onRemove: () => void
}

function ModelRow({ model, onEdit, onRemove }: ModelRowProps): VNode {
  const { name, provider, base_url, key_end, refused } = model
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
          {refused !== null && <span class="tag warn">{modelsText.refused}</span>}
        </p>
        <code>{base_url}</code>
        <dl>
          <Detail label={modelsText.provider}>{modelsText.providers[provider] ?? provider}</Detail>
          <Detail label={modelsText.model}>
            <bdi>{model.model}</bdi>
          </Detail>
          <Detail label={modelsText.key}>{describeKey(key_end)}</Detail>
        </dl>
        {refused !== null && (
          <p class="row-note">
            {modelsText.refusedNote(refused.status)} <Time at={refused.at} />
          </p>
        )}
      </div>
      <fieldset class="row-actions" aria-label={modelsText.actionsOf(name)}>
        <button type="button" onClick={onEdit}>
          {modelsText.edit}
        </button>
        <button type="button" class="danger-text" onClick={onRemove}>
          {adminText.remove}
        </button>
      </fieldset>
    </li>
  )
}

function describeKey(end: string | null): string {
  if (end === null) return modelsText.noKey
  return end === "" ? modelsText.hasKey : modelsText.keyEnd(end)
}
