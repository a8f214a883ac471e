/**
 * import-job.ts: imports an archive into a tenant without conversations.
 *
 * files ▶ index ▶ configuration and users ▶ saved prompts ▶ sessions
 * All files were compared with the sealed manifest before the job began (archive-files.ts). The index locates the
 * blocks of each session. Nothing is created before the whole archive is indexed.
 */

import type { SavedPrompt } from "../../shared/protocol/writing/saved-prompt.ts"
import { computeHash } from "../platform/crypto/sha256-hex.ts"
import { mediaBucket } from "../platform/media-bucket.ts"
import { directoryStub } from "../platform/rpc/object-stubs.ts"
import type { Block } from "./archive-blocks.ts"
import { readBlocks } from "./archive-blocks.ts"
import { stagedKey } from "./archive-files.ts"
import { ArchiveItems } from "./archive-items.ts"
import { deleteTransferFiles } from "./export-files.ts"
import type { Job } from "./job-rows.ts"
import { addTally, LastingError, type LeavingHost, type SliceResult } from "./leaving-host.ts"
import { restoreSession } from "./restore-session.ts"

const SESSIONS_PER_SLICE = 50

/**
 * After this many requests to other objects and to the bucket, a slice ends before the next file of a session or the
 * next part of its transcript. Each file takes three requests, and one more for each block. A part takes one request
 * for each block, at most 130.
 */
const REQUESTS_PER_SLICE = 400

/** Maximum number of users that are created in one transaction. */
const USERS_PER_SLICE = 500

/** Maximum number of saved prompts that are restored in one slice. Each user with prompts takes a request. */
const PROMPTS_PER_SLICE = 200

/** Delay before the state of a transcript that is still being folded is read again, in milliseconds. */
const FOLDING_POLL_MS = 1_000

/** Maximum number of users that are searched for conversations before an import. A new tenant has few users. */
const MAX_USERS_BEFORE_IMPORT = 50

const BAD_CONTENT = { reason: "archive_refused", because: "content" } as const

export interface ImportProgress {
  readonly step: "index" | "config" | "users" | "prompts" | "sessions"
  /** The exported tenant. */
  readonly from: string
  /** The last file that was indexed, or the last item that was imported. */
  readonly at: number
  /** Number of files already imported for the session that follows `at`; absent if there are none. */
  readonly assets?: number
  /** Number of sessions that could not be imported. */
  readonly skipped: number
  /** Number of files in the archive. */
  readonly parts: number
}

export async function runImportSlice(host: LeavingHost, job: Job): Promise<SliceResult> {
  const progress = job.progress as ImportProgress
  switch (progress.step) {
    case "index":
      return await indexFile(host, job, progress)
    case "config":
      return await restoreConfig(host, job, progress)
    case "users":
      return restoreUsers(host, job, progress)
    case "prompts":
      return await restorePrompts(host, job, progress)
    case "sessions":
      return await restoreSessions(host, job, progress)
  }
}

async function indexFile(host: LeavingHost, job: Job, progress: ImportProgress): Promise<SliceResult> {
  const { env, storage, rows } = host
  const items = new ArchiveItems(storage.sql, job.id)
  const file = rows.findFile(job.id, progress.at + 1)
  if (file === null) {
    items.removeIncomplete()
    return continueFrom(host, job, { ...progress, step: "config", at: 0 })
  }
  const object = await mediaBucket(env, job.tenant).get(stagedKey(job.tenant, job.id, file.n))
  const bytes = object === null ? null : new Uint8Array(await object.arrayBuffer())
  if (bytes === null || (await computeHash(bytes)) !== file.sha256) throw new LastingError(BAD_CONTENT)
  const blocks: Block[] = []
  for (const block of readBlocks(bytes)) {
    if (block === null) throw new LastingError(BAD_CONTENT)
    blocks.push(block)
  }
  storage.transactionSync(() => items.addFile(file.n, blocks))
  return continueFrom(host, job, { ...progress, at: file.n })
}

async function restoreConfig(host: LeavingHost, job: Job, progress: ImportProgress): Promise<SliceResult> {
  // A user may have begun a conversation during the upload.
  if (!(await hasNoSessions(host, job.tenant))) throw new LastingError({ reason: "tenant_not_empty" })
  const [item] = new ArchiveItems(host.storage.sql, job.id).listAfter("config", 0, 1)
  if (item?.header.type === "config") host.content.writeConfig(item.header.config)
  return continueFrom(host, job, { ...progress, step: "users", at: 0 })
}

/**
 * Whether the tenant has no conversations. An import into a tenant with conversations would mix two tenants, and could
 * not be undone.
 */
export async function hasNoSessions({ env, content }: LeavingHost, tenant: string): Promise<boolean> {
  const users = content.listUsers(null, MAX_USERS_BEFORE_IMPORT + 1)
  if (users.length > MAX_USERS_BEFORE_IMPORT) return false
  const listed = users.map(({ id: user }) => directoryStub(env, { tenant, user }).listEntries(null, 1))
  return (await Promise.all(listed)).every((entries) => entries.length === 0)
}

function restoreUsers(host: LeavingHost, job: Job, progress: ImportProgress): SliceResult {
  const { storage, content } = host
  const items = new ArchiveItems(storage.sql, job.id).listAfter("user", progress.at, USERS_PER_SLICE)
  const last = items.at(-1)
  if (last === undefined) return continueFrom(host, job, { ...progress, step: "prompts", at: 0 })
  const isNew = new Set<string>()
  storage.transactionSync(() => {
    for (const { header } of items) {
      if (header.type !== "user") continue
      if (content.findUser(header.about.id) === null) isNew.add(header.about.id)
      content.restoreUser(header.about)
    }
  })
  const tally = addTally(job.tally, { users: isNew.size })
  return continueFrom(host, { ...job, tally }, { ...progress, at: last.n })
}

/** Restores saved prompts with one request per user. Repeating a request has no effect. */
async function restorePrompts(host: LeavingHost, job: Job, progress: ImportProgress): Promise<SliceResult> {
  const items = new ArchiveItems(host.storage.sql, job.id).listAfter("prompt", progress.at, PROMPTS_PER_SLICE)
  const last = items.at(-1)
  if (last === undefined) return continueFrom(host, job, { ...progress, step: "sessions", at: 0 })
  const byUser = new Map<string, SavedPrompt[]>()
  for (const { header } of items) {
    if (header.type === "prompt") byUser.set(header.user, [...(byUser.get(header.user) ?? []), header.prompt])
  }
  for (const [user, prompts] of byUser)
    await directoryStub(host.env, { tenant: job.tenant, user }).restorePrompts(prompts)
  return continueFrom(host, job, { ...progress, at: last.n })
}

async function restoreSessions(host: LeavingHost, job: Job, progress: ImportProgress): Promise<SliceResult> {
  const { env, storage, rows, now } = host
  const { id, tenant } = job
  const items = new ArchiveItems(storage.sql, id)
  const sessions = items.listAfter("session", progress.at, SESSIONS_PER_SLICE)
  const budget = { requests: REQUESTS_PER_SLICE }
  let { tally } = job
  let { assets = 0, ...reached } = progress
  for (const { n, header } of sessions) {
    if (header.type !== "session") continue
    if (budget.requests <= 0) break
    const found = items.listSession(header.user, header.session)
    const source = { env, job: id, tenant, from: progress.from, items: found, assets, budget }
    const restored = await restoreSession(source, header)
    if (restored.state === "more" || restored.state === "later") {
      const due = now() + (restored.state === "later" ? FOLDING_POLL_MS : 0)
      return { isDone: false, progress: { ...reached, assets: restored.assets }, tally, due }
    }
    if (restored.state === "done") tally = addTally(tally, restored.tally)
    reached = { ...reached, at: n, skipped: reached.skipped + (restored.state === "refused" ? 1 : 0) }
    assets = 0
    // Progress is stored after each session, so that a restart does not read earlier sessions again.
    rows.saveProgress(id, { progress: reached, tally, due: now(), updated: now() })
  }
  if (sessions.length > 0) return continueFrom(host, { ...job, tally }, reached)
  await deleteTransferFiles(host, job)
  return { isDone: true }
}

function continueFrom({ now }: LeavingHost, { tally }: Job, progress: ImportProgress): SliceResult {
  return { isDone: false, progress, tally, due: now() }
}
