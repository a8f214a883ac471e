/** archive-upload.test.ts: an archive is found among the chosen files, and uploaded part by part. */

import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { ArchiveUpload, type ArchiveUploadDeps, IMPORTS_PATH } from "../../client/admin/tenant/archive-upload.ts"
import type { TenantImport } from "../../shared/protocol/http-body.ts"
import { importsText } from "../../client/words/admin-text.ts"

const createContents = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `part ${i + 1}`.repeat(i + 1))
const hashText = (text: string): string => createHash("sha256").update(text).digest("hex")

function manifestOf(parts: readonly string[], created = 1): string {
  const files = parts.map((text, i) => ({ n: i + 1, bytes: text.length, sha256: hashText(text) }))
  return JSON.stringify({ format: "cuecard-tenant", version: 1, tenant: "other", created, files, seal: "s" })
}

const archiveOf = (parts: readonly string[]): File[] => [
  new File([manifestOf(parts)], "manifest.json"),
  ...parts.map((text, i) => new File([text], `x-${i + 1}.cuecard`)),
]

const NO_TALLY = { users: 0, sessions: 0, agent_sessions: 0, files: 0, bytes: 0 }

/**
 * Creates a server with one import that accepts only the parts that the manifest names. `fail` can override a response.
 */
function serveParts(parts: readonly string[], fail: (path: string, attempt: number) => Response | null = () => null) {
  const missing = new Set(parts.map((_, i) => i + 1))
  const requests: string[] = []
  const createView = (): TenantImport => ({
    id: "i",
    created: 0,
    updated: 0,
    tally: NO_TALLY,
    fault: null,
    state: missing.size === 0 ? "running" : "uploading",
    from: "other",
    parts: parts.length,
    missing: [...missing].slice(0, 3),
    skipped: 0,
  })
  const deps: ArchiveUploadDeps = {
    random: () => 1,
    wait: () => Promise.resolve(),
    api: {
      async fetchAuthorized(path, init = {}) {
        const request = `${init.method ?? "GET"} ${path}`
        requests.push(request)
        const failed = fail(path, requests.filter((known) => known === request).length)
        if (failed !== null) return failed
        const n = Number(/files\/(\d+)$/.exec(path)?.[1])
        if (init.method === "PUT" && (await new Response(init.body).text()) === parts[n - 1]) missing.delete(n)
        return Response.json(createView())
      },
    },
  }
  return { deps, requests, missing }
}

const createBusyResponse = (): Response => Response.json({ code: "busy", text: "Busy." }, { status: 503 })

describe("the upload of an archive", () => {
  test("[AD9] finds the parts by their content, whatever their names and order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.infiniteStream(fc.nat()), async (count, order) => {
        const parts = createContents(count)
        const files = [...archiveOf(parts), new File(["notes"], "1.cuecard")]
          .map((file) => ({ file, at: order.next().value ?? 0 }))
          .sort((a, b) => a.at - b.at)
          .map(({ file }, i) => new File([file], `${i}`))
        const { deps, requests, missing } = serveParts(parts)
        const upload = new ArchiveUpload()
        await upload.start(deps, files, null)
        expect(upload.fault.value).toBe(null)
        expect([...missing]).toEqual([])
        const puts = parts.map((_, i) => `PUT ${IMPORTS_PATH}/i/files/${i + 1}`)
        expect(requests).toEqual(["POST /v1/tenant/import", ...puts])
      }),
      { numRuns: 30 },
    )
  })

  test("[AD9] doesn't start an import if the manifest or a part is missing, and says which one", async () => {
    const [manifest, one, , three] = archiveOf(createContents(3)) as [File, File, File, File]
    const other = new File([manifestOf(createContents(3), 2)], "another.json")
    const cases: [files: File[], text: string][] = [
      [[one, three], importsText.manifestMissing],
      [[manifest, other, one, three], importsText.severalArchives],
      [[manifest, one, three], "Missing: part 2. Choose the manifest and all parts together."],
      [[manifest], "Missing: part 1, part 2, part 3. Choose the manifest and all parts together."],
      [[new File(["{}"], "manifest.json"), one], importsText.manifestMissing],
      [[new File(['{"format":"cuecard-tenant","files":[{}]}'], "a"), one], importsText.manifestMissing],
    ]
    for (const [files, text] of cases) {
      const { deps, requests } = serveParts(createContents(3))
      const upload = new ArchiveUpload()
      await upload.start(deps, files, null)
      expect(upload.fault.value).toBe(text)
      expect(requests).toEqual([])
      expect(upload.stage.value).toBe(null)
    }
  })

  test("[AD9] retries a part while the server is busy or unreachable, and stops after a refusal", async () => {
    const parts = createContents(3)
    const flaky = serveParts(parts, (path, attempt) => {
      if (!path.endsWith("/2") || attempt > 4) return null
      if (attempt % 2 === 0) throw new TypeError("offline")
      return createBusyResponse()
    })
    const upload = new ArchiveUpload()
    await upload.start(flaky.deps, archiveOf(parts), null)
    expect(upload.fault.value).toBe(null)
    expect(flaky.missing.size).toBe(0)
    const refusal = Response.json({ code: "archive_refused", text: "Not this file." }, { status: 422 })
    const refusing = serveParts(parts, (path) => (path.endsWith("/2") ? refusal.clone() : null))
    await upload.start(refusing.deps, archiveOf(parts), null)
    expect(upload.fault.value).toBe("Not this file.")
    expect(refusing.requests.length).toBe(3)
    expect(upload.importId.value).toBe("i")
  })

  test("[AD9] resumes an import with the missing parts, and only from the same archive", async () => {
    const parts = createContents(5)
    const { deps, requests, missing } = serveParts(parts)
    missing.delete(1)
    missing.delete(2)
    const upload = new ArchiveUpload()
    await upload.start(deps, archiveOf(parts), "i")
    expect(requests).toEqual([`GET ${IMPORTS_PATH}/i`, ...[3, 4, 5].map((n) => `PUT ${IMPORTS_PATH}/i/files/${n}`)])
    const other = serveParts(parts)
    await upload.start(other.deps, archiveOf([]), "i")
    expect(upload.fault.value).toBe(importsText.otherArchive)
  })

  test("[AD9] shows no error after it has been stopped", async () => {
    const parts = createContents(4)
    const upload = new ArchiveUpload()
    const { deps, requests } = serveParts(parts, (path) => {
      if (path.endsWith("/2")) upload.stop()
      return path.endsWith("/2") ? createBusyResponse() : null
    })
    const waitForever = (): Promise<void> => new Promise(() => {})
    await upload.start({ ...deps, wait: waitForever }, archiveOf(parts), null)
    expect(upload.fault.value).toBe(null)
    expect(upload.stage.value).toBe(null)
    expect(requests.at(-1)).toBe(`PUT ${IMPORTS_PATH}/i/files/2`)
  })
})
