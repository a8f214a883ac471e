/** data-section.tsx: exports all conversations, and deletes them after a typed confirmation. Source: SPEC VD7, VD8. */

import { type Signal, useSignal } from "@preact/signals"
import type { VNode } from "preact"
import { useId } from "preact/hooks"
import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { describeError } from "../net/http-request.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { Dialog } from "../ui/dialog.tsx"
import { saveBlob } from "../ui/save-file.ts"
import { appText } from "../words/page-text.ts"
import { settingsText } from "../words/settings/settings-text.ts"
import { deleteAllSessions, exportAllSessions } from "./all-sessions.ts"
import { SettingRow } from "./setting-row.tsx"

const ZIP_NAME = "conversations.zip"

export function DataSection({ router }: { readonly router: SessionRouter }): VNode {
  const isConfirming = useSignal(false)
  const saving = useJob()
  const deletion = useJob()
  const isBusy = saving.isRunning.value || deletion.isRunning.value
  const exportAll = saving.run(async (showText) => {
    const outcome = await exportAllSessions(router.api, (done) => showText(settingsText.exporting(done)))
    if (outcome === null) return showText(settingsText.nothingToExport)
    const { done, failed, file } = outcome
    saveBlob(file, ZIP_NAME)
    showText(failed === 0 ? settingsText.exported(done) : settingsText.exportedPartly(done, failed))
  })
  const deleteAll = deletion.run(async (showText) => {
    isConfirming.value = false
    const { done, failed } = await deleteAllSessions(
      router.api,
      (count) => showText(settingsText.deleting(count)),
      (ids) => dropSessions(router, ids),
    )
    showText(failed === 0 ? settingsText.deleted(done) : settingsText.deletedPartly(failed))
    await router.sessionList.refresh()
  })
  return (
    <section>
      <h2>{settingsText.data}</h2>
      <SettingRow title={settingsText.exportTitle} hint={settingsText.exportHint}>
        <button type="button" aria-disabled={isBusy} onClick={() => !isBusy && exportAll()}>
          {settingsText.export}
        </button>
      </SettingRow>
      <JobStatus text={saving.text} isFault={saving.isFault} />
      <SettingRow title={settingsText.deleteTitle} hint={settingsText.deleteHint}>
        <button type="button" class="grave" aria-disabled={isBusy} onClick={() => (isConfirming.value = !isBusy)}>
          {settingsText.delete}
        </button>
      </SettingRow>
      <JobStatus text={deletion.text} isFault={deletion.isFault} />
      {isConfirming.value && <DeleteAllDialog onCancel={() => (isConfirming.value = false)} onConfirm={deleteAll} />}
    </section>
  )
}

/**
 * Closes deleted sessions and removes them at once. While the server is still erasing them, it may take a while to
 * return the next list.
 */
function dropSessions(router: SessionRouter, ids: ReadonlySet<string>): void {
  const { sessionList } = router
  for (const id of ids) {
    router.closeSession(id)
    router.forgetStored(id)
  }
  const keepOthers = (rows: readonly SessionSummary[]) => rows.filter(({ id }) => !ids.has(id))
  sessionList.editRows(keepOthers)
  sessionList.archived.value = keepOthers(sessionList.archived.peek())
}

interface Job {
  readonly isRunning: Signal<boolean>
  readonly isFault: Signal<boolean>
  /** The progress or the result; empty until the job is started. */
  readonly text: Signal<string>
  run(work: (showText: (text: string) => void) => Promise<void>): () => void
}

function useJob(): Job {
  const isRunning = useSignal(false)
  const isFault = useSignal(false)
  const text = useSignal("")
  const runNow = async (work: (showText: (next: string) => void) => Promise<void>): Promise<void> => {
    isRunning.value = true
    isFault.value = false
    text.value = appText.loading
    try {
      await work((next) => (text.value = next))
    } catch (error) {
      isFault.value = true
      text.value = settingsText.failed(describeError(error))
    }
    isRunning.value = false
  }
  return { isRunning, isFault, text, run: (work) => () => void runNow(work) }
}

function JobStatus({ text, isFault }: Pick<Job, "text" | "isFault">): VNode {
  return (
    <p class={isFault.value ? "job fault" : "job"} role="status">
      {text.value}
    </p>
  )
}

interface DeleteAllDialogProps {
  readonly onCancel: () => void
  readonly onConfirm: () => void
}

/** Asks the user to type a word, because a click may be accidental. */
function DeleteAllDialog({ onCancel, onConfirm }: DeleteAllDialogProps): VNode {
  const typed = useSignal("")
  const id = useId()
  const word = settingsText.confirmWord
  const isConfirmed = typed.value.trim().toLocaleLowerCase() === word.toLocaleLowerCase()
  return (
    <Dialog title={settingsText.deleteQuestion} role="alertdialog" onCancel={onCancel}>
      <p>{settingsText.deleteHint}</p>
      <form
        class="confirm-word"
        onSubmit={(event) => {
          event.preventDefault()
          if (isConfirmed) onConfirm()
        }}
      >
        <label for={id}>{settingsText.typeWord(word)}</label>
        <input
          id={id}
          data-first=""
          dir="auto"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          value={typed.value}
          onInput={({ currentTarget }) => (typed.value = currentTarget.value)}
        />
        <p class="ways">
          <button type="button" onClick={onCancel}>
            {appText.cancel}
          </button>
          <button type="submit" class="grave" disabled={!isConfirmed}>
            {settingsText.deleteNow}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
