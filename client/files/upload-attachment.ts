/** upload-attachment.ts: uploads one file into a session. */

import { parseJson } from "../../shared/json.ts"
import type { Asset } from "../../shared/protocol/event.ts"
import { RequestError, toRequestError } from "../net/http-request.ts"
import { errorText } from "../words/page-text.ts"
import { parseAsset } from "./asset-response.ts"
import type { UploadFile } from "./upload-runner.ts"
import { type UploadDeps, uploadWithToken } from "./upload-with-token.ts"

/** Uploads the file. Throws RequestError if the server refuses it. */
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
