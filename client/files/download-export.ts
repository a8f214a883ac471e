/** download-export.ts: downloads a session's transcript. */

import { type Api, sessionPath } from "../net/api.ts"
import { readJson } from "../net/http-request.ts"

export type ExportFormat = "jsonl" | "markdown"

/** Timeout for the download, in milliseconds: enough for tens of megabytes on a slow connection. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000

/** Returns the whole transcript as a file. Throws RequestError if the server refuses the request. */
export async function downloadExport(
  api: Pick<Api, "fetchAuthorized">,
  session: string,
  format: ExportFormat,
): Promise<Blob> {
  const query = format === "markdown" ? "?format=markdown" : ""
  const response = await api.fetchAuthorized(sessionPath(session, `/events${query}`), {}, DOWNLOAD_TIMEOUT_MS)
  if (!response.ok) await readJson(response)
  return await response.blob()
}
