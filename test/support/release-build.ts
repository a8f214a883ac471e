/**
 * release-build.ts: builds the Worker of an earlier commit once, and caches the build in node_modules/.cache.
 */

import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { join, resolve } from "node:path"
import process from "node:process"
import { type Build, readBuild } from "../../testing/built-worker.ts"

/** Version 0.1.0. Its page speaks an older protocol, and the methods of its objects differ from the current ones. */
export const RELEASED = "8b318afed0e3c39ce6e5d662f835780357e27201"
/**
 * The last commit before usage, limits and budgets were stored. It speaks the current page's protocol, and its objects
 * have the methods that the current Worker calls. The next release will replace this commit.
 */
export const SAME_CALLS = "af58c989ccdae561ff2ef7b34a6f8eb09d6ca1b1"

const CACHE = resolve("node_modules/.cache/cuecard/releases")

/**
 * Returns whether tests that need the commit must be skipped, because this copy of the files has no Git history or is a
 * shallow clone without the commit. For a clone, also prints a note, because the commit can be fetched.
 */
export function lacksCommit(commit: string, cwd = process.cwd()): boolean {
  const succeeds = (...args: string[]): boolean => spawnSync("git", args, { cwd, stdio: "ignore" }).status === 0
  if (succeeds("cat-file", "-e", `${commit}^{commit}`)) return false
  if (succeeds("rev-parse", "--verify", "HEAD"))
    console.warn(`Not tested: this clone lacks commit ${commit}. Fetch it with \`git fetch --unshallow\`.`)
  return true
}

/**
 * Builds a commit with the current dependencies, which takes about 5 s unless the build is cached. Throws if the build
 * fails.
 */
export function buildRelease(commit: string): Build {
  const folder = join(CACHE, commit)
  if (!existsSync(folder)) {
    mkdirSync(CACHE, { recursive: true })
    const draft = mkdtempSync(`${folder}-`)
    execFileSync("sh", ["-c", 'git archive "$1" | tar -x -C "$2"', "sh", commit, draft])
    symlinkSync(resolve("node_modules"), join(draft, "node_modules"))
    // A test run sets variables that would change the build.
    const { NODE_ENV: _, VITEST: __, CLOUDFLARE_ENV: ___, ...env } = process.env
    const vite = "node_modules/vite/bin/vite.js"
    execFileSync(process.execPath, [vite, "build"], { cwd: draft, env, stdio: "pipe" })
    // Another process may have finished first.
    if (existsSync(folder)) rmSync(draft, { recursive: true })
    else renameSync(draft, folder)
  }
  return readBuild(join(folder, "dist/"))
}
