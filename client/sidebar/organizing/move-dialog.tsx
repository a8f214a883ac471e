/** move-dialog.tsx: the dialog that moves conversations to an existing or a new folder. Source: SPEC LB23. */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import type { SessionRouter } from "../../session/session-router.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { appText } from "../../words/page-text.ts"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { createFolder, folders, MAX_FOLDER_CHARS } from "./folders.ts"
import { organizeSessions } from "./organize-sessions.ts"

interface MoveDialogProps {
  readonly router: SessionRouter
  /** The sessions to move. If there are none, the dialog only creates a folder. */
  readonly ids: readonly string[]
  readonly onClose: () => void
}

export function MoveDialog({ router, ids, onClose }: MoveDialogProps): VNode {
  const name = useSignal("")
  const isMove = ids.length > 0
  const moveTo = (folder: string | null): void => {
    onClose()
    if (isMove) void organizeSessions(router, ids, { action: "move", folder })
  }
  const createAndMove = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (name.peek().trim() === "") return
    onClose()
    const created = await createFolder(router, name.peek().trim())
    if (created !== null) moveTo(created)
  }
  const isFiled = ids.some((id) => router.sessionList.findSession(id)?.folder !== undefined)
  return (
    <Dialog title={isMove ? organizingText.moveTitle : organizingText.newFolder} onCancel={onClose}>
      {isMove && (
        <ul class="places">
          {isFiled && (
            <li>
              <button type="button" onClick={() => moveTo(null)}>
                {organizingText.noFolder}
              </button>
            </li>
          )}
          {(folders.value ?? []).map((folder) => (
            <li key={folder.id}>
              <button type="button" onClick={() => moveTo(folder.id)}>
                <bdi>{folder.name}</bdi>
              </button>
            </li>
          ))}
        </ul>
      )}
      <form class="share" onSubmit={(event) => void createAndMove(event)}>
        <input
          data-first=""
          dir="auto"
          maxLength={MAX_FOLDER_CHARS}
          aria-label={organizingText.folderName}
          placeholder={isMove ? organizingText.newFolder : organizingText.folderName}
          value={name.value}
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
        <button type="submit" class="firm" disabled={name.value.trim() === ""}>
          {organizingText.create}
        </button>
      </form>
      <p class="ways">
        <button type="button" onClick={onClose}>
          {appText.cancel}
        </button>
      </p>
    </Dialog>
  )
}
