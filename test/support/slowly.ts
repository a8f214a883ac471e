/**
 * slowly.ts: a program that prints the lines of a file, one every so many milliseconds: `slowly.ts FILE MS [EXIT]`.
 * If MS is `stall`, it prints half of the lines at once, and then neither prints nor exits.
 */

import { readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

const [file = "", ms = "0", exit = "0"] = process.argv.slice(2)
const lines = readFileSync(file, "utf8").trimEnd().split("\n")
if (ms === "stall") {
  process.stdout.write(
    lines
      .slice(0, lines.length / 2)
      .map((line) => `${line}\n`)
      .join(""),
  )
  setInterval(() => {}, 1_000)
} else {
  for (const line of lines) {
    process.stdout.write(`${line}\n`)
    await pause(Number(ms))
  }
  process.exit(Number(exit))
}
