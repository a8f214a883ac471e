/**
 * consumer.test.ts: packs the package, unpacks it into another project's node_modules, and runs that project's tests.
 * This checks the published files and exports without a network.
 */

import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"

const HERE = fileURLToPath(new URL(".", import.meta.url))
const ROOT = fileURLToPath(new URL("../..", import.meta.url))

let base = ""
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), "cuecard-consumer-"))
  const app = join(base, "app")
  mkdirSync(join(app, "node_modules/cuecard"), { recursive: true })
  for (const file of ["package.json", "chat.test.js", "typed.ts"]) copyFileSync(join(HERE, file), join(app, file))
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", base], { cwd: ROOT })
  const packed = readdirSync(base).find((name) => name.endsWith(".tgz")) ?? ""
  execFileSync("tar", ["-xzf", join(base, packed), "--strip-components=1", "-C", join(app, "node_modules/cuecard")])
  // Node finds the package's dependencies in the parent folder.
  symlinkSync(join(ROOT, "node_modules"), join(base, "node_modules"))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

test("[TE1] [TE12] a consumer's tests pass with only the packed files of `cuecard`, `cuecard/client` and `cuecard/testing`", () => {
  const unpacked = join(base, "app/node_modules/cuecard")
  expect(existsSync(join(unpacked, "dist/testing/index.js"))).toBe(true)
  expect(existsSync(join(unpacked, "dist/testing/types/testing/index.d.ts"))).toBe(true)
  expect(existsSync(join(unpacked, "worker"))).toBe(false)
  const output = execFileSync(process.execPath, ["--test"], { cwd: join(base, "app"), encoding: "utf8" })
  expect(output).toMatch(/pass 4/)
  expect(output).toMatch(/fail 0/)
})

test("[TE1] `cuecard/testing` has types for a consumer's TypeScript code", () => {
  const options = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--target",
    "es2023",
    "--types",
    "node",
  ]
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc")
  execFileSync(process.execPath, [tsc, ...options, "typed.ts"], { cwd: join(base, "app"), encoding: "utf8" })
})
