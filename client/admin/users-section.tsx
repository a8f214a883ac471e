/** users-section.tsx: the tenant's users: search, roles, suspension and erasure. Source: SPEC AD2. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { UserPage, UserSummary } from "../../shared/protocol/http-body.ts"
import { ROLE_NAMES, type RoleName } from "../account/identity.ts"
import { RequestError } from "../net/http-request.ts"
import { adminText, usersText } from "../words/admin-text.ts"
import { type AdminApi, pathOf } from "./admin-api.ts"
import { parseUser, parseUserPage } from "./admin-responses.ts"
import {
  type ActionState,
  type AdminContext,
  type Loaded,
  notice,
  useAction,
  useLoaded,
  usePolling,
} from "./admin-state.ts"
import { ConfirmDialog } from "./confirm-dialog.tsx"
import { Detail, FaultText, Pending, SelectField, TextField, Time } from "./form-fields.tsx"

const USERS_PATH = "/v1/users"
/** The pause after a keystroke before the search is sent, in milliseconds. */
const SEARCH_DELAY_MS = 250
/** Maximum number of pages without results that are skipped before the administrator has to continue the search. */
const MAX_EMPTY_PAGES = 5
/** Maximum number of users whose erasure is polled at the same time. The others are polled once these are erased. */
const MAX_FOLLOWED_ERASURES = 5

/** A user, and the change that awaits confirmation. */
interface PendingChange {
  readonly user: UserSummary
  readonly kind: "suspend" | "erase"
}

export function UsersSection({ api, identity }: AdminContext): VNode {
  const searched = useSignal("")
  const pending = useSignal<PendingChange | null>(null)
  const loadPage = (after: string): Promise<UserPage> => loadUsers(api, searched.peek(), after)
  const page = useLoaded(() => loadPage(""), searched.value)
  const more = useAction()
  const users = page.value?.users ?? []
  const replaceUser = (user: UserSummary): void =>
    page.change(({ users: listed, ...rest }) => ({
      users: listed.map((known) => (known.id === user.id ? user : known)),
      ...rest,
    }))
  const showMore = async (): Promise<void> => {
    const text = searched.peek()
    const next = await loadPage(page.value?.next ?? "")
    // The administrator may have searched for something else in the meantime.
    if (searched.peek() === text) page.change(({ users: listed }) => ({ ...next, users: [...listed, ...next.users] }))
  }
  useErasures(api, page)
  return (
    <>
      <p class="lead">{usersText.lead}</p>
      <UserSearch onSearch={(text) => (searched.value = text)} />
      <Pending of={page} />
      {page.value?.incomplete === true && <p class="pending">{usersText.incomplete}</p>}
      {page.value?.next === null && users.length === 0 && (
        <p class="pending">{searched.value === "" ? usersText.empty : usersText.notFound(searched.value)}</p>
      )}
      <ul class="rows" aria-label={adminText.section.users}>
        {users.map((user) => (
          <UserRow
            key={user.id}
            user={user}
            api={api}
            identity={identity}
            onChange={replaceUser}
            onAsk={(kind) => (pending.value = { user, kind })}
          />
        ))}
      </ul>
      <FaultText text={more.fault} />
      {page.value !== null && page.value.next !== null && (
        <button type="button" class="more-rows" disabled={more.isRunning} onClick={() => void more.run(showMore)}>
          {more.isRunning ? adminText.loading : adminText.more}
        </button>
      )}
      {pending.value !== null && (
        <UserDialog api={api} change={pending.value} onChange={replaceUser} onClose={() => (pending.value = null)} />
      )}
    </>
  )
}

/** Removes users from the list once they have been erased. */
function useErasures(api: AdminApi, page: Loaded<UserPage>): void {
  const erasing = (page.value?.users ?? []).filter(({ status }) => status === "erasing").slice(0, MAX_FOLLOWED_ERASURES)
  // Only these users are requested, because reloading the list would drop the pages that were added to it.
  usePolling(erasing.length > 0, async () => {
    const erased = await findErased(api, erasing)
    if (erased.length === 0) return
    page.change(({ users, ...rest }) => ({
      users: users.filter(({ id }) => erased.every((user) => user.id !== id)),
      ...rest,
    }))
    notice.value = erased.map(({ id, name }) => usersText.erased(name ?? id)).join(" ")
  })
}

/**
 * Loads the page after `after`. Skips up to MAX_EMPTY_PAGES pages without results, because a page of search results can
 * be empty.
 */
async function loadUsers(api: AdminApi, q: string, after: string): Promise<UserPage> {
  let cursor = after
  for (let count = 1; ; count++) {
    const query = new URLSearchParams({ ...(q === "" ? {} : { q }), after: cursor })
    const page = await api.get(`${USERS_PATH}?${query.toString()}`, parseUserPage)
    if (page.users.length > 0 || page.next === null || count === MAX_EMPTY_PAGES) return page
    cursor = page.next
  }
}

/** Returns the users who no longer exist. A user whose state can't be read is requested again later. */
async function findErased(api: AdminApi, users: readonly UserSummary[]): Promise<readonly UserSummary[]> {
  const isGone = async ({ id }: UserSummary): Promise<boolean> => {
    try {
      await api.get(pathOf(USERS_PATH, id), parseUser)
      return false
    } catch (error) {
      return error instanceof RequestError && error.code === "user_unknown"
    }
  }
  const gone = await Promise.all(users.map(isGone))
  return users.filter((_user, at) => gone[at] === true)
}

/** The search field, which searches shortly after the last keystroke. */
function UserSearch({ onSearch }: { readonly onSearch: (text: string) => void }): VNode {
  const typed = useSignal("")
  const timer = useSignal(0)
  return (
    <search>
      <TextField
        label={usersText.search}
        hint={usersText.searchHint}
        value={typed.value}
        onChange={(text) => {
          typed.value = text
          clearTimeout(timer.peek())
          timer.value = window.setTimeout(() => onSearch(text.trim()), SEARCH_DELAY_MS)
        }}
      />
    </search>
  )
}

interface UserRowProps extends AdminContext {
  readonly user: UserSummary
  readonly onChange: (user: UserSummary) => void
  readonly onAsk: (kind: PendingChange["kind"]) => void
}

function UserRow({ user, api, identity, onChange, onAsk }: UserRowProps): VNode {
  const action = useAction()
  const name = user.name ?? user.id
  const restoreUser = (): void =>
    void action.run(async () => {
      onChange(await api.send("POST", pathOf(USERS_PATH, user.id, "/restore"), {}, parseUser))
      notice.value = usersText.restored(name)
    })
  return (
    <li data-status={user.status}>
      <div class="row-main">
        <p class="row-title">
          <bdi>{name}</bdi>
          {user.id === identity.id && <span class="tag">{usersText.you}</span>}
          {user.status !== "active" && <span class="tag warn">{usersText.status[user.status]}</span>}
        </p>
        <code>{user.id}</code>
        <dl>
          <Detail label={usersText.since}>
            <Time at={user.created} />
          </Detail>
        </dl>
        {user.issuer !== null && <p class="row-note">{usersText.signedInWith(user.issuer)}</p>}
        <FaultText text={action.fault} />
      </div>
      <fieldset class="row-actions" aria-label={usersText.actionsOf(name)}>
        <RoleChoice key={user.role} user={user} api={api} identity={identity} action={action} onChange={onChange} />
        {user.status === "active" && (
          <button type="button" onClick={() => onAsk("suspend")}>
            {usersText.suspend}
          </button>
        )}
        {user.status === "suspended" && (
          <button type="button" disabled={action.isRunning} onClick={restoreUser}>
            {usersText.restore}
          </button>
        )}
        {user.status !== "erasing" && (
          <button type="button" class="danger-text" onClick={() => onAsk("erase")}>
            {usersText.erase}
          </button>
        )}
      </fieldset>
    </li>
  )
}

interface RoleChoiceProps extends AdminContext, Pick<UserRowProps, "user" | "onChange"> {
  /** The action shared by the row's buttons. If it fails, the row shows the error. */
  readonly action: ActionState
}

/** The role is sent only when a button is pressed, because moving with the arrow keys selects every role on the way. */
function RoleChoice({ user, api, identity, action, onChange }: RoleChoiceProps): VNode {
  const chosen = useSignal<RoleName>(user.role)
  const name = user.name ?? user.id
  const role = chosen.value
  const options = roleOptions(identity.role, user.role)
  const applyChange = (): void =>
    void action.run(async () => {
      onChange(await api.send("PATCH", pathOf(USERS_PATH, user.id), { role }, parseUser))
      notice.value = usersText.changed(name, adminText.role[role])
    })
  return (
    <>
      <SelectField
        label={usersText.roleOf(name)}
        isCompact
        value={role}
        options={options}
        isDisabled={action.isRunning || user.status === "erasing" || Object.keys(options).length === 1}
        onChange={(next) => (chosen.value = next)}
      />
      {role !== user.role && (
        <button type="button" class="firm" disabled={action.isRunning} onClick={applyChange}>
          {usersText.applyRole}
        </button>
      )}
    </>
  )
}

/** Returns the roles that the user can be given. An admin can neither appoint nor change an owner. */
function roleOptions(own: RoleName, current: RoleName): Readonly<Record<RoleName, string>> {
  const isFixed = own !== "owner" && current === "owner"
  const roles = ROLE_NAMES.filter((role) => (isFixed ? role === current : own === "owner" || role !== "owner"))
  return Object.fromEntries(roles.map((role) => [role, adminText.role[role]])) as Record<RoleName, string>
}

interface UserDialogProps {
  readonly api: AdminContext["api"]
  readonly change: PendingChange
  readonly onChange: (user: UserSummary) => void
  readonly onClose: () => void
}

function UserDialog({ api, change: { user, kind }, onChange, onClose }: UserDialogProps): VNode {
  const name = user.name ?? user.id
  if (kind === "suspend")
    return (
      <ConfirmDialog
        title={usersText.suspendTitle(name)}
        text={usersText.suspendText}
        confirm={usersText.confirmSuspend}
        onClose={onClose}
        onConfirm={async () => {
          onChange(await api.send("POST", pathOf(USERS_PATH, user.id, "/suspend"), {}, parseUser))
          notice.value = usersText.suspended(name)
        }}
      />
    )
  return (
    <ConfirmDialog
      title={usersText.eraseTitle(name)}
      text={`${usersText.eraseText} ${usersText.eraseBackups}`}
      typed={{ label: usersText.typeId(user.id), value: user.id }}
      confirm={usersText.confirmErase}
      isDestructive
      onClose={onClose}
      onConfirm={async () => {
        await api.sendAction("DELETE", pathOf(USERS_PATH, user.id))
        onChange({ ...user, status: "erasing" })
        notice.value = usersText.erasing(name)
      }}
    />
  )
}
