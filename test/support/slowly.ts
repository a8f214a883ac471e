/**
 * slowly.ts: a program that prints the lines of a file, one every MS milliseconds: `slowly.ts FILE MS [EXIT]`.
 * If MS is `stall`, the program prints half of the lines at once, and then neither prints nor exits. If MS is a path,
 * the program prints half of the lines at once, and the rest as soon as that file exists.
 */

import { existsSync, readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

const [file = "", ms = "0", exit = "0"] = process.argv.slice(2)
const lines = readFileSync(file, "utf8").trimEnd().split("\n")
const half = Math.floor(lines.length / 2)

function printLines(some: readonly string[]): void {
  process.stdout.write(some.map((line) => `${line}\n`).join(""))
}

if (ms === "stall") {
  printLines(lines.slice(0, half))
  setInterval(() => {}, 1_000)
} else if (Number.isNaN(Number(ms))) {
  printLines(lines.slice(0, half))
  while (!existsSync(ms)) await pause(20)
  printLines(lines.slice(half))
  process.exitCode = Number(exit)
} else {
  for (const line of lines) {
    process.stdout.write(`${line}\n`)
    await pause(Number(ms))
  }
  process.exit(Number(exit))
}
