/** test-importer.ts: an importer on a test session, whose requests are recorded. */

import { Importer, type ImportStage } from "../../client/files/import-file.ts"
import type { SendFileResult } from "../../client/files/send-file.ts"
import { UnfinishedImports } from "../../client/files/unfinished-imports.ts"
import type { Api } from "../../client/net/api.ts"
import { SessionList } from "../../client/session/session-list.ts"
import { settle } from "./fake-server.ts"
import { setUp } from "./open-session.ts"

export const answered = (value: object, status = 200): SendFileResult => ({ status, text: JSON.stringify(value) })
export const DONE = { records: 3, skipped: 0, bad: [] }

/** Creates an importer that uploads with `upload`, and records its requests. */
export function createTestImporter(
  upload: (path: string, body: Blob) => Promise<SendFileResult>,
  more: Partial<Api> = {},
  createId = () => "new",
) {
  const { api: plain, storage, locks } = setUp()
  const made: string[] = []
  const erased: string[] = []
  const paths: string[] = []
  const stages: ImportStage[] = []
  const api: Api = {
    ...plain,
    createSession: (_title, id) => {
      made.push(id)
      return Promise.resolve(id)
    },
    eraseSession: (id) => {
      erased.push(id)
      return Promise.resolve()
    },
    ...more,
  }
  const sessions = new SessionList({ api, now: () => 0, setTimer: () => () => {}, isVisible: () => true })
  const remembering = () =>
    new UnfinishedImports({
      api,
      storage,
      withLock: locks.withLock,
      eraseSession: (id) =>
        sessions.removeSession(id).then(
          () => true,
          () => false,
        ),
    })
  const importer = new Importer({
    api,
    unfinishedImports: remembering(),
    random: () => 1,
    sendFile: (path, body, _token, onSent, signal) => {
      paths.push(path)
      onSent(body.size)
      return new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(new TypeError("aborted")))
        upload(path, body).then(resolve, reject)
      })
    },
    createId,
    setTimer: (_ms, call) => {
      const timer = setTimeout(call)
      return () => clearTimeout(timer)
    },
  })
  importer.stage.subscribe((stage) => stages.push(stage))
  /** Closes the page and opens it again. */
  const reopen = async () => {
    locks.free()
    remembering().settleStale()
    await settle()
  }
  return { importer, sessions, storage, locks, made, erased, paths, stages, reopen }
}

export const createFile = (text: string, name = "old.jsonl") => new File([text], name)
