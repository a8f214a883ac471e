/** build-state.test.ts: tests when `npm start` has to build again. */

import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import process from "node:process"
import { afterEach, beforeEach, expect, test } from "vitest"

const PRINT = `import(${JSON.stringify(resolve("scripts/build-state.ts"))}).then((m) => console.log(m.isBuilt()))`
const VARS = "AUTH=jwt\n"

let project = ""

function writeProjectFile(path: string, text: string): void {
  const file = join(project, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function isBuilt(): boolean {
  return execFileSync(process.execPath, ["-e", PRINT], { cwd: project, encoding: "utf8" }).trim() === "true"
}

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "cuecard-build-"))
  writeProjectFile("dist/client/index.html", "")
  writeProjectFile("dist/cuecard/wrangler.json", JSON.stringify({ vars: { ENVIRONMENT: "local" } }))
})

afterEach(() => rmSync(project, { recursive: true, force: true }))

test("[DP11] a build without variables stays valid until .dev.vars is added", () => {
  expect(isBuilt()).toBe(true)
  writeProjectFile(".dev.vars", VARS)
  expect(isBuilt()).toBe(false)
})

test("[DP11] a build with variables is valid only as long as .dev.vars exists", () => {
  writeProjectFile(".dev.vars", VARS)
  writeProjectFile("dist/cuecard/.dev.vars", VARS)
  writeProjectFile("dist/cuecard/wrangler.json", JSON.stringify({ vars: { ENVIRONMENT: "local" } }))
  expect(isBuilt()).toBe(true)
  rmSync(join(project, ".dev.vars"))
  expect(isBuilt()).toBe(false)
})

test("[DP11] a production build is never served", () => {
  writeProjectFile("dist/cuecard/wrangler.json", JSON.stringify({ vars: { ENVIRONMENT: "production" } }))
  expect(isBuilt()).toBe(false)
})

test.each([
  ...["shared/a.ts", "worker/a.ts", "client/a.ts", "widget/a.ts", "public/a.js", "scripts/bundling/a.ts"],
  ...["index.html", "admin.html", "share.html", "embed.html", "wrangler.toml", "vite.config.ts"],
])("[DP11] a build is not valid once %s has changed", (path) => {
  writeProjectFile(path, "")
  utimesSync(join(project, path), 1, 1)
  // Adding the file also changed its folder's modification time.
  utimesSync(dirname(join(project, path)), 1, 1)
  expect(isBuilt()).toBe(true)
  const { mtimeMs } = statSync(join(project, "dist/cuecard/wrangler.json"))
  utimesSync(join(project, path), mtimeMs / 1000 + 1, mtimeMs / 1000 + 1)
  expect(isBuilt()).toBe(false)
})
