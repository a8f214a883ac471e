/**
 * check-migrations.ts: `npm run check:migrations`: fails if a commit mixes a Durable Object migration with code that
 * uses it. In a shallow clone it can't check this, and says so.
 */

import process from "node:process"
import { findMixedCommits, type MixedCommit } from "./migration-commits.ts"

const found = findMixedCommits(process.cwd())
if (found === null) console.log("Not checked: this copy has no history.")
else if (found === "shallow")
  console.log("Not checked: this clone is shallow. Fetch the history with `git fetch --unshallow`.")
else reportMixedCommits(found)

function reportMixedCommits(mixed: readonly MixedCommit[]): void {
  for (const { commit, tags, reasons } of mixed) {
    console.error(`${commit} adds the migration ${tags.join(", ")} together with other deployed changes:`)
    for (const reason of reasons) console.error(`  ${reason}`)
  }
  if (mixed.length === 0) return console.log("No commit mixes a migration with other code.")
  console.error("Make the migration a commit and a deploy of its own, before the code that uses its classes.")
  process.exitCode = 1
}
