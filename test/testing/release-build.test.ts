/** release-build.test.ts: tests the conditions under which tests with earlier releases are skipped. */

import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { findSkipReason, formatTotals } from "../../scripts/check-totals.ts"
import { lacksCommit } from "../support/release-build.ts"

const COMMIT = "1".repeat(40)

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cuecard-release-"))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
  vi.restoreAllMocks()
})

function runGit(...args: string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
  return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8" })
}

test("[DP8] [DP9] without a history, no tests with earlier releases run", () => {
  expect(lacksCommit(COMMIT, folder)).toBe(true)
})

test("[DP8] [DP9] a note is printed for a clone that lacks the release", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue()
  runGit("init", "--quiet")
  runGit("commit", "--quiet", "--allow-empty", "--message=one")
  expect(lacksCommit(runGit("rev-parse", "HEAD").trim(), folder)).toBe(false)
  expect(lacksCommit(COMMIT, folder)).toBe(true)
  expect(warn).toHaveBeenCalledOnce()
})

test("[DP7] [DP8] the last line of a check states how many checks were skipped, if any", () => {
  const step = { passed: 3, failed: 0, skipped: 0 }
  expect(formatTotals([step, { ...step, failed: 1 }])).toBe("6 passed, 1 failed")
  expect(formatTotals([step, { passed: 0, failed: 0, skipped: 4 }])).toBe("3 passed, 0 failed, 4 skipped")
  expect(findSkipReason("No commit mixes a migration with other code.\n")).toBeNull()
  expect(findSkipReason("\nNot checked: this clone is shallow.\n")).toBe("Not checked: this clone is shallow.")
})
