/** tenant-slices.test.ts: tests where a slice of an export or import ends, and what a failed slice leaves behind. */

import { env, runInDurableObject } from "cloudflare:test"
import { expect, test } from "vitest"
import { testInFull } from "../support/seeded.ts"
import type { Env } from "../../worker/env.ts"
import { stagedKey } from "../../worker/leaving/archive-files.ts"
import { REQUESTS_PER_SLICE, runExportSlice } from "../../worker/leaving/export-job.ts"
import { type ImportProgress, runImportSlice } from "../../worker/leaving/import-job.ts"
import { type Job, type JobKind, JobRows } from "../../worker/leaving/job-rows.ts"
import { runDueJobs } from "../../worker/leaving/job-runner.ts"
import type { LeavingHost, RunSlice } from "../../worker/leaving/leaving-host.ts"
import type { ArchiveItem } from "../../worker/leaving/archive-items.ts"
import { restoreSession } from "../../worker/leaving/restore-session.ts"
import { TenantHost } from "../../worker/tenant/tenant-host.ts"
import { ObjectTables } from "../../worker/platform/migrate.ts"
import { createTenantContent } from "../../worker/tenant/tenant-content.ts"
import { watchCalls } from "../support/watch-calls.ts"
import { makeSession } from "./http.ts"
import { call as asks, say, script } from "./session-helpers.ts"
import { askQuestion, downloadFile, exportSession, registerUser, roleToken } from "./tenant-transfer.ts"

const SENDER = { tenant: "slice-from", user: "ada" }
const RECEIVER = { tenant: "slice-to", user: "ada" }

/** Calls `run` with a host that reports each call to another object or to the bucket before it is made. */
async function withHost<T>(
  tenant: string,
  onCall: () => void,
  run: (host: LeavingHost) => Promise<T>,
  media: R2Bucket = env.MEDIA,
): Promise<T> {
  return await runInDurableObject(env.TENANT.getByName(tenant), async (_object, state) => {
    const { storage } = state
    const watchTarget = <O extends object>(target: O): O => watchCalls(target, onCall)
    const byName = (namespace: { getByName: (id: string) => object }) => ({
      getByName: (id: string) => watchTarget(namespace.getByName(id)),
    })
    const watched = {
      ...env,
      SESSION: byName(env.SESSION),
      DIRECTORY: byName(env.DIRECTORY),
      MEDIA: watchTarget(media),
    }
    const rows = new JobRows(storage.sql)
    const content = createTenantContent(new TenantHost(state, env, new ObjectTables(storage, []), () => {}))
    return await run({ env: watched as unknown as Env, storage, rows, content, armAlarm: () => {}, now: Date.now })
  })
}

/** Adds a job that the object's own alarm doesn't run. */
function addJob({ rows }: LeavingHost, id: string, kind: JobKind, tenant: string, progress: object): void {
  const times = { created: 0, expires: null, due: Number.MAX_SAFE_INTEGER }
  rows.add({ id, kind, state: "running", tenant, target: tenant, progress, ...times })
}

/**
 * Returns the number of calls that each slice of a job makes. The first attempt at each slice is stopped at a certain
 * call, which differs between slices; if that attempt fails, the slice is repeated.
 */
async function countCalls(tenant: string, id: string, runSlice: RunSlice): Promise<number[]> {
  const counts: number[] = []
  const attemptJob = async (failAt: number): Promise<boolean> => {
    let calls = 0
    const countCall = (): void => {
      calls += 1
      if (calls >= failAt) throw new Error("a call failed")
    }
    const isDone = await withHost(tenant, countCall, async (host) => {
      const result = await runSlice(host, host.rows.find(id) as Job)
      if (!result.isDone) host.rows.saveProgress(id, { ...result, updated: 0 })
      return result.isDone
    })
    counts.push(calls)
    return isDone
  }
  for (let isDone = false; !isDone; ) {
    const failAt = 40 * (counts.length + 1)
    isDone = await attemptJob(failAt).catch(async () => await attemptJob(Number.POSITIVE_INFINITY))
    expect(counts.length).toBeLessThan(50)
  }
  return counts
}

const fileId = (n: number): string => `file-${String(n).padStart(5, "0")}`

/** Stores files in a conversation directly, because uploads are limited per user. */
async function storeFiles(tenant: string, session: string, count: number, size: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, n) => fileId(n))
  await runInDurableObject(env.SESSION.getByName(`${tenant}:${session}`), (_object, { storage }) => {
    const insert = "INSERT INTO asset (id, state, about, origin, size, created) VALUES (?, 'kept', ?, 'user', ?, 1)"
    for (const id of ids) {
      const about = { id, kind: "file", mime_type: "text/plain", label: `${id}.txt`, size }
      storage.sql.exec(insert, id, JSON.stringify(about), size)
    }
  })
  for (let from = 0; from < count; from += 50) {
    const puts = ids.slice(from, from + 50).map((id) => env.MEDIA.put(`${tenant}/${session}/${id}`, id.padEnd(size)))
    await Promise.all(puts)
  }
}

const findFiles = async (prefix: string): Promise<string[]> =>
  (await env.MEDIA.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length)).sort()

testInFull(
  "[TX2] [TX5] a user's conversation and an agent's, with 300 files each, are exported and imported in several events",
  async () => {
    await registerUser(SENDER.tenant, SENDER.user)
    const token = await roleToken(SENDER.tenant, SENDER.user, "member")
    const session = await makeSession(token, "Wide")
    await askQuestion(
      session,
      token,
      script([asks("agents_message", { agent: "weather", message: "Rain?" })], [say("ok")]),
    )
    const agent = JSON.stringify(await exportSession(session, token)).match(/agent-[0-9a-f]{32}/)?.[0] ?? ""
    for (const id of [session, agent]) await storeFiles(SENDER.tenant, id, 300, 20)
    await withHost(
      SENDER.tenant,
      () => {},
      async (host) => addJob(host, "wide", "export", SENDER.tenant, {}),
    )
    const exported = await countCalls(SENDER.tenant, "wide", runExportSlice)
    expect(exported.length).toBeGreaterThan(1)
    expect(Math.max(...exported)).toBeLessThan(REQUESTS_PER_SLICE + 10)
    const tally = { users: 1, sessions: 1, agent_sessions: 1, files: 600, bytes: 12_000 }
    const { tenant } = RECEIVER
    await registerUser(tenant, "boss", "owner")
    const files = await withHost(
      SENDER.tenant,
      () => {},
      async ({ rows }) => {
        expect(rows.find("wide")?.tally).toEqual(tally)
        return rows.listFiles("wide")
      },
    )
    expect(await findFiles(`${SENDER.tenant}/.exports/wide/`)).toEqual(["0", ...files.map(({ n }) => String(n))].sort())
    const progress: ImportProgress = { step: "index", from: SENDER.tenant, at: 0, skipped: 0, parts: files.length }
    await withHost(
      tenant,
      () => {},
      async (host) => {
        addJob(host, "wide", "import", tenant, progress)
        for (const file of files) host.rows.putFile("wide", file, true)
      },
    )
    for (const { n } of files) {
      const bytes = await (await env.MEDIA.get(`${SENDER.tenant}/.exports/wide/${n}`))?.bytes()
      await env.MEDIA.put(stagedKey(tenant, "wide", n), bytes ?? null)
    }
    const imported = await countCalls(tenant, "wide", runImportSlice)
    expect(Math.max(...imported)).toBeLessThan(REQUESTS_PER_SLICE + 10)
    await withHost(
      tenant,
      () => {},
      async ({ rows }) => expect(rows.find("wide")).toMatchObject({ tally, tries: 0 }),
    )
    const moved = await roleToken(tenant, RECEIVER.user, "member")
    for (const id of [session, agent]) {
      expect(await exportSession(id, moved)).toEqual(await exportSession(id, token))
      expect(await findFiles(`${tenant}/${id}/`)).toEqual(Array.from({ length: 300 }, (_, n) => fileId(n)))
      const last = await env.MEDIA.get(`${tenant}/${id}/${fileId(299)}`)
      expect(await last?.text()).toBe(fileId(299).padEnd(20))
    }
  },
)

test("[TX8] a transcript that needs more requests than a slice may make is imported part by part", async () => {
  const sender = { tenant: "parts-from", user: "ada" }
  const receiver = { tenant: "parts-to", user: "ada" }
  for (const { tenant, user } of [sender, receiver]) await registerUser(tenant, user)
  const token = await roleToken(sender.tenant, sender.user, "member")
  const session = await makeSession(token, "Long")
  for (const text of ["one", "two", "three"]) await askQuestion(session, token, `/say ${text}`)
  const described = await env.SESSION.getByName(`${sender.tenant}:${session}`).describe(sender)
  if (!described.ok) throw new Error("the session cannot be described")
  const { asks: _asks, ...about } = described.value
  const file = await downloadFile(`/v1/sessions/${session}/events`, token)
  await env.MEDIA.put(stagedKey(receiver.tenant, "parts", 1), file)
  const place = { user: sender.user, session }
  // Treat each line as a piece, as if it were half a megabyte long.
  let start = 0
  const items = splitLines(file).map((line, n): ArchiveItem => {
    const item = { n, header: { type: "transcript", ...place }, file: 1, start, bytes: line.byteLength } as const
    start += line.byteLength
    return item
  })
  expect(items.length).toBeGreaterThan(8)
  const partBytes = Math.ceil(file.byteLength / 4)
  const states: string[] = []
  const counts: number[] = []
  const head = {
    type: "session",
    ...place,
    about,
    listed: { id: session, title: "Long", created: 1, active: 1 },
  } as const
  while (!states.includes("done") && states.length < 50) {
    let calls = 0
    const countCall = (): void => {
      calls += 1
    }
    const budget = { requests: 7 }
    const { state } = await withHost(receiver.tenant, countCall, async (host) =>
      restoreSession(
        { env: host.env, job: "parts", ...receiver, from: sender.tenant, items, assets: 0, budget, partBytes },
        head,
      ),
    )
    states.push(state)
    counts.push(calls)
  }
  expect(states.filter((state) => state === "more").length).toBeGreaterThan(1)
  expect(states.at(-1)).toBe("done")
  const longestPart = 10
  expect(Math.max(...counts)).toBeLessThan(7 + longestPart + 3)
  const moved = await roleToken(receiver.tenant, receiver.user, "member")
  expect(await exportSession(session, moved)).toEqual(await exportSession(session, token))
})

function splitLines(file: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = []
  for (let at = 0; at < file.byteLength; ) {
    const end = file.indexOf(0x0a, at)
    const next = end < 0 ? file.byteLength : end + 1
    lines.push(file.subarray(at, next))
    at = next
  }
  return lines
}

test("[TX2] [TX12] a slice that fails after writing a file is counted, and its file is written once", async () => {
  const tenant = "slice-fails"
  await registerUser(tenant, "ada")
  const token = await roleToken(tenant, "ada", "member")
  const session = await makeSession(token, "Large")
  await storeFiles(tenant, session, 2, 9 * 1024 * 1024)
  const bad = `${tenant}/${session}/${fileId(1)}`
  const media = new Proxy(env.MEDIA, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== "function") return value
      return (...args: unknown[]) => {
        if (name === "get" && args[0] === bad) throw new Error("the bucket failed")
        return Reflect.apply(value, target, args)
      }
    },
  })
  const runOnce = async (bucket: R2Bucket): Promise<[Job | null, number]> => {
    const runStep = async (host: LeavingHost): Promise<[Job | null, number]> => {
      host.storage.sql.exec("UPDATE job SET due = 0")
      await runDueJobs(host)
      host.storage.sql.exec("UPDATE job SET due = ?", Number.MAX_SAFE_INTEGER)
      return [host.rows.find("large"), host.rows.countFiles("large")]
    }
    return await withHost(tenant, () => {}, runStep, bucket)
  }
  const startExport = async (host: LeavingHost): Promise<void> => {
    addJob(host, "large", "export", tenant, {})
    host.storage.sql.exec("UPDATE job SET updated = ?", Date.now() - 60_000)
  }
  await withHost(tenant, () => {}, startExport)
  const updated = (
    await withHost(
      tenant,
      () => {},
      async ({ rows }) => rows.find("large"),
    )
  )?.updated
  for (const tries of [1, 2, 3]) {
    const [job, files] = await runOnce(media)
    expect(job).toMatchObject({ state: "running", tries, updated })
    expect(files).toBe(1)
  }
  expect((await runOnce(env.MEDIA))[0]).toMatchObject({ state: "done", tally: { sessions: 1, files: 2 } })
  const keys = await findFiles(`${tenant}/.exports/large/`)
  expect(keys).toEqual(["0", "1", "2", "3"].slice(0, keys.length))
  const parts = keys.slice(1).map(async (key) => await (await env.MEDIA.get(`${tenant}/.exports/large/${key}`))?.text())
  const text = (await Promise.all(parts)).join("")
  expect(text.match(/"type":"session"/g)).toHaveLength(1)
})
