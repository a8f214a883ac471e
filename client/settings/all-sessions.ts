/** all-sessions.ts: exports and deletes all of the user's conversations. Source: SPEC VD7, VD8. */

import type { SessionSummary } from "../../shared/protocol/http-body.ts"
import { parseSessionList } from "../../shared/protocol/responses.ts"
import { createParser, hasShape, isBoolean, isListOf, isNumber, isString } from "../../shared/protocol/shape-check.ts"
import type { PromptList, SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"
import { MAX_BULK_SESSIONS } from "../../shared/user-limits.ts"
import { downloadExport } from "../files/download-export.ts"
import type { Api } from "../net/api.ts"
import { createJsonRequest, parseBody } from "../net/http-request.ts"
import { formatTitle } from "../session/session-list.ts"
import { createFileName } from "../sidebar/save-session.ts"
import { ZipWriter } from "./zip-file.ts"

const PROMPTS_NAME = "saved-prompts.json"

const PROMPT = { id: isString, name: isString, text: isString, changed: isNumber }

const parsePrompts = createParser<PromptList>({ prompts: isListOf(hasShape<SavedPrompt>(PROMPT)) })

type AuthorizedApi = Pick<Api, "fetchAuthorized">

/** How many conversations were processed, and how many failed. */
export interface Outcome {
  readonly done: number
  readonly failed: number
}

/** Lists the user's own conversations, then the archived ones. Throws RequestError if a page can't be loaded. */
export async function listAllSessions(api: AuthorizedApi): Promise<readonly SessionSummary[]> {
  const byId = new Map<string, SessionSummary>()
  for (const archived of ["", "archived=1&"]) {
    let after: string | null = ""
    while (after !== null) {
      const query: string = archived + (after === "" ? "" : `after=${encodeURIComponent(after)}`)
      const response = await api.fetchAuthorized(`/v1/sessions${query === "" ? "" : `?${query}`}`)
      const page: { sessions: readonly SessionSummary[]; next?: string | null } = await parseBody(
        response,
        parseSessionList,
      )
      for (const session of page.sessions) byId.set(session.id, session)
      after = page.next ?? null
    }
  }
  return [...byId.values()]
}

/**
 * Downloads each conversation, one after the other, and returns a ZIP file with a data file for each, and one with the
 * saved prompts; null if there are no conversations. Conversations that can't be downloaded or no longer fit into the
 * file are counted as failed.
 */
export async function exportAllSessions(
  api: AuthorizedApi,
  onProgress: (done: number) => void,
): Promise<(Outcome & { readonly file: Blob }) | null> {
  const sessions = await listAllSessions(api)
  if (sessions.length === 0) return null
  const zip = new ZipWriter()
  const usedNames = new Map([[PROMPTS_NAME, 1]])
  const hasPrompts = await addPrompts(api, zip)
  let [done, failed] = [0, hasPrompts ? 0 : 1]
  for (const { id, title, active } of sessions) {
    try {
      const content = await downloadExport(api, id, "jsonl")
      const name = createUniqueName(createFileName(formatTitle(title), "jsonl"), usedNames)
      if (await zip.addFile(name, content, new Date(active))) done++
      else failed++
    } catch {
      failed++
    }
    onProgress(done + failed)
  }
  return { done, failed, file: zip.finish() }
}

/** Adds the user's saved prompts, if there are any. Returns false if they can't be loaded. */
async function addPrompts(api: AuthorizedApi, zip: ZipWriter): Promise<boolean> {
  try {
    const { prompts } = await parseBody(await api.fetchAuthorized("/v1/prompts"), parsePrompts)
    if (prompts.length === 0) return true
    const content = new Blob([`${JSON.stringify(prompts, null, 2)}\n`])
    return await zip.addFile(PROMPTS_NAME, content, new Date(Math.max(...prompts.map(({ changed }) => changed))))
  } catch {
    return false
  }
}

/** Adds a number to a name that is already used: "Plan (2).jsonl". Many file systems ignore case. */
function createUniqueName(name: string, usedNames: Map<string, number>): string {
  const key = name.toLowerCase()
  const count = (usedNames.get(key) ?? 0) + 1
  usedNames.set(key, count)
  return count === 1 ? name : createUniqueName(name.replace(/(\.\w+)$/, ` (${count})$1`), usedNames)
}

const parseBulkResults = createParser<{ readonly results: readonly { readonly id: string; readonly ok: boolean }[] }>({
  results: isListOf(hasShape<{ id: string; ok: boolean }>({ id: isString, ok: isBoolean })),
})

/**
 * Deletes all of the user's own conversations. Calls `onDeleted` with the conversations that each request deleted.
 * Throws RequestError if the server can't be reached; in that case, some conversations may remain.
 */
export async function deleteAllSessions(
  api: AuthorizedApi,
  onProgress: (done: number) => void,
  onDeleted: (ids: ReadonlySet<string>) => void,
): Promise<Outcome> {
  const ids = (await listAllSessions(api)).map(({ id }) => id)
  let [done, failed] = [0, 0]
  for (let at = 0; at < ids.length; at += MAX_BULK_SESSIONS) {
    const batch = ids.slice(at, at + MAX_BULK_SESSIONS)
    const request = createJsonRequest("POST", { ids: batch, action: "delete" })
    const { results } = await parseBody(await api.fetchAuthorized("/v1/sessions/bulk", request), parseBulkResults)
    const deleted = new Set(results.flatMap(({ id, ok }) => (ok ? [id] : [])))
    done += deleted.size
    failed += batch.length - deleted.size
    onDeleted(deleted)
    onProgress(done + failed)
  }
  return { done, failed }
}
