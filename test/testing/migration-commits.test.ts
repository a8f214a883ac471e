/**
 * migration-commits.test.ts: tests the rule that a migration must be a separate commit, with small Git repositories.
 */

import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { findBoundNewClasses, findMixedCommits } from "../../scripts/release/migration-commits.ts"

const CONFIG = `name = "cuecard"

[durable_objects]
bindings = [
  { name = "SESSION", class_name = "Session" },
]

[[migrations]]
tag = "v3"
new_sqlite_classes = ["Session"]
`
const NEW_MIGRATION = `
# Counts what users use.
[[migrations]]
tag = "v4"
new_sqlite_classes = ["Meter"]
`
const INDEX = `export { Session } from "./session.ts"\n\nconst app = 1\nexport default app\n`
const NEW_CLASS = "export class Meter {}\n"
const EXPORTED = INDEX.replace("\n\n", '\nexport { Meter } from "./meter.ts"\n\n')
const BOUND = CONFIG.replace("\n]", '\n  { name = "METER", class_name = "Meter" },\n]')

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "cuecard-migrations-"))
  runGit("init", "--quiet", "--initial-branch=main")
  commitFiles({ "wrangler.toml": CONFIG, "worker/index.ts": INDEX, "worker/session.ts": "1\n", "docs/a.md": "a\n" })
})
afterEach(() => rmSync(folder, { recursive: true }))

function runGit(...args: string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
  return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8" })
}

function writeFiles(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

function commitFiles(files: Readonly<Record<string, string>>): void {
  writeFiles(files)
  runGit("add", "--all")
  runGit("commit", "--quiet", "--message=one")
}

function findReasons(): string[] | undefined {
  const found = findMixedCommits(folder)
  return found === "shallow" ? [found] : found?.flatMap((mixed) => mixed.reasons)
}

const ALONE = {
  "wrangler.toml": CONFIG + NEW_MIGRATION,
  "worker/index.ts": EXPORTED,
  "worker/meter.ts": NEW_CLASS,
}

describe("a commit with a new migration", () => {
  test("[DP7] may add its class, export it, and change documents and tests", () => {
    commitFiles({
      ...ALONE,
      "docs/a.md": "b\n",
      "test/meter.test.ts": "1\n",
      "CHANGELOG.md": "c\n",
      "worker/README.md": "d\n",
    })
    expect(findMixedCommits(folder)).toEqual([])
    // Later commits may use the class.
    commitFiles({ "wrangler.toml": BOUND + NEW_MIGRATION, "worker/session.ts": "env.METER\n" })
    expect(findMixedCommits(folder)).toEqual([])
  })

  test("[DP7] must not bind the class", () => {
    commitFiles({ ...ALONE, "wrangler.toml": BOUND + NEW_MIGRATION })
    expect(findReasons()).toEqual(["wrangler.toml changes more than its migrations: add bindings later"])
  })

  test("[DP7] must not change other code, in the Worker, the page, what they share, or the dependencies", () => {
    for (const file of ["worker/session.ts", "client/app.tsx", "shared/limits.ts", "index.html", "package-lock.json"]) {
      runGit("checkout", "--quiet", "-B", "other", "main")
      commitFiles({ [file]: "before\n" })
      commitFiles({ ...ALONE, [file]: "after\n" })
      expect(findReasons(), file).toEqual([`${file} is changed`])
    }
  })

  test("[DP7] must not change the entry beyond the export", () => {
    commitFiles({ ...ALONE, "worker/index.ts": EXPORTED.replace("app = 1", "app = 2") })
    expect(findReasons()).toEqual(["worker/index.ts changes more than its class exports"])
  })

  test("[DP7] is checked before it is committed, and long afterwards, even on a merged branch", () => {
    writeFiles({ ...ALONE, "worker/session.ts": "env.METER\n" })
    runGit("add", "--all")
    expect(findMixedCommits(folder)).toEqual([
      { commit: "the working tree", tags: ["v4"], reasons: ["worker/session.ts is changed"] },
    ])
    runGit("checkout", "--quiet", "-b", "feature")
    commitFiles({})
    const bad = runGit("rev-parse", "HEAD").trim()
    runGit("checkout", "--quiet", "main")
    commitFiles({ "docs/a.md": "other\n" })
    runGit("merge", "--quiet", "--no-ff", "--no-edit", "feature")
    commitFiles({ "docs/a.md": "later\n" })
    expect(findMixedCommits(folder)).toMatchObject([{ commit: bad }])
  })

  test("[DP7] a removed class is a migration too, and migrations from before the rule are not checked", () => {
    const removal = `\n[[migrations]]\ntag = "v5"\ndeleted_classes = ["Session"]\n`
    commitFiles({ "wrangler.toml": CONFIG + removal, "worker/session.ts": "2\n" })
    expect(findReasons()).toEqual(["worker/session.ts is changed"])
    runGit("checkout", "--quiet", "-B", "old", "HEAD~1")
    commitFiles({ "wrangler.toml": CONFIG.replaceAll("v3", "v2") })
    commitFiles({ "wrangler.toml": CONFIG, "worker/session.ts": "3\n" })
    expect(findMixedCommits(folder)).toEqual([])
  })

  test("[DP7] the command names the commit and fails; in a shallow clone or without a history, it states that nothing was checked", () => {
    const runCheck = (cwd: string): { code: number; text: string } => {
      try {
        const options = { cwd, encoding: "utf8", stdio: "pipe" } as const
        return {
          code: 0,
          text: execFileSync(process.execPath, [resolve("scripts/release/check-migrations.ts")], options),
        }
      } catch (error) {
        const { status, stderr } = error as { status: number; stderr: string }
        return { code: status, text: stderr }
      }
    }
    expect(runCheck(folder)).toMatchObject({ code: 0 })
    commitFiles({ ...ALONE, "worker/session.ts": "2\n" })
    expect(runCheck(folder)).toMatchObject({ code: 1, text: expect.stringContaining("adds the migration v4") })
    const shallow = mkdtempSync(join(tmpdir(), "cuecard-shallow-"))
    runGit("clone", "--quiet", "--depth=1", `file://${folder}`, shallow)
    expect(runCheck(shallow)).toMatchObject({ code: 0, text: expect.stringContaining("git fetch --unshallow") })
    rmSync(shallow, { recursive: true })
    const empty = mkdtempSync(join(tmpdir(), "cuecard-no-git-"))
    expect(runCheck(empty)).toMatchObject({ code: 0, text: expect.stringContaining("Not checked") })
    rmSync(empty, { recursive: true })
  })
})

describe("a deploy with a new migration", () => {
  const migrations = [
    { tag: "v3", new_sqlite_classes: ["Registry"] },
    { tag: "v4", new_sqlite_classes: ["Meter"] },
  ]
  const bindClasses = (...names: string[]) => ({ bindings: names.map((class_name) => ({ class_name })) })

  test("[DP7] is refused while the code has a binding to the new class, unless it is the first one", () => {
    const mixed = { migrations, durable_objects: bindClasses("Registry", "Meter") }
    expect(findBoundNewClasses(mixed, "v3")).toEqual(["Meter"])
    expect(findBoundNewClasses(mixed, "v4")).toEqual([])
    expect(findBoundNewClasses(mixed, null)).toEqual([])
    expect(findBoundNewClasses({ migrations, durable_objects: bindClasses("Registry") }, "v3")).toEqual([])
    // Update a deployment of 0.1.0.
    expect(
      findBoundNewClasses({ migrations: migrations.slice(0, 1), durable_objects: bindClasses("Registry") }, "v2"),
    ).toEqual([])
  })
})
