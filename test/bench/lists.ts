/**
 * lists.ts: measures the time and bytes of the first and the last page of a tenant's users and of a user's sessions,
 * with 100 and with 100,000 entries.
 *
 * The rows are written into the database of the stopped server. The tests for US3 and DI4 in test/worker count the rows
 * read, with the same tables in workerd.
 */

import { readdirSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type Cuecard, startCuecard } from "cuecard/testing"
import { formatKb, median, formatMs } from "./measure.ts"
import type { Row } from "./table.ts"

const SIZES = [100, 100_000] as const
const RUNS = 41

const NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
const FILL_USERS = `${NUMBERS} INSERT INTO users (id, role, created) SELECT printf('u%08d', i), 'member', i FROM n`
const FILL_SESSIONS = `${NUMBERS} INSERT INTO sessions (id, title, created, active)
  SELECT printf('s%08d', i), 'A conversation about the weather', i, i FROM n`

/** Runs a statement in the database that contains the given table. The database must not be in use. */
function fillTable(persist: string, table: string, statement: string, size: number): void {
  const folder = readdirSync(persist, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".sqlite"))
  for (const path of folder) {
    const database = new DatabaseSync(join(persist, path))
    const found = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
    // Only one kind of object has a table of this name.
    if (found !== undefined) database.prepare(statement).run(size)
    database.close()
  }
}

interface Page {
  readonly ms: number
  readonly bytes: number
}

async function readList({ url }: Cuecard, path: string, token: string): Promise<Page> {
  const started = performance.now()
  const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${text}`)
  return { ms: performance.now() - started, bytes: Buffer.byteLength(text) }
}

const describePages = (pages: readonly Page[]): string =>
  `${formatMs(median(pages.map((page) => page.ms)))}, ${formatKb(pages[0]?.bytes ?? 0)}`

async function benchSize(size: number): Promise<Row[]> {
  const persist = await mkdtemp(join(tmpdir(), "cuecard-lists-"))
  try {
    const before = await startCuecard({ port: 0, persist })
    await before.createSession()
    await before.close()
    fillTable(persist, "users", FILL_USERS, size)
    fillTable(persist, "sessions", FILL_SESSIONS, size)
    const cuecard = await startCuecard({ port: 0, persist })
    const owner = await ownerToken(cuecard)
    const lastUsers = `u${String(size - 90).padStart(8, "0")}`
    const rows: Row[] = []
    for (const [what, path, token] of [
      ["first page of the users", "/v1/users", owner],
      ["last page of the users", `/v1/users?after=${lastUsers}`, owner],
      ["first page of the sessions", "/v1/sessions", cuecard.token],
      ["last page of the sessions", "/v1/sessions?after=95.95.s00000095", cuecard.token],
    ] as const) {
      const pages: Page[] = []
      for (let run = -5; run < RUNS; run += 1) {
        const page = await readList(cuecard, path, token)
        if (run >= 0) pages.push(page)
      }
      rows.push({
        what: `${what}, of ${size.toLocaleString("en")}`,
        ours: describePages(pages),
        goal: "flat",
        floor: "",
        peer: "",
      })
    }
    await cuecard.close()
    return rows
  } finally {
    await rm(persist, { recursive: true, force: true })
  }
}

/** Returns an owner's token. With AUTH=dev, the page's token may have any role. */
async function ownerToken({ url }: Cuecard): Promise<string> {
  const headers = { "content-type": "application/json" }
  const body = JSON.stringify({ user: "boss", role: "owner" })
  const response = await fetch(new URL("/v1/dev/token", url), { method: "POST", headers, body })
  return ((await response.json()) as { token: string }).token
}

export async function benchLists(): Promise<Row[]> {
  const bySize = [await benchSize(SIZES[0]), await benchSize(SIZES[1])]
  return (bySize[0] ?? []).flatMap((row, i) => [row, ...(bySize[1]?.[i] === undefined ? [] : [bySize[1][i]])])
}
