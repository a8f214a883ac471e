/**
 * archive-dialog.tsx: the dialog that lists, opens, unarchives and deletes archived conversations. Source: SPEC LB30.
 */

import { useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useEffect } from "preact/hooks"
import type { SessionSummary } from "../../../shared/protocol/http-body.ts"
import { describeError } from "../../net/http-request.ts"
import { formatTitle } from "../../session/session-list.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { Dialog } from "../../ui/dialog.tsx"
import { appText } from "../../words/page-text.ts"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { sessionActionText } from "../../words/session-action-text.ts"
import { dropArchived, loadArchivedPage } from "./archived-sessions.ts"
import { deleteSessions, organizeSessions } from "./organize-sessions.ts"

interface ArchiveDialogProps {
  readonly router: SessionRouter
  readonly onClose: () => void
}

export function ArchiveDialog({ router, onClose }: ArchiveDialogProps): VNode {
  const { rows, next, fault, loadMore, dropRow } = useArchive(router)
  const unarchive = async (session: SessionSummary): Promise<void> => {
    dropRow(session.id)
    await organizeSessions(router, [session.id], { action: "unarchive" })
    await router.sessionList.refresh()
  }
  return (
    <Dialog title={organizingText.archiveList} onCancel={onClose}>
      {fault !== "" && <p class="fault">{fault}</p>}
      {rows?.length === 0 && <p>{organizingText.emptyArchive}</p>}
      <ul class="places">
        {(rows ?? []).map((session) => (
          <li key={session.id}>
            <a href={`#/s/${session.id}`} dir="auto" onClick={onClose}>
              {formatTitle(session.title)}
            </a>
            <button type="button" onClick={() => void unarchive(session)}>
              {organizingText.unarchive}
            </button>
            <button
              type="button"
              class="grave"
              onClick={() => {
                dropRow(session.id)
                deleteSessions(router, [session.id])
              }}
            >
              {organizingText.delete}
            </button>
          </li>
        ))}
      </ul>
      <p class="ways">
        {next !== null && (
          <button type="button" onClick={loadMore}>
            {sessionActionText.more}
          </button>
        )}
        <button type="button" data-first="" onClick={onClose}>
          {appText.done}
        </button>
      </p>
    </Dialog>
  )
}

function useArchive(router: SessionRouter) {
  const rows = useSignal<readonly SessionSummary[] | null>(null)
  const next = useSignal<string | null>(null)
  const fault = useSignal("")
  const loadMore = async (): Promise<void> => {
    try {
      const page = await loadArchivedPage(router, next.peek())
      const known = new Set(rows.peek()?.map(({ id }) => id))
      rows.value = [...(rows.peek() ?? []), ...page.sessions.filter(({ id }) => !known.has(id))]
      next.value = page.next
      fault.value = ""
    } catch (error) {
      fault.value = `${organizingText.archiveUnreachable} ${describeError(error)}`
    }
  }
  const dropRow = (id: string): void => {
    rows.value = (rows.peek() ?? []).filter((row) => row.id !== id)
    dropArchived(router.sessionList, id)
  }
  useEffect(() => void loadMore(), [])
  return { rows: rows.value, next: next.value, fault: fault.value, loadMore: () => void loadMore(), dropRow }
}
