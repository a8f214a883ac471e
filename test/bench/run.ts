/**
 * run.ts: `npm run bench` measures on this machine, prints one table and writes it to RESULTS.md.
 *
 * `npm run bench -- turn crowd` measures only these groups and writes no file.
 * Each number is compared with a floor from the same run, because on a noisy machine ratios are stable and absolute
 * times are not.
 */

import { readFileSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { benchAdded } from "./added.ts"
import { benchAuth } from "./auth.ts"
import { benchCancel } from "./cancel.ts"
import { benchCards } from "./card-drawing.ts"
import { benchCost } from "./cost.ts"
import { benchCrowd } from "./crowd.ts"
import { benchFirstDelta } from "./first-delta.ts"
import { benchGrowth } from "./growth.ts"
import { benchHistory } from "./history.ts"
import { benchImport } from "./import.ts"
import { benchLists } from "./lists.ts"
import { benchLoad } from "./load.ts"
import { benchPage } from "./page.ts"
import { benchResume } from "./resume.ts"
import { benchRows } from "./rows.ts"
import { benchSearch } from "./search.ts"
import { type Row, tableOf } from "./table.ts"
import { benchEachText, benchText } from "./text.ts"
import { benchTenantExport } from "./tenant-export.ts"
import { benchTools } from "./tools.ts"
import { benchTurn } from "./turn.ts"
import { benchWeight } from "./weight.ts"

type Groups = Readonly<Record<string, () => Promise<Row[]> | Row[]>>

const GROUPS: Groups = {
  text: benchText,
  turn: benchTurn,
  "first-delta": benchFirstDelta,
  tools: benchTools,
  rows: benchRows,
  cost: benchCost,
  added: benchAdded,
  crowd: benchCrowd,
  growth: benchGrowth,
  resume: benchResume,
  cancel: benchCancel,
  history: benchHistory,
  import: benchImport,
  "tenant-export": benchTenantExport,
  auth: benchAuth,
  lists: benchLists,
  search: benchSearch,
  page: benchPage,
  cards: benchCards,
  weight: benchWeight,
}

/** Groups that run only when named explicitly. */
const NAMED_GROUPS: Groups = { "each-text": benchEachText, load: benchLoad }

const all = { ...GROUPS, ...NAMED_GROUPS }
const requested = process.argv.slice(2)
const unknown = requested.filter((name) => !Object.hasOwn(all, name))
if (unknown.length > 0) {
  console.error(`No such group: ${unknown.join(", ")}. There are: ${Object.keys(all).join(", ")}.`)
  process.exit(1)
}

const rows: Row[] = []
for (const [name, bench] of Object.entries(requested.length > 0 ? all : GROUPS)) {
  if (requested.length > 0 && !requested.includes(name)) continue
  const started = performance.now()
  rows.push(...(await bench()))
  console.error(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
const table = tableOf(rows)
console.log(table)
if (requested.length === 0) {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? "unknown processor"}, Node ${process.versions.node}`
  const file = new URL("RESULTS.md", import.meta.url)
  // The sections after the table are written by hand.
  const [, ...sections] = readFileSync(file, "utf8")
    .trimEnd()
    .split(/\n\n(?=## )/)
  const text = [
    "# Measured figures",
    `Made by \`npm run bench\` on ${machine}. All figures are medians. Compare times only with the floor of the same run.`,
    table,
    ...sections,
  ]
  writeFileSync(file, `${text.join("\n\n")}\n`)
}
