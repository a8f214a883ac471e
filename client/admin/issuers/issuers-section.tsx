/** issuers-section.tsx: the tenant's identity providers. Source: SPEC AD4. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { adminText, issuersText } from "../../words/admin-text.ts"
import { type Issuer, parseIssuerList } from "../admin-responses.ts"
import { type AdminContext, useLoaded } from "../admin-state.ts"
import { RemoveDialog } from "../confirm-dialog.tsx"
import { Detail, Time } from "../form-fields.tsx"
import { RowList } from "../row-list.tsx"
import { ISSUERS_PATH, IssuerForm } from "./issuer-form.tsx"

type OpenDialog =
  | { readonly kind: "edit"; readonly issuer: Issuer | null }
  | { readonly kind: "remove"; readonly issuer: Issuer }

export function IssuersSection(context: AdminContext): VNode {
  const { api } = context
  const list = useLoaded(() => api.get(ISSUERS_PATH, parseIssuerList))
  const dialog = useSignal<OpenDialog | null>(null)
  const closeDialog = (): void => {
    dialog.value = null
  }
  const open = dialog.value
  return (
    <>
      <RowList
        text={issuersText}
        label={adminText.section.issuers}
        list={list}
        rows={list.value?.issuers}
        onAdd={() => (dialog.value = { kind: "edit", issuer: null })}
      >
        {(issuer) => (
          <IssuerRow
            key={issuer.name}
            issuer={issuer}
            canEdit={context.identity.role === "owner"}
            onEdit={() => (dialog.value = { kind: "edit", issuer })}
            onRemove={() => (dialog.value = { kind: "remove", issuer })}
          />
        )}
      </RowList>
      {open?.kind === "edit" && (
        <IssuerForm {...context} issuer={open.issuer} onSaved={() => void list.reload()} onClose={closeDialog} />
      )}
      {open?.kind === "remove" && (
        <RemoveDialog
          api={api}
          path={ISSUERS_PATH}
          name={open.issuer.name}
          text={issuersText}
          list={list}
          onClose={closeDialog}
        />
      )}
    </>
  )
}

interface IssuerRowProps {
  readonly issuer: Issuer
  /** Only owners can edit issuers. SPEC OI10. */
  readonly canEdit: boolean
  readonly onEdit: () => void
  readonly onRemove: () => void
}

function IssuerRow({ issuer, canEdit, onEdit, onRemove }: IssuerRowProps): VNode {
  const { name, label, audience, client_id, keys_fetched } = issuer
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{label}</bdi>
        </p>
        <code>{issuer.issuer}</code>
        <dl>
          <Detail label={issuersText.audienceIs}>
            <code>{audience}</code>
          </Detail>
          <Detail label={issuersText.keysFetched}>
            {keys_fetched === 0 ? adminText.never : <Time at={keys_fetched} />}
          </Detail>
        </dl>
        <p class="row-note">{client_id === null ? issuersText.tokensOnly : issuersText.pageSignIn}</p>
      </div>
      <fieldset class="row-actions" aria-label={issuersText.actionsOf(name)}>
        {canEdit && (
          <button type="button" onClick={onEdit}>
            {issuersText.edit}
          </button>
        )}
        <button type="button" class="danger-text" onClick={onRemove}>
          {adminText.remove}
        </button>
      </fieldset>
    </li>
  )
}
