/** slowly.ts: a program that prints the lines of a file, one every so many milliseconds: `slowly.ts FILE MS [EXIT]`. */

import { readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

const [file = "", ms = "0", exit = "0"] = process.argv.slice(2)
for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
  process.stdout.write(`${line}\n`)
  await pause(Number(ms))
}
process.exit(Number(exit))
