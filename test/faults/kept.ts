/**
 * kept.ts: plans that once found something, each a file of kept/: the whole plan, so that it stays what it was however
 * plans are made later. The file's name says what it found.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { RunPlan } from "./plan.ts"

export interface KeptPlan {
  readonly name: string
  readonly plan: RunPlan
}

const FOLDER = fileURLToPath(new URL("./kept/", import.meta.url))
const END = ".json"

export function readKept(): KeptPlan[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(END))
  return files.sort().map((file) => ({ name: nameOf(file), plan: readPlan(file) }))
}

/** What it found, in words, becomes the file's name. */
export function keepPlan(found: string, plan: RunPlan): string {
  mkdirSync(FOLDER, { recursive: true })
  const file = found.trim().toLowerCase().replace(/\W+/g, "-") + END
  writeFileSync(FOLDER + file, `${JSON.stringify(plan, null, 2)}\n`)
  return file
}

function nameOf(file: string): string {
  return file.slice(0, -END.length).replaceAll("-", " ")
}

/** Ours: `keepPlan` wrote it. */
function readPlan(file: string): RunPlan {
  return JSON.parse(readFileSync(FOLDER + file, "utf8")) as RunPlan
}
