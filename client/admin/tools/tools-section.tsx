/** tools-section.tsx: the tenant's webhook tools. A secret is shown only once, when it is created. SPEC AD21. */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { toolsText } from "../../words/admin/tools-text.ts"
import { adminText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type AdminContext, type Loaded, useLoaded } from "../admin-state.ts"
import { ConfirmDialog, RemoveDialog } from "../confirm-dialog.tsx"
import { Detail, TextField, Time } from "../form-fields.tsx"
import { RowList } from "../row-list.tsx"
import { parseTool, parseToolList, TOOLS_PATH, type WebhookTool } from "./webhook-fields.ts"
import { WebhookForm } from "./webhook-form.tsx"

interface ToolList {
  readonly tools: readonly WebhookTool[]
}

type OpenDialog =
  | { readonly kind: "edit"; readonly tool: WebhookTool | null }
  | { readonly kind: "rotate" | "remove"; readonly tool: WebhookTool }
  | { readonly kind: "secret"; readonly secret: string }

export function Section({ api }: AdminContext): VNode {
  const list = useLoaded(() => api.get(TOOLS_PATH, parseToolList))
  const dialog = useSignal<OpenDialog | null>(null)
  return (
    <>
      <RowList
        text={toolsText}
        label={adminText.section.tools}
        list={list}
        rows={list.value?.tools}
        onAdd={() => (dialog.value = { kind: "edit", tool: null })}
      >
        {(tool) => <ToolRow key={tool.name} tool={tool} onOpen={(kind) => (dialog.value = { kind, tool })} />}
      </RowList>
      <ToolDialog api={api} list={list} dialog={dialog} />
    </>
  )
}

interface ToolRowProps {
  readonly tool: WebhookTool
  readonly onOpen: (kind: "edit" | "rotate" | "remove") => void
}

function ToolRow({ tool, onOpen }: ToolRowProps): VNode {
  const { name, description, url, effects, approval, has_secret, old_secret_until } = tool
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
          {!has_secret && <span class="tag warn">{toolsText.noSecret}</span>}
        </p>
        <p dir="auto">{description}</p>
        <code>{url}</code>
        <dl>
          <Detail label={toolsText.effects}>{toolsText.effect[effects] ?? effects}</Detail>
          <Detail label={toolsText.approval}>{toolsText.approvals[approval] ?? approval}</Detail>
          {old_secret_until !== null && (
            <Detail label={toolsText.oldSecret}>
              <Time at={old_secret_until} />
            </Detail>
          )}
        </dl>
        {!has_secret && <p class="row-note">{toolsText.noSecretNote}</p>}
      </div>
      <fieldset class="row-actions" aria-label={toolsText.actionsOf(name)}>
        <button type="button" onClick={() => onOpen("edit")}>
          {toolsText.edit}
        </button>
        <button type="button" onClick={() => onOpen("rotate")}>
          {toolsText.rotate}
        </button>
        <button type="button" class="danger-text" onClick={() => onOpen("remove")}>
          {adminText.remove}
        </button>
      </fieldset>
    </li>
  )
}

interface ToolDialogProps {
  readonly api: AdminContext["api"]
  readonly list: Loaded<ToolList>
  readonly dialog: Signal<OpenDialog | null>
}

function ToolDialog({ api, list, dialog }: ToolDialogProps): VNode | null {
  const open = dialog.value
  const close = (): void => {
    dialog.value = null
  }
  const showSecret = ({ secret }: WebhookTool): void => {
    dialog.value = secret === undefined ? null : { kind: "secret", secret }
    void list.reload()
  }
  switch (open?.kind) {
    case undefined:
      return null
    case "edit":
      return <WebhookForm api={api} tool={open.tool} onSaved={showSecret} onClose={close} />
    case "rotate":
      return <RotateSecret api={api} name={open.tool.name} onRotated={showSecret} onClose={close} />
    case "secret":
      return <SecretDialog secret={open.secret} onClose={close} />
    case "remove":
      return (
        <RemoveDialog api={api} path={TOOLS_PATH} name={open.tool.name} text={toolsText} list={list} onClose={close} />
      )
  }
}

interface RotateSecretProps {
  readonly api: AdminContext["api"]
  readonly name: string
  readonly onRotated: (tool: WebhookTool) => void
  readonly onClose: () => void
}

function RotateSecret({ api, name, onRotated, onClose }: RotateSecretProps): VNode {
  const rotated = useSignal<WebhookTool | null>(null)
  return (
    <ConfirmDialog
      title={toolsText.rotateTitle(name)}
      text={toolsText.rotateText}
      confirm={toolsText.confirmRotate}
      onClose={() => (rotated.peek() === null ? onClose() : onRotated(rotated.peek() as WebhookTool))}
      onConfirm={async () => {
        rotated.value = await api.send("POST", pathOf(TOOLS_PATH, name, "/secret"), {}, parseTool)
      }}
    />
  )
}

/** Escape and clicks outside don't close this dialog, because the secret can't be shown again. */
function SecretDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): VNode {
  return (
    <Dialog title={toolsText.secretTitle} role="alertdialog" onCancel={() => {}}>
      <p>{toolsText.secretText}</p>
      <TextField label={toolsText.secret} value={secret} onChange={() => {}} isReadOnly />
      <p class="ways">
        <CopyButton
          getText={() => secret}
          label={toolsText.copySecret}
          text={adminText.copy}
          doneText={adminText.copied}
        />
        <button type="button" class="firm" onClick={onClose}>
          {toolsText.stored}
        </button>
      </p>
    </Dialog>
  )
}
