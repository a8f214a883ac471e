/**
 * session-uploads.ts: uploads attachments into a session, and erases sessions that an upload or an import left unused.
 *
 * The first view doesn't need it: session-router.ts loads it afterwards, or when it is used. Source: SPEC PG67, PG72.
 */

import { parseJson } from "../../shared/json.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { parseAsset } from "../../shared/protocol/responses.ts"
import { RequestError, toRequestError } from "../net/http-request.ts"
import { errorText } from "../words/page-text.ts"
import type { UploadFile } from "./attachment-uploads.ts"
import { DraftSession, type DraftSessionDeps } from "./draft-session.ts"
import { UnfinishedImports, type UnfinishedImportsDeps } from "./unfinished-imports.ts"
import { type UploadDeps, uploadWithToken } from "./upload-with-token.ts"

export type SessionUploadsDeps = UploadDeps & UnfinishedImportsDeps & Omit<DraftSessionDeps, "unfinishedImports">

export class SessionUploads {
  readonly unfinishedImports: UnfinishedImports
  readonly draftSession: DraftSession
  readonly #deps: SessionUploadsDeps

  constructor(deps: SessionUploadsDeps) {
    this.#deps = deps
    this.unfinishedImports = new UnfinishedImports(deps)
    this.draftSession = new DraftSession({ ...deps, unfinishedImports: this.unfinishedImports })
  }

  /** Uploads one file. `sessionId` is null for a new conversation: the first file creates its session. */
  async uploadFile(sessionId: string | null, ...[file, onSent, signal]: Parameters<UploadFile>): Promise<Asset> {
    // The file may have been removed while this code was loaded.
    signal.throwIfAborted()
    const id = sessionId ?? (await this.draftSession.ensureSession())
    return await uploadAttachment(id, this.#deps, file, onSent, signal)
  }
}

/** Uploads one file to one session. */
export async function uploadAttachment(
  sessionId: string,
  deps: UploadDeps,
  ...[file, onSent, signal]: Parameters<UploadFile>
): Promise<Asset> {
  const path = `/v1/sessions/${encodeURIComponent(sessionId)}/assets?name=${encodeURIComponent(file.name)}`
  const { status, text } = await uploadWithToken(deps, path, file, onSent, signal)
  const body = parseJson(text)
  if (status < 200 || status >= 300) throw toRequestError(status, body)
  const asset = parseAsset(body)
  if (asset === null) throw new RequestError(502, errorText.badResponse)
  return asset
}
