/**
 * check-migrations.ts: `npm run check:migrations`: fails if a commit mixes a Durable Object migration with code that uses it.
 */

import process from "node:process"
import { findMixedCommits } from "./migration-commits.ts"

const mixed = findMixedCommits(process.cwd())
for (const { commit, tags, reasons } of mixed ?? []) {
  console.error(`${commit} adds the migration ${tags.join(", ")}, and more that is deployed:`)
  for (const reason of reasons) console.error(`  ${reason}`)
}
if (mixed === null) console.log("Not checked: this copy has no history.")
else if (mixed.length === 0) console.log("No commit mixes a migration with other code.")
else {
  console.error("Make the migration a commit and a deploy of its own, before the code that uses its classes.")
  process.exitCode = 1
}
