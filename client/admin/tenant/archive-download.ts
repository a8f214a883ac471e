/**
 * archive-download.ts: downloads all files of an export, one after the other, and checks each part against the
 * manifest.
 *
 * GET /v1/tenant/exports/:id/files/0 (manifest) → files/1 … files/n → saved by the browser, one at a time in memory
 * Source: SPEC AD12.
 */

import { type Signal, signal } from "@preact/signals"
import { parseJson } from "../../../shared/json.ts"
import type { TenantExport } from "../../../shared/protocol/http-body.ts"
import { describeError, RequestError } from "../../net/http-request.ts"
import { tenantText } from "../../words/admin-text.ts"
import { type AdminApi, pathOf } from "../admin-api.ts"
import { type ArchivePart, hashBlob, parseManifest } from "./archive-choice.ts"
import { type RetryDeps, retryTransfer } from "./retry-transfer.ts"

export const EXPORTS_PATH = "/v1/tenant/exports"

/** Pause after each saved file, in milliseconds. Browsers drop downloads that a page starts in quick succession. */
const SAVE_PAUSE_MS = 200

/** The status of a response that the page can't use. It is treated as temporary, so the file is requested again. */
const DAMAGED_STATUS = 502

export interface DownloadStage {
  readonly doneBytes: number
  /** 0 until the manifest has been received. */
  readonly ofBytes: number
}

export interface ArchiveDownloadDeps extends RetryDeps {
  readonly api: Pick<AdminApi, "download">
  save(blob: Blob, fileName: string): void
}

export class ArchiveDownload {
  /** Null while nothing is being downloaded. */
  readonly stage: Signal<DownloadStage | null> = signal(null)
  readonly fault: Signal<string | null> = signal(null)
  /** The export to which the other fields belong. */
  readonly exportId: Signal<string | null> = signal(null)
  /**
   * The number of that export's files that have been saved, including the manifest. It returns to 0 once all files are
   * saved.
   */
  readonly saved: Signal<number> = signal(0)
  #parts: readonly ArchivePart[] = []
  #abort: AbortController | null = null

  /**
   * Downloads the files of an export except those that an interrupted download has already saved. Returns whether all
   * files are now saved. If not, either the download was stopped, `fault` says what went wrong, or another download is
   * still running.
   */
  async start(deps: ArchiveDownloadDeps, { id, parts }: Pick<TenantExport, "id" | "parts">): Promise<boolean> {
    if (this.#abort !== null) return false
    const abort = new AbortController()
    this.#abort = abort
    this.fault.value = null
    if (this.exportId.peek() !== id) this.saved.value = 0
    this.exportId.value = id
    try {
      while (this.saved.peek() <= parts) await this.#saveNext(deps, id, abort.signal)
      this.saved.value = 0
      return true
    } catch (error) {
      if (!abort.signal.aborted) this.fault.value = describeError(error)
      return false
    } finally {
      this.stage.value = null
      this.#abort = null
    }
  }

  /** Stops the download. The saved files remain, and the next download continues after them. */
  stop(): void {
    this.#abort?.abort()
  }

  async #saveNext(deps: ArchiveDownloadDeps, id: string, signal: AbortSignal): Promise<void> {
    const n = this.saved.peek()
    this.#showProgress(n)
    const blob = await retryTransfer(deps, signal, async () => {
      const file = await deps.api.download(pathOf(EXPORTS_PATH, id, `/files/${n}`), signal)
      if (n === 0) this.#parts = await readParts(file)
      else await checkPart(file, this.#parts[n - 1])
      return file
    })
    deps.save(blob, nameFile(id, n))
    this.saved.value = n + 1
    this.#showProgress(n + 1)
    await deps.wait(SAVE_PAUSE_MS)
    signal.throwIfAborted()
  }

  #showProgress(saved: number): void {
    const sumBytes = (parts: readonly ArchivePart[]): number => parts.reduce((sum, { bytes }) => sum + bytes, 0)
    this.stage.value =
      saved === 0
        ? { doneBytes: 0, ofBytes: 0 }
        : { doneBytes: sumBytes(this.#parts.slice(0, saved - 1)), ofBytes: sumBytes(this.#parts) }
  }
}

/** Returns the file name of file `n` of an export. File 0 is the manifest. */
export function nameFile(id: string, n: number): string {
  return n === 0 ? `${id}-manifest.json` : `${id}-${n}.cuecard`
}

async function readParts(manifest: Blob): Promise<readonly ArchivePart[]> {
  const files = parseManifest(parseJson(await manifest.text()))?.files
  if (files === undefined) throw new RequestError(DAMAGED_STATUS, tenantText.damaged(tenantText.manifest))
  return files
}

async function checkPart(file: Blob, part: ArchivePart | undefined): Promise<void> {
  if (part !== undefined && (await hashBlob(file)) === part.sha256) return
  throw new RequestError(DAMAGED_STATUS, tenantText.damaged(tenantText.part(part?.n ?? 0)))
}
