/** release-build.test.ts: the conditions under which tests with earlier releases are skipped. */

import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
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

function git(...args: string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
  return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8" })
}

test("[DP8] [DP9] without a history, no tests with earlier releases run", () => {
  expect(lacksCommit(COMMIT, folder)).toBe(true)
})

test("[DP8] [DP9] a clone that lacks the release says so", () => {
  const warn = vi.spyOn(console, "warn").mockReturnValue()
  git("init", "--quiet")
  git("commit", "--quiet", "--allow-empty", "--message=one")
  expect(lacksCommit(git("rev-parse", "HEAD").trim(), folder)).toBe(false)
  expect(lacksCommit(COMMIT, folder)).toBe(true)
  expect(warn).toHaveBeenCalledOnce()
})
