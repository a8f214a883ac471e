/**
 * folder-sections.tsx: the folders in the list of conversations, each with its conversations and a menu. A conversation
 * that is dropped on a folder moves there.
 *
 * Source: SPEC LB23, LB24.
 */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { SessionFolder, SessionSummary } from "../../../shared/protocol/http-body.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { PopupMenu } from "../../ui/popup-menu.tsx"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { sessionActionText } from "../../words/session-action-text.ts"
import { RenameField } from "../rename-field.tsx"
import {
  collapsedFolders,
  deleteFolder,
  folders,
  loadFolders,
  loadFolderSessions,
  MAX_FOLDER_CHARS,
  renameFolder,
  setCollapsed,
} from "./folders.ts"
import { listChangesOf } from "./list-changes.ts"
import { organizeSessions, watchOtherTabs } from "./organize-sessions.ts"

/** The data type of a conversation that is being dragged. */
const DRAG_TYPE = "application/x-cuecard-session"
/** How often the folders are reloaded while the page is visible, in milliseconds. */
const REFRESH_MS = 60_000

/** Adds the conversation's id to the data that is dragged from the list. */
function handleDragStart({ target, dataTransfer }: DragEvent): void {
  const row = target instanceof Element ? target.closest<HTMLElement>(".sidebar [data-session]") : null
  if (row !== null) dataTransfer?.setData(DRAG_TYPE, row.dataset["session"] ?? "")
}

interface FolderSectionsProps {
  readonly router: SessionRouter
  /** The sessions that are in folders. */
  readonly sessions: readonly SessionSummary[]
  readonly renderRow: (session: SessionSummary) => VNode
}

export function FolderSections({ router, sessions, renderRow }: FolderSectionsProps): VNode {
  useEffect(() => {
    const reload = (): void => {
      if (!document.hidden) void loadFolders(router)
    }
    reload()
    const timer = setInterval(reload, REFRESH_MS)
    const stopWatching = watchOtherTabs(() => {
      void loadFolders(router)
      void router.sessionList.refresh()
    })
    addEventListener("dragstart", handleDragStart)
    return () => {
      removeEventListener("dragstart", handleDragStart)
      clearInterval(timer)
      stopWatching()
    }
  }, [])
  useReadMark(router)
  const sessionsByFolder = new Map<string, SessionSummary[]>((folders.value ?? []).map(({ id }) => [id, []]))
  for (const session of sessions) sessionsByFolder.get(session.folder ?? "")?.push(session)
  return (
    <>
      {(folders.value ?? []).map((folder) => (
        <FolderSection
          key={folder.id}
          router={router}
          folder={folder}
          sessions={sessionsByFolder.get(folder.id) ?? []}
          renderRow={renderRow}
        />
      ))}
    </>
  )
}

/**
 * Marks the open conversation as read in the list. The server knows from its socket that an open conversation isn't
 * unread, but the list would show that only after its next refresh.
 */
function useReadMark({ controller, sessionList }: SessionRouter): void {
  const openId = controller.value?.id ?? ""
  useEffect(() => {
    const markRead = (): void => {
      if (sessionList.findSession(openId)?.unread === true)
        listChangesOf(sessionList).noteChange(openId, { unread: undefined })
    }
    markRead()
    return markRead
  }, [openId])
}

interface FolderSectionProps extends FolderSectionsProps {
  readonly folder: Pick<SessionFolder, "id" | "name">
}

function FolderSection({ router, folder, sessions, renderRow }: FolderSectionProps): VNode {
  const { id, name } = folder
  const isRenaming = useSignal(false)
  const isOver = useSignal(false)
  const isOpen = !collapsedFolders.value.has(id)
  useEffect(() => {
    if (isOpen) void loadFolderSessions(router, id)
  }, [isOpen, router.sessionList.more.value === "none"])
  return (
    <section class="folder" data-over={isOver.value ? "" : undefined} {...createDropHandlers(router, id, isOver)}>
      {isRenaming.value ? (
        <RenameField
          title={name}
          label={organizingText.folderName}
          maxChars={MAX_FOLDER_CHARS}
          onDone={(newName) => {
            isRenaming.value = false
            if (newName !== null) void renameFolder(router, id, newName)
          }}
        />
      ) : (
        <h2>
          <button type="button" class="fold" aria-expanded={isOpen} onClick={() => setCollapsed(id, isOpen)}>
            <svg viewBox="0 0 20 20" aria-hidden="true">
              <path d="M3 6.2c0-.9.6-1.5 1.5-1.5h3.3l1.7 2h6c.9 0 1.5.6 1.5 1.5v5.6c0 .9-.6 1.5-1.5 1.5h-11c-.9 0-1.5-.6-1.5-1.5z" />
            </svg>
            <bdi>{name}</bdi>
          </button>
          {!router.isReadOnly.value && <FolderMenu router={router} folder={folder} isRenaming={isRenaming} />}
        </h2>
      )}
      {isOpen && (
        <ul>
          {sessions.length === 0 && <li class="none">{organizingText.emptyFolder}</li>}
          {sessions.map(renderRow)}
        </ul>
      )}
    </section>
  )
}

interface FolderMenuProps extends Pick<FolderSectionProps, "router" | "folder"> {
  readonly isRenaming: Signal<boolean>
}

function FolderMenu({ router, folder, isRenaming }: FolderMenuProps): VNode {
  const isOpen = useSignal(false)
  const button = useRef<HTMLButtonElement>(null)
  const closeMenu = (isFocusHandled: boolean): void => {
    isOpen.value = false
    if (!isFocusHandled) button.current?.focus()
  }
  const items = [
    { label: sessionActionText.rename, onSelect: () => (isRenaming.value = true) },
    {
      label: organizingText.deleteFolder,
      isDestructive: true,
      onSelect: () => void deleteFolder(router, folder),
    },
  ]
  return (
    <>
      <button
        type="button"
        class="more"
        ref={button}
        aria-label={organizingText.folderOptions(folder.name)}
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M5 10h.01M10 10h.01M15 10h.01" />
        </svg>
      </button>
      {isOpen.value && (
        <PopupMenu
          label={organizingText.folderOptions(folder.name)}
          findAnchor={() => button.current}
          onClose={closeMenu}
          items={items}
        />
      )}
    </>
  )
}

function createDropHandlers(router: SessionRouter, folder: string, isOver: Signal<boolean>) {
  const isSession = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes(DRAG_TYPE) === true
  return {
    onDragOver(event: DragEvent): void {
      if (!isSession(event) || router.isReadOnly.peek()) return
      event.preventDefault()
      isOver.value = true
    },
    onDragLeave(): void {
      isOver.value = false
    },
    onDrop(event: DragEvent): void {
      isOver.value = false
      const id = event.dataTransfer?.getData(DRAG_TYPE) ?? ""
      if (!isSession(event) || router.sessionList.findSession(id) === null) return
      event.preventDefault()
      void organizeSessions(router, [id], { action: "move", folder })
    },
  }
}
