/** archive-download.test.ts: all files of an export are downloaded, checked and saved, one after the other. */

import { createHash } from "node:crypto"
import { describe, expect, test } from "vitest"
import { ArchiveDownload, type ArchiveDownloadDeps } from "../../client/admin/tenant/archive-download.ts"
import { warnBeforeLeaving } from "../../client/admin/tenant/leave-warning.ts"
import { RequestError } from "../../client/net/http-request.ts"

const PARTS = ["one", "two two", "three three three"]
const ITEM = { id: "e1", parts: PARTS.length }
const ALL_NAMES = ["e1-manifest.json", "e1-1.cuecard", "e1-2.cuecard", "e1-3.cuecard"]

const MANIFEST = JSON.stringify({
  format: "cuecard-tenant",
  files: PARTS.map((text, i) => ({
    n: i + 1,
    bytes: text.length,
    sha256: createHash("sha256").update(text).digest("hex"),
  })),
})

/** Creates a server with the files of an export. `answer` can override a file. */
function serveParts(answer: (n: number, attempt: number) => string | Promise<string> | null = () => null) {
  const requests: number[] = []
  const saved: [name: string, text: Blob][] = []
  const deps: ArchiveDownloadDeps = {
    random: () => 1,
    wait: () => Promise.resolve(),
    save: (blob, name) => void saved.push([name, blob]),
    api: {
      async download(path) {
        const n = Number(/^\/v1\/tenant\/exports\/e1\/files\/(\d+)$/.exec(path)?.[1])
        requests.push(n)
        const text = await answer(n, requests.filter((request) => request === n).length)
        return new Blob([text ?? (n === 0 ? MANIFEST : (PARTS[n - 1] ?? ""))])
      },
    },
  }
  return { deps, requests, saved, names: () => saved.map(([name]) => name) }
}

describe("the download of an archive", () => {
  test("[AD12] saves the manifest and each part once, in order, and reports the progress in bytes", async () => {
    const { deps, saved, names } = serveParts()
    const download = new ArchiveDownload()
    const stages: string[] = []
    download.stage.subscribe((stage) => stages.push(stage === null ? "-" : `${stage.doneBytes}/${stage.ofBytes}`))
    expect(await download.start(deps, ITEM)).toBe(true)
    expect(names()).toEqual(ALL_NAMES)
    expect(await Promise.all(saved.map(([, blob]) => blob.text()))).toEqual([MANIFEST, ...PARTS])
    expect([...new Set(stages)]).toEqual(["-", "0/0", "0/27", "3/27", "10/27", "27/27"])
    expect([download.fault.value, download.saved.value]).toEqual([null, 0])
  })

  test("[AD12] requests a damaged or interrupted file again, and continues after the last saved file", async () => {
    let isBroken = true
    const server = serveParts((n, attempt) => {
      if (n === 1 && attempt === 1) return "damaged"
      if (n === 2 && attempt === 1) throw new TypeError("offline")
      return n === 3 && isBroken ? "damaged" : null
    })
    const download = new ArchiveDownload()
    expect(await download.start(server.deps, ITEM)).toBe(false)
    expect(download.fault.value).toBe("Part 3 didn't arrive intact. Try again.")
    expect([server.names(), download.saved.value]).toEqual([ALL_NAMES.slice(0, 3), 3])
    expect(server.requests).toEqual([0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3])
    isBroken = false
    expect(await download.start(server.deps, ITEM)).toBe(true)
    expect([server.names(), server.requests.length]).toEqual([ALL_NAMES, 12])
  })

  test("[AD12] stops at once, even while a file is being downloaded, and shows the reason for a refusal", async () => {
    const download = new ArchiveDownload()
    const hanging = serveParts((n) => (n === 2 ? new Promise<string>(() => {}) : null))
    const running = download.start(hanging.deps, ITEM)
    await expect.poll(() => hanging.requests).toEqual([0, 1, 2])
    download.stop()
    expect(await running).toBe(false)
    expect([download.fault.value, download.stage.value, download.saved.value]).toEqual([null, null, 2])
    const refusing = serveParts(() => {
      throw new RequestError(404, "No such export.", "export_unknown")
    })
    expect(await download.start(refusing.deps, ITEM)).toBe(false)
    expect([download.fault.value, refusing.requests]).toEqual(["No such export.", [2]])
  })
})

test("[AD12] the page asks for confirmation before the user leaves it, but only while files are being transferred", async () => {
  const download = new ArchiveDownload()
  const end = warnBeforeLeaving(() => download.stage.value !== null)
  const isAsked = (): boolean => {
    const leaving = new Event("beforeunload", { cancelable: true })
    dispatchEvent(leaving)
    return leaving.defaultPrevented
  }
  const hanging = serveParts((n) => (n === 1 ? new Promise<string>(() => {}) : null))
  expect(isAsked()).toBe(false)
  const running = download.start(hanging.deps, ITEM)
  await expect.poll(() => hanging.requests).toEqual([0, 1])
  expect(isAsked()).toBe(true)
  download.stop()
  await running
  expect(isAsked()).toBe(false)
  end()
})
