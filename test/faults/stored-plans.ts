/**
 * stored-plans.ts: keeps, as regression tests, plans that once found a bug. Each file in kept/ contains the whole plan,
 * so that the plan stays the same when the plan generator changes. The file name describes the bug that the plan found.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { RunPlan } from "./plan.ts"

export interface StoredPlan {
  readonly name: string
  readonly plan: RunPlan
}

const FOLDER = fileURLToPath(new URL("./kept/", import.meta.url))
const END = ".json"

export function readStoredPlans(): StoredPlan[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(END))
  return files.sort().map((file) => ({ name: nameOf(file), plan: readPlan(file) }))
}

/** Stores a plan in a file named after the bug that it found. */
export function storePlan(found: string, plan: RunPlan): string {
  mkdirSync(FOLDER, { recursive: true })
  const file = found.trim().toLowerCase().replace(/\W+/g, "-") + END
  writeFileSync(FOLDER + file, `${JSON.stringify(plan, null, 2)}\n`)
  return file
}

function nameOf(file: string): string {
  return file.slice(0, -END.length).replaceAll("-", " ")
}

/** Reads a plan. The file is trusted, because `storePlan` wrote it. */
function readPlan(file: string): RunPlan {
  return JSON.parse(readFileSync(FOLDER + file, "utf8")) as RunPlan
}
