/**
 * migration-commits.ts: finds commits that mix a new Durable Object migration with code that uses it.
 *
 * A version with a migration gets all of the traffic at once, and cannot be rolled back. So the commit that adds a
 * migration must not change anything else that is deployed, except that it may add the class (new files, and an export
 * in worker/index.ts). It must not add a binding or touch any other existing file. The code that uses the class must
 * follow in a later commit and a later deploy.
 */

import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const CONFIG = "wrangler.toml"
const ENTRY = "worker/index.ts"

/** The deployed files. Documents, tests and scripts may change together with a migration. */
const DEPLOYED =
  /^(?:shared|worker|client|public)\/(?!.*\.md$)|^(?:index|admin)\.html$|^vite\.config\.ts$|^package-lock\.json$/

/** Migrations that were deployed before this rule was introduced. */
export const EARLIER_TAGS: ReadonlySet<string> = new Set(["v1", "v2", "v3"])

type Git = (...args: string[]) => string

/** A state of the files: a commit, or null for the working tree. */
type State = string | null

export interface MixedCommit {
  /** The commit, or `the working tree`. */
  readonly commit: string
  readonly tags: readonly string[]
  readonly reasons: readonly string[]
}

/**
 * Returns all mixed commits in the history of HEAD, and the working tree if committing it would create one. Null if the
 * folder has no history. `shallow`: the folder has only part of the history, so nothing was checked. Throws if git
 * fails otherwise.
 */
export function findMixedCommits(root: string): MixedCommit[] | "shallow" | null {
  const runGit: Git = (...args) =>
    execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 2 ** 26 })
  try {
    runGit("rev-parse", "--verify", "HEAD")
  } catch {
    return null
  }
  if (runGit("rev-parse", "--is-shallow-repository").trim() === "true") return "shallow"
  const folderConfig = readFileSync(join(root, CONFIG), "utf8")
  // The commits of a merge are checked one by one.
  const commits = runGit("log", "--format=%H %P", "--no-merges", "--", CONFIG).split("\n").filter(Boolean)
  const steps: [State, string][] = commits.flatMap((line) => {
    const [commit = "", parent] = line.split(" ")
    return parent === undefined || parent === "" ? [] : [[commit, parent] as [State, string]]
  })
  return [[null, "HEAD"] as [State, string], ...steps].flatMap(([state, parent]) => {
    const found = checkStep(runGit, folderConfig, state, parent)
    return found === null ? [] : [found]
  })
}

function checkStep(git: Git, folderConfig: string, state: State, parent: string): MixedCommit | null {
  const range = state === null ? [parent] : [parent, state]
  const before = readConfig(showConfig(git, parent))
  const after = readConfig(state === null ? folderConfig : showConfig(git, state))
  const tags = after.tags.filter((tag) => !before.tags.includes(tag) && !EARLIER_TAGS.has(tag))
  if (tags.length === 0) return null
  const reasons: string[] = []
  if (after.rest !== before.rest) reasons.push(`${CONFIG} changes more than its migrations: add bindings later`)
  for (const line of git("diff", "--name-status", "--no-renames", ...range)
    .split("\n")
    .filter(Boolean)) {
    const [status = "", file = ""] = line.split("\t")
    if (!DEPLOYED.test(file) || status !== "M") continue
    if (file !== ENTRY) reasons.push(`${file} is changed`)
    else if (!changesOnlyExports(git("diff", "--unified=0", ...range, "--", file)))
      reasons.push(`${file} changes more than its class exports`)
  }
  return reasons.length === 0 ? null : { commit: state ?? "the working tree", tags, reasons }
}

/** Returns the configuration of a state; empty if there is none. */
function showConfig(git: Git, commit: string): string {
  return git("ls-tree", "--name-only", commit, "--", CONFIG) === "" ? "" : git("show", `${commit}:${CONFIG}`)
}

/** Returns the tags of the migrations, and all other tables without comments. */
export function readConfig(toml: string): { readonly tags: readonly string[]; readonly rest: string } {
  const lines = toml.split("\n").flatMap((line) => {
    const text = line.replace(/^\s*#.*$/, "").trim()
    return text === "" ? [] : [text]
  })
  const tags: string[] = []
  const rest: string[] = []
  let isMigration = false
  for (const line of lines) {
    if (line.startsWith("[")) isMigration = /^\[\[\s*(?:env\.[\w-]+\.)?migrations\s*\]\]/.test(line)
    if (!isMigration) rest.push(line)
    const tag = isMigration ? /^tag\s*=\s*"([^"]*)"/.exec(line)?.[1] : undefined
    if (tag !== undefined) tags.push(tag)
  }
  return { tags, rest: rest.join("\n") }
}

function changesOnlyExports(diff: string): boolean {
  return diff
    .split("\n")
    .filter((line) => /^[+-](?![+-]{2} )/.test(line))
    .every((line) => /^[+-]\s*(?:\/\/.*|export \{ [\w, ]+ \} from "[^"]+")?$/.test(line))
}

interface BuiltConfig {
  readonly migrations?: readonly {
    readonly tag: string
    readonly new_sqlite_classes?: readonly string[]
    readonly new_classes?: readonly string[]
  }[]
  readonly durable_objects?: { readonly bindings: readonly { readonly class_name: string }[] }
}

/**
 * Returns the classes whose migration a deploy would apply together with code that has a binding to them. `applied`:
 * the last migration of the deployed Worker; null if it has none, as before its first deploy, which may contain
 * everything.
 */
export function findBoundNewClasses(
  { migrations = [], durable_objects }: BuiltConfig,
  applied: string | null,
): string[] {
  const at = migrations.findIndex(({ tag }) => tag === applied)
  if (applied === null || at < 0) return []
  const created = migrations
    .slice(at + 1)
    .filter(({ tag }) => !EARLIER_TAGS.has(tag))
    .flatMap(({ new_sqlite_classes = [], new_classes = [] }) => [...new_sqlite_classes, ...new_classes])
  const bound = new Set(durable_objects?.bindings.map(({ class_name }) => class_name))
  return created.filter((name) => bound.has(name))
}
