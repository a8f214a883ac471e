/**
 * run.ts: `npm run bench`: measures here, prints one table and writes it to RESULTS.md.
 *
 * Each figure stands beside a floor of the same run: ratios hold on a noisy machine, absolute times do not.
 */

import { writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { benchHistory } from "./history.ts"
import { tableOf } from "./table.ts"
import { benchTurn } from "./turn.ts"
import { benchWeight } from "./weight.ts"
import { benchText } from "./words.ts"

const rows = [...benchText(), ...(await benchTurn()), ...(await benchHistory()), ...(await benchWeight())]
const table = tableOf(rows)
console.log(table)
const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.versions.node}`
const text = [
  "# Measured figures",
  `Made by \`npm run bench\` on ${machine}. Medians; times of one run are to be compared with the floor of the same run.`,
  table,
]
writeFileSync(new URL("RESULTS.md", import.meta.url), `${text.join("\n\n")}\n`)
