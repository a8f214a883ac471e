/**
 * session-uploads.ts: uploads attachments into a session, and erases sessions that an upload or an import left unused.
 *
 * Not needed for the initial render: session-router.ts loads this code afterwards, or on first use. Source: SPEC PG67,
 * PG72.
 */

import { MAX_ATTACHMENTS } from "../../shared/limits.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { refusedFileText } from "../words/attachment-chip-text.ts"
import type { AttachmentUploads } from "./attachment-uploads.ts"
import { DraftSession, type DraftSessionDeps } from "./draft-session.ts"
import { UnfinishedImports, type UnfinishedImportsDeps } from "./unfinished-imports.ts"
import { uploadAttachment } from "./upload-attachment.ts"
import { getRunner, type UploadFile } from "./upload-runner.ts"
import type { UploadDeps } from "./upload-with-token.ts"

export type SessionUploadsDeps = UploadDeps &
  Omit<UnfinishedImportsDeps, "eraseSession"> &
  Omit<DraftSessionDeps, "unfinishedImports"> & {
    /** `removeSession` rejects if a session could not be erased. */
    readonly sessionList: { removeSession(id: string): Promise<void> }
  }

export class SessionUploads {
  readonly unfinishedImports: UnfinishedImports
  readonly draftSession: DraftSession
  readonly #deps: SessionUploadsDeps

  constructor(deps: SessionUploadsDeps) {
    this.#deps = deps
    // The user didn't request this erasure, so a failure isn't shown.
    const eraseSession = (id: string): Promise<boolean> =>
      deps.sessionList.removeSession(id).then(
        () => true,
        () => false,
      )
    this.unfinishedImports = new UnfinishedImports({ ...deps, eraseSession })
    this.draftSession = new DraftSession({ ...deps, unfinishedImports: this.unfinishedImports })
  }

  /**
   * Uploads the chosen files. Returns a message for the user if some files were left out. `sessionId` is null for a new
   * conversation.
   */
  addChosen(attachments: AttachmentUploads, sessionId: string | null): string | null {
    const files = attachments.chosen.peek()
    if (files.length === 0) return null
    const leftOut = getRunner(attachments).addFiles(files, (...file) => this.uploadFile(sessionId, ...file))
    attachments.chosen.value = []
    if (sessionId === null) this.#discardSessionWithout(attachments)
    return leftOut > 0 ? refusedFileText.tooMany(MAX_ATTACHMENTS, leftOut) : null
  }

  retryUnreachable(attachments: AttachmentUploads): void {
    getRunner(attachments).retryUnreachable()
  }

  /** Discards the draft session once the draft has no more attachments. */
  #discardSessionWithout({ entries }: AttachmentUploads): void {
    const unsubscribe = entries.subscribe((list) => {
      if (list.length > 0) return
      // Sending a message also empties the list. By the time the microtask runs, the message owns the session.
      queueMicrotask(() => {
        unsubscribe()
        if (entries.peek().length === 0) this.draftSession.discardSession()
      })
    })
  }

  /** Uploads one file. `sessionId` is null for a new conversation: the first file creates its session. */
  async uploadFile(sessionId: string | null, ...[file, onSent, signal]: Parameters<UploadFile>): Promise<Asset> {
    // The file may have been removed while this code was loaded.
    signal.throwIfAborted()
    const id = sessionId ?? (await this.draftSession.ensureSession())
    return await uploadAttachment(id, this.#deps, file, onSent, signal)
  }
}
