/**
 * longest-first.ts: orders the test files so that long ones come first and none of them runs alone at the end.
 *
 * If a project's files share a process (`isolate: false`), Vitest keeps that process only while the next file in the
 * queue belongs to the same project. So the files that need a process of their own come first, followed by one project
 * after the other.
 */

import { statSync } from "node:fs"
import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Durations of long files, in seconds, for machines that have not run them yet. The files spend most of this time
 * waiting.
 */
const SECONDS: Readonly<Record<string, number>> = {
  "faults/erasure": 80,
  "faults/budget-kills": 50,
  "faults/kill-points": 40,
  "faults/leaving": 20,
  "worker/tenant-kills": 30,
  "worker/operation-costs": 15,
  "browser/erase-user": 70,
  "browser/every-state": 65,
  "browser/list": 64,
  "browser/survive": 60,
  "browser/same-dom": 58,
  "browser/sign-in": 47,
  "browser/leaving-tenant": 46,
  "browser/signed-in": 45,
  "browser/pseudo-language": 41,
  "browser/remote-media": 38,
  "browser/page-shell": 37,
  "browser/admin-layout": 35,
  "browser/hostile": 33,
  "browser/media-screenshots": 32,
  "browser/main-job": 29,
  "browser/escape": 28,
  "browser/rich": 26,
  "browser/crash-and-summary": 25,
  "browser/admin": 21,
  "browser/cards": 20,
  "browser/prices": 20,
  "browser/read-only": 20,
  "browser/media": 20,
  "browser/service-worker": 27,
  "browser/long-answers": 19,
  "browser/long-history": 19,
  "browser/admin-tenant": 19,
  "browser/languages": 19,
  "browser/kept-focus": 18,
  "browser/media-input": 18,
  "browser/import-history": 17,
  "browser/widget-sites": 17,
  "browser/list-paging": 15,
  "testing/pipe": 35,
  "testing/deploy-command": 35,
  "testing/upload-random": 28,
  "testing/tenant-command": 28,
  "consumer/harness": 28,
  "testing/body": 20,
  "testing/silence": 15,
  "shared/simulate-day": 16,
  "shared/json": 8,
  "shared/history.property": 8,
  "shared/parse-directives": 8,
  "shared/import-records": 8,
  "worker/intruders": 40,
  "worker/golden": 30,
  "worker/tenant-slices": 30,
  "worker/tenant-round-trip": 30,
  "worker/user-limits": 24,
  "worker/round-trip": 20,
  "worker/rate-limits": 20,
  "worker/tenant-remains": 20,
  "worker/external-broken": 20,
  "worker/audit": 18,
  "worker/hijack": 15,
  "worker/issuers": 15,
  "worker/budget-ledger": 15,
  "worker/role-changes": 13,
  "worker/erase": 12,
  "worker/sign-in": 12,
  "worker/asset-upload": 11,
  "client/long-answers": 15,
  "faults/faults": 37,
  "faults/mutants": 31,
  "faults/releases": 24,
}

/** Estimated duration of all other files, in seconds per byte, so that larger files come first. */
const SECONDS_PER_BYTE = 1 / 4_000

function secondsOf({ moduleId, project }: TestSpecification): number {
  const name = relative(`${project.config.root}/test`, moduleId).replace(/\.test\.tsx?$/, "")
  return SECONDS[name] ?? statSync(moduleId).size * SECONDS_PER_BYTE
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = new Map(files.map((file) => [file, secondsOf(file)]))
    const longestOf = new Map<string, number>()
    for (const [{ project }, length] of seconds)
      longestOf.set(project.name, Math.max(length, longestOf.get(project.name) ?? 0))
    const keysOf = (file: TestSpecification): (number | string)[] => {
      const { config, name } = file.project
      const isShared = config.isolate === false
      const length = -(seconds.get(file) ?? 0)
      return [
        config.sequence.groupOrder,
        ...(isShared ? [1, -(longestOf.get(name) ?? 0), name, length] : [0, length]),
        file.moduleId,
      ]
    }
    const keys = new Map(files.map((file) => [file, keysOf(file)]))
    return [...files].sort((one, other) => compareKeys(keys.get(one) ?? [], keys.get(other) ?? []))
  }
}

function compareKeys(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  const at = one.findIndex((key, index) => key !== other[index])
  const [a = 0, b = 0] = [one[at], other[at]]
  if (at === -1) return 0
  return a < b ? -1 : 1
}
