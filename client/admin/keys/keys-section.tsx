/** keys-section.tsx: creates, rotates and revokes the tenant's API keys. A key is shown only once. Source: SPEC AD3. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { ROLE_NAMES, type RoleName } from "../../account/identity.ts"
import { CopyButton } from "../../ui/copy-button.tsx"
import { Dialog } from "../../ui/dialog.tsx"
import { adminText, keysText } from "../../words/admin-text.ts"
import { pathOf } from "../admin-api.ts"
import { type ApiKey, parseCreatedKey, parseKeyList } from "../admin-responses.ts"
import { type AdminContext, notice, useLoaded } from "../admin-state.ts"
import { ConfirmDialog, FormDialog } from "../confirm-dialog.tsx"
import { CheckList, Detail, roleTexts, SelectField, TextField, Time } from "../form-fields.tsx"
import { RowList } from "../row-list.tsx"
import { TokenKeys } from "./token-keys.tsx"

const KEYS_PATH = "/v1/keys"
const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * HOUR_SECONDS
/** Maximum length of a key's name, in UTF-16 code units. */
const MAX_KEY_NAME_CHARS = 80

/** Lifetimes of a new key, in seconds. */
const LIFETIMES = { never: undefined, month: 30 * DAY_SECONDS, quarter: 90 * DAY_SECONDS, year: 365 * DAY_SECONDS }
/** How long an old key still works after a rotation, in seconds. */
const GRACE_TIMES = { day: DAY_SECONDS, hour: HOUR_SECONDS, week: 7 * DAY_SECONDS, none: 0 }

type OpenDialog =
  | { readonly kind: "create" }
  | { readonly kind: "rotate" | "revoke"; readonly key: ApiKey }
  | { readonly kind: "created"; readonly secret: string }

export function KeysSection({ api, identity }: AdminContext): VNode {
  const list = useLoaded(() => api.get(KEYS_PATH, parseKeyList))
  const dialog = useSignal<OpenDialog | null>(null)
  const closeDialog = (): void => {
    dialog.value = null
  }
  const showCreated = (secret: string): void => {
    dialog.value = { kind: "created", secret }
    void list.reload()
  }
  const open = dialog.value
  return (
    <>
      <RowList
        text={{ ...keysText, add: keysText.create }}
        label={adminText.section.keys}
        list={list}
        rows={list.value?.keys}
        onAdd={() => (dialog.value = { kind: "create" })}
      >
        {(key) => <KeyRow key={key.id} apiKey={key} onAsk={(kind) => (dialog.value = { kind, key })} />}
      </RowList>
      {identity.role === "owner" && <TokenKeys api={api} />}
      {open?.kind === "create" && (
        <NewKeyDialog api={api} identity={identity} onCreated={showCreated} onClose={closeDialog} />
      )}
      {open?.kind === "rotate" && (
        <RotateDialog api={api} apiKey={open.key} onCreated={showCreated} onClose={closeDialog} />
      )}
      {open?.kind === "revoke" && (
        <ConfirmDialog
          title={keysText.revokeTitle(open.key.name)}
          text={keysText.revokeText}
          confirm={keysText.confirmRevoke}
          isDestructive
          onClose={closeDialog}
          onConfirm={async () => {
            await api.sendAction("DELETE", pathOf(KEYS_PATH, open.key.id))
            notice.value = keysText.revoked(open.key.name)
            await list.reload()
          }}
        />
      )}
      {open?.kind === "created" && <CreatedDialog secret={open.secret} onClose={closeDialog} />}
    </>
  )
}

interface KeyRowProps {
  readonly apiKey: ApiKey
  readonly onAsk: (kind: "rotate" | "revoke") => void
}

function KeyRow({ apiKey: { id, name, roles, created, expires, used, created_by }, onAsk }: KeyRowProps): VNode {
  return (
    <li>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
          {roles.map((role) => (
            <span class="tag" key={role}>
              {adminText.role[role]}
            </span>
          ))}
          {expires !== null && expires <= Date.now() && <span class="tag warn">{keysText.expired}</span>}
        </p>
        <code>{id}</code>
        <dl>
          <Detail label={keysText.created}>
            <Time at={created} />
          </Detail>
          <Detail label={keysText.createdBy}>
            <bdi>{created_by}</bdi>
          </Detail>
          <Detail label={keysText.expires}>{expires === null ? adminText.never : <Time at={expires} />}</Detail>
          <Detail label={keysText.lastUse}>{used === null ? adminText.never : <Time at={used} />}</Detail>
        </dl>
      </div>
      <fieldset class="row-actions" aria-label={keysText.actionsOf(name)}>
        <button type="button" onClick={() => onAsk("rotate")}>
          {keysText.rotate}
        </button>
        <button type="button" class="danger-text" onClick={() => onAsk("revoke")}>
          {keysText.revoke}
        </button>
      </fieldset>
    </li>
  )
}

interface NewKeyDialogProps extends AdminContext {
  readonly onCreated: (secret: string) => void
  readonly onClose: () => void
}

function NewKeyDialog({ api, identity, onCreated, onClose }: NewKeyDialogProps): VNode {
  const name = useSignal("")
  const roles = useSignal<readonly RoleName[]>(["member"])
  const lifetime = useSignal<keyof typeof LIFETIMES>("never")
  const secret = useSignal<string | null>(null)
  const options = ROLE_NAMES.filter((role) => identity.role === "owner" || role !== "owner")
  return (
    <FormDialog
      title={keysText.create}
      submit={keysText.confirmCreate}
      onClose={() => (secret.peek() === null ? onClose() : onCreated(secret.peek() ?? ""))}
      onSubmit={async () => {
        const ttl = LIFETIMES[lifetime.peek()]
        const body = { name: name.peek(), roles: roles.peek(), ...(ttl === undefined ? {} : { ttl }) }
        secret.value = (await api.send("POST", KEYS_PATH, body, parseCreatedKey)).key
      }}
    >
      <TextField
        label={keysText.name}
        hint={keysText.nameHint}
        value={name.value}
        onChange={(value) => (name.value = value)}
        maxLength={MAX_KEY_NAME_CHARS}
        isRequired
        isFirst
      />
      <CheckList
        label={keysText.roles}
        options={options}
        texts={roleTexts(options)}
        value={roles.value}
        onChange={(value) => (roles.value = value)}
      />
      <SelectField
        label={keysText.expires}
        value={lifetime.value}
        options={keysText.expiry}
        onChange={(value) => (lifetime.value = value)}
      />
    </FormDialog>
  )
}

interface RotateDialogProps {
  readonly api: AdminContext["api"]
  readonly apiKey: ApiKey
  readonly onCreated: (secret: string) => void
  readonly onClose: () => void
}

function RotateDialog({ api, apiKey, onCreated, onClose }: RotateDialogProps): VNode {
  const grace = useSignal<keyof typeof GRACE_TIMES>("day")
  const secret = useSignal<string | null>(null)
  return (
    <FormDialog
      title={keysText.rotateTitle(apiKey.name)}
      submit={keysText.confirmRotate}
      onClose={() => (secret.peek() === null ? onClose() : onCreated(secret.peek() ?? ""))}
      onSubmit={async () => {
        const body = { grace_seconds: GRACE_TIMES[grace.peek()] }
        secret.value = (await api.send("POST", pathOf(KEYS_PATH, apiKey.id, "/rotate"), body, parseCreatedKey)).key
      }}
    >
      <p>{keysText.rotateText}</p>
      <SelectField
        label={keysText.grace}
        value={grace.value}
        options={keysText.graceOption}
        onChange={(value) => (grace.value = value)}
      />
    </FormDialog>
  )
}

/** Escape and clicks outside don't close this dialog, because the key can't be shown again. */
function CreatedDialog({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }): VNode {
  return (
    <Dialog title={keysText.createdTitle} role="alertdialog" onCancel={() => {}}>
      <p>{keysText.createdText}</p>
      <TextField label={keysText.key} value={secret} onChange={() => {}} isReadOnly />
      <p class="ways">
        <CopyButton getText={() => secret} label={keysText.copyKey} text={adminText.copy} doneText={adminText.copied} />
        <button type="button" class="firm" onClick={onClose}>
          {keysText.stored}
        </button>
      </p>
    </Dialog>
  )
}
