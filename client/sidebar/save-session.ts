/**
 * save-session.ts: exports a session to a file on the user's device.
 *
 * GET /v1/sessions/:id/events → blob → download
 * A plain link would not work, because the token is sent in a header. Source: SPEC PG34.
 */

import { cutText } from "../../shared/text/cut-text.ts"
import { downloadExport, type ExportFormat } from "../files/download-export.ts"
import { describeError, RequestError } from "../net/http-request.ts"
import { formatTitle } from "../session/session-list.ts"
import type { SessionRouter } from "../session/session-router.ts"
import { saveBlob } from "../ui/save-file.ts"
import { sessionActionText } from "../words/session-action-text.ts"

/** Maximum length of a file name without its extension, in UTF-16 code units. */
const MAX_NAME_CHARS = 80

/** Converts a title to a file name that all common file systems accept. */
export function createFileName(title: string, format: ExportFormat): string {
  const cleaned = title.replace(/[\p{C}\\/:*?"<>|]+/gu, " ").replace(/\s+/g, " ")
  const name = cutText(cleaned, MAX_NAME_CHARS).replace(/^[. ]+|[. ]+$/g, "")
  return `${name === "" ? sessionActionText.exportName : name}.${format === "markdown" ? "md" : "jsonl"}`
}

export async function saveSession(
  { sessionList, api }: Pick<SessionRouter, "sessionList" | "api">,
  id: string,
  format: ExportFormat,
): Promise<void> {
  const title = formatTitle(sessionList.findTitle(id))
  sessionList.showNotice(sessionActionText.exporting(title), false, true)
  try {
    const file = await downloadExport(api, id, format)
    const isMarkdown = file.type.startsWith("text/markdown")
    if (format === "markdown" && !isMarkdown) throw new RequestError(501, sessionActionText.noMarkdown)
    saveBlob(file, createFileName(title, format))
    sessionList.showNotice(sessionActionText.exported(title))
  } catch (error) {
    sessionList.showNotice(sessionActionText.exportFailed(title, describeError(error)), true)
  }
}
