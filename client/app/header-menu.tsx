/**
 * header-menu.tsx: the menu of the open conversation in the header (find, rename, share, organise, export, delete), and
 * the field that replaces the title while it is edited. Loaded when the menu is first opened. Source: SPEC VD4, LB21.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { RefObject, VNode } from "preact"
import { isShared } from "../net/api.ts"
import { describeError } from "../net/http-request.ts"
import { searchTools } from "../search/deferred-search.ts"
import { isFindBarOpen } from "../search/open-dialog.ts"
import { formatTitle } from "../session/session-list.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { DeleteDialog } from "../sidebar/delete-dialog.tsx"
import { MoveDialog } from "../sidebar/organizing/move-dialog.tsx"
import { dropArchived, isArchived, retitleArchived } from "../sidebar/organizing/archived-sessions.ts"
import { deleteSessions, organizeSessions } from "../sidebar/organizing/organize-sessions.ts"
import { listOrganizing } from "../sidebar/organizing/session-commands.ts"
import { RenameField } from "../sidebar/rename-field.tsx"
import { saveSession } from "../sidebar/save-session.ts"
import { ShareDialog } from "../sidebar/share-dialog.tsx"
import { focusRequests } from "../ui/focus.ts"
import { PopupMenu } from "../ui/popup-menu.tsx"
import { organizingText } from "../words/parts/organizing-text.ts"
import { searchText } from "../words/search/search-text.ts"
import { sessionActionText } from "../words/session-action-text.ts"

type HeaderDialog = "delete" | "move" | "share"

interface HeaderMenuProps {
  readonly router: SessionRouter
  /** The open session. */
  readonly id: string
  readonly button: RefObject<HTMLElement | null>
  readonly isOpen: Signal<boolean>
  readonly isRenaming: Signal<boolean>
}

export function HeaderMenu(props: HeaderMenuProps): VNode {
  const { router, id, button, isOpen } = props
  const dialog = useSignal<HeaderDialog | null>(null)
  const title = router.heading.value.title ?? undefined
  const closeDialog = (): void => {
    dialog.value = null
  }
  const closeMenu = (isFocusHandled: boolean): void => {
    isOpen.value = false
    if (!isFocusHandled) button.current?.focus()
  }
  const eraseSession = (): void => {
    closeDialog()
    router.eraseSession(id).catch((error: unknown) => {
      router.sessionList.showNotice(sessionActionText.deleteFailed(formatTitle(title), describeError(error)), true)
    })
    // Deferred until the dialog has closed.
    setTimeout(() => focusRequests.value++)
  }
  return (
    <>
      {isOpen.value && (
        <PopupMenu
          label={sessionActionText.options}
          findAnchor={() => button.current}
          onClose={closeMenu}
          items={listCommands(props, dialog)}
        />
      )}
      {dialog.value === "share" && <ShareDialog api={router.api} id={id} title={title} onClose={closeDialog} />}
      {dialog.value === "move" && <MoveDialog router={router} ids={[id]} onClose={closeDialog} />}
      {dialog.value === "delete" && <DeleteDialog title={title} onCancel={closeDialog} onDelete={eraseSession} />}
    </>
  )
}

/** A read-only conversation can only be searched and exported. SPEC SH13. */
function listCommands({ router, id, isRenaming }: HeaderMenuProps, dialog: Signal<HeaderDialog | null>) {
  const exports = (["markdown", "jsonl"] as const).map((format) => ({
    label: format === "markdown" ? sessionActionText.exportMarkdown : sessionActionText.exportJsonl,
    onSelect: () => void saveSession(router, id, format),
  }))
  const find = { label: searchText.commands.findInConversation, onSelect: openFindBar }
  if (router.isReadOnly.value || isShared(id)) return [find, ...exports]
  // A session that isn't in any list, such as a temporary one, can't be restored after its deletion.
  const isInArchive = isArchived(router.sessionList, id)
  const canRestore = isInArchive || router.sessionList.findSession(id) !== null
  const erasure = canRestore
    ? { label: organizingText.delete, onSelect: () => deleteOpenSession(router, id) }
    : { label: sessionActionText.delete, onSelect: () => (dialog.value = "delete") }
  return [
    find,
    ...(canRestore ? [{ label: sessionActionText.rename, onSelect: () => (isRenaming.value = true) }] : []),
    { label: sessionActionText.share, onSelect: () => (dialog.value = "share") },
    ...listOrganizing(router, id, () => (dialog.value = "move")),
    ...(isInArchive ? [{ label: organizingText.unarchive, onSelect: () => void unarchive(router, id) }] : []),
    ...exports,
    { ...erasure, isDestructive: true },
  ]
}

async function unarchive(router: SessionRouter, id: string): Promise<void> {
  const isDone = await organizeSessions(router, [id], { action: "unarchive" })
  await router.sessionList.refresh()
  if (isDone) dropArchived(router.sessionList, id)
}

function deleteOpenSession(router: SessionRouter, id: string): void {
  dropArchived(router.sessionList, id)
  deleteSessions(router, [id])
  // Deferred until the menu has closed.
  setTimeout(() => focusRequests.value++)
}

function openFindBar(): void {
  isFindBarOpen.value = true
  void searchTools.load()
}

interface TitleFieldProps {
  readonly router: SessionRouter
  readonly id: string
  readonly onDone: () => void
}

/** The field that replaces the title in the header while the title is edited. */
export function TitleField({ router: { sessionList }, id, onDone }: TitleFieldProps): VNode {
  const finish = (title: string | null, byKeyboard: boolean): void => {
    onDone()
    // The field disappears, so the focus moves to the composer.
    if (byKeyboard) focusRequests.value++
    if (title === null) return
    retitleArchived(sessionList, id, title)
    void sessionList.renameSession(id, title)
  }
  return <RenameField title={sessionList.findTitle(id) ?? ""} onDone={finish} />
}
