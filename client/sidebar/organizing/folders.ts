/**
 * folders.ts: the user's folders, which of them are collapsed, and the requests that change folders. Failures are shown
 * to the user.
 *
 * Source: SPEC LB23, LB24.
 */

import { type Signal, signal } from "@preact/signals"
import type { SessionFolder } from "../../../shared/protocol/http-body.ts"
import { createParser, hasShape, isListOf, isString } from "../../../shared/protocol/shape-check.ts"
import { parseSessionList } from "../../../shared/protocol/responses.ts"
import { createJsonRequest, describeError, parseBody, readJson } from "../../net/http-request.ts"
import type { SessionRouter } from "../../session/session-router.ts"
import { organizingText } from "../../words/parts/organizing-text.ts"
import { listChangesOf } from "./list-changes.ts"
import { tellOtherTabs } from "./organize-sessions.ts"

/** Maximum length of a folder's name, in UTF-16 code units. The server refuses longer names. */
export const MAX_FOLDER_CHARS = 60
/** When a folder is opened, at most this many pages of its sessions are loaded. */
const MAX_FOLDER_PAGES = 10
const COLLAPSED_KEY = "cuecard.folders"

type NamedFolder = Pick<SessionFolder, "id" | "name">

/** The folders, in alphabetical order; null until they have been loaded. */
export const folders: Signal<readonly NamedFolder[] | null> = signal(null)
/** The ids of the collapsed folders, stored per browser. */
export const collapsedFolders: Signal<ReadonlySet<string>> = signal(readCollapsed())

const isFolder = hasShape<NamedFolder>({ id: isString, name: isString })
const parseFolders = createParser<{ readonly folders: readonly NamedFolder[] }>({ folders: isListOf(isFolder) })
const parseFolder = createParser<NamedFolder>({ id: isString, name: isString })

/** Loads the folders. After a failure, the sidebar's next periodic refresh tries again. */
export async function loadFolders({ api }: SessionRouter): Promise<void> {
  try {
    setFolders((await parseBody(await api.fetchAuthorized("/v1/folders"), parseFolders)).folders)
  } catch {
    folders.value ??= []
  }
}

/** Loads those sessions of a folder that the loaded part of the list doesn't contain. */
export async function loadFolderSessions({ api, sessionList }: SessionRouter, folder: string): Promise<void> {
  if (sessionList.more.peek() === "none") return
  const found = []
  let after = ""
  try {
    for (let page = 0; page < MAX_FOLDER_PAGES; page++) {
      const query = `?folder=${folder}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`
      const listed = await parseBody(await api.fetchAuthorized(`/v1/sessions${query}`), parseSessionList)
      found.push(...listed.sessions)
      after = listed.next ?? ""
      if (after === "") break
    }
    listChangesOf(sessionList).setFolderRows(folder, found)
  } catch {
    // Sessions of the folder that an earlier call has loaded remain in the list. Opening the folder again retries the
    // request.
  }
}

/** Creates a folder. Returns its id, or null on failure. */
export function createFolder(router: SessionRouter, name: string): Promise<string | null> {
  return saveFolder(router, async () => {
    const response = await router.api.fetchAuthorized("/v1/folders", createJsonRequest("POST", { name }))
    const folder = await parseBody(response, parseFolder)
    setFolders([...(folders.peek() ?? []), folder])
    return folder.id
  })
}

/** Renames a folder. The new name is shown at once. */
export async function renameFolder(router: SessionRouter, id: string, name: string): Promise<void> {
  const before = folders.peek() ?? []
  setFolders(before.map((folder) => (folder.id === id ? { id, name } : folder)))
  const path = `/v1/folders/${id}`
  const saved = await saveFolder(router, async () =>
    readJson(await router.api.fetchAuthorized(path, createJsonRequest("PATCH", { name }))),
  )
  if (saved === null) setFolders(before)
}

/** Deletes a folder, but not its sessions. */
export async function deleteFolder(router: SessionRouter, { id, name }: NamedFolder): Promise<void> {
  const before = folders.peek() ?? []
  setFolders(before.filter((folder) => folder.id !== id))
  const saved = await saveFolder(router, async () => {
    const response = await router.api.fetchAuthorized(`/v1/folders/${id}`, { method: "DELETE" })
    if (response.status !== 404) await readJson(response)
    return id
  })
  if (saved === null) return setFolders(before)
  router.sessionList.showNotice(organizingText.folderDeleted(name))
  void router.sessionList.refresh()
}

/** Runs a request. On failure, shows the error and returns null. */
async function saveFolder<T>({ sessionList }: SessionRouter, send: () => Promise<T>): Promise<T | null> {
  try {
    const saved = await send()
    tellOtherTabs()
    return saved
  } catch (error) {
    sessionList.showNotice(organizingText.changeFailed(describeError(error)), true)
    return null
  }
}

function setFolders(list: readonly NamedFolder[]): void {
  folders.value = list.toSorted((a, b) => a.name.localeCompare(b.name))
}

export function setCollapsed(id: string, isCollapsed: boolean): void {
  const known = new Set(folders.peek()?.map((folder) => folder.id))
  const others = [...collapsedFolders.peek()].filter((other) => other !== id && known.has(other))
  collapsedFolders.value = new Set(isCollapsed ? [...others, id] : others)
  try {
    localStorage.setItem(COLLAPSED_KEY, [...collapsedFolders.peek()].join(" "))
  } catch {
    // Storage is blocked: the choice lasts until the page is closed.
  }
}

function readCollapsed(): ReadonlySet<string> {
  try {
    return new Set(localStorage.getItem(COLLAPSED_KEY)?.split(" "))
  } catch {
    return new Set()
  }
}
