/**
 * archive-upload.ts: uploads an archive into the tenant: its manifest, then each part that the server doesn't have.
 *
 * chosen files → readArchive → POST /v1/tenant/import → PUT /v1/tenant/imports/:id/files/:n
 * The last part starts the import, which the server completes without the page. Source: SPEC AD9.
 */

import { type Signal, signal } from "@preact/signals"
import type { TenantImport } from "../../../shared/protocol/http-body.ts"
import { describeError, parseBody } from "../../net/http-request.ts"
import { importsText } from "../../words/admin-text.ts"
import { type AdminApi, pathOf, TRANSFER_TIMEOUT_MS } from "../admin-api.ts"
import { type Archive, ArchiveChoiceError, readArchive } from "./archive-choice.ts"
import { type RetryDeps, retryTransfer } from "./retry-transfer.ts"
import { parseImport } from "./tenant-responses.ts"

export const IMPORTS_PATH = "/v1/tenant/imports"

export interface UploadStage {
  /** `checking`: the chosen files are being compared with the manifest. `sending`: they are being uploaded. */
  readonly at: "checking" | "sending"
  readonly doneBytes: number
  readonly ofBytes: number
}

export interface ArchiveUploadDeps extends RetryDeps {
  readonly api: Pick<AdminApi, "fetchAuthorized">
}

export class ArchiveUpload {
  /** Null while nothing is being uploaded. */
  readonly stage: Signal<UploadStage | null> = signal(null)
  readonly fault: Signal<string | null> = signal(null)
  /** The id of the import to which the stage or the fault belongs; null until the server has created the import. */
  readonly importId: Signal<string | null> = signal(null)
  #abort: AbortController | null = null

  /**
   * Uploads the chosen files into the import whose id is `unfinished`, which is waiting for files, or into a new import
   * if `unfinished` is null. Resolves when all parts have been uploaded, when the upload has been stopped, or when it
   * has failed and `fault` is set. After a failure, the user can choose the same files again.
   */
  async start(deps: ArchiveUploadDeps, files: readonly File[], unfinished: string | null): Promise<void> {
    if (this.#abort !== null) return
    const abort = new AbortController()
    this.#abort = abort
    this.fault.value = null
    this.importId.value = unfinished
    this.#show("checking", 0, 0)
    try {
      const onChecked = (checked: number, of: number): void => this.#show("checking", checked, of)
      const archive = await readArchive(files, onChecked, abort.signal)
      await this.#sendParts(
        deps,
        archive,
        await this.#openImport(deps, archive, unfinished, abort.signal),
        abort.signal,
      )
    } catch (error) {
      if (!abort.signal.aborted)
        this.fault.value = error instanceof ArchiveChoiceError ? error.message : describeError(error)
    } finally {
      this.stage.value = null
      this.#abort = null
    }
  }

  /** Stops the upload. The server keeps the parts that it has received until the import is cancelled. */
  stop(): void {
    this.#abort?.abort()
  }

  #show(at: UploadStage["at"], doneBytes: number, ofBytes: number): void {
    this.stage.value = { at, doneBytes, ofBytes }
  }

  /**
   * Creates or reads the import. The request isn't retried if the connection breaks, because the server would refuse a
   * second import.
   */
  async #openImport(
    { api }: ArchiveUploadDeps,
    { manifest }: Archive,
    unfinished: string | null,
    signal: AbortSignal,
  ): Promise<TenantImport> {
    const headers = { "content-type": "application/json" }
    const response =
      unfinished === null
        ? await api.fetchAuthorized("/v1/tenant/import", { method: "POST", headers, body: manifest, signal })
        : await api.fetchAuthorized(pathOf(IMPORTS_PATH, unfinished), { signal })
    const opened = await parseBody(response, parseImport)
    this.importId.value = opened.id
    return opened
  }

  async #sendParts(
    deps: ArchiveUploadDeps,
    { parts }: Archive,
    opened: TenantImport,
    signal: AbortSignal,
  ): Promise<void> {
    const ofBytes = [...parts.values()].reduce((sum, { size }) => sum + size, 0)
    for (let view = opened; view.state === "uploading"; ) {
      // Parts are sent in the order of their numbers, so the server has all parts before the first missing one.
      const [n = 0] = view.missing
      const part = parts.get(n)
      // The chosen manifest doesn't belong to the import's archive.
      if (part === undefined) throw new ArchiveChoiceError(importsText.otherArchive)
      let doneBytes = 0
      for (const [number, { size }] of parts) if (number < n) doneBytes += size
      this.#show("sending", doneBytes, ofBytes)
      view = await this.#sendPart(deps, pathOf(IMPORTS_PATH, view.id, `/files/${n}`), part, signal)
    }
  }

  async #sendPart(deps: ArchiveUploadDeps, path: string, part: File, signal: AbortSignal): Promise<TenantImport> {
    const init = { method: "PUT", body: part, signal }
    return await retryTransfer(deps, signal, async () =>
      parseBody(await deps.api.fetchAuthorized(path, init, TRANSFER_TIMEOUT_MS), parseImport),
    )
  }
}
