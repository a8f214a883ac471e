/**
 * longest-first.ts: orders the test files, long ones first, so that none runs alone at the end.
 *
 * A process that is shared by the files of a project (`isolate: false`) is kept only while the next file in the queue is of
 * the same project. So the files with a process of their own come first, and then one project after the other.
 */

import { statSync } from "node:fs"
import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Durations of long files, in seconds, for machines that have not run them yet. The files spend most of this time waiting.
 */
const SECONDS: Readonly<Record<string, number>> = {
  "faults/erasure": 75,
  "faults/kill-points": 25,
  "faults/budget-kills": 40,
  "faults/leaving": 20,
  "worker/operation-costs": 22,
  "worker/tenant-kills": 18,
  "browser/sign-in": 50,
  "browser/signed-in": 60,
  "browser/survive": 80,
  "browser/crash-and-summary": 15,
  "browser/erase-user": 66,
  "browser/list": 50,
  "browser/list-paging": 15,
  "browser/admin": 50,
  "browser/admin-tenant": 25,
  "browser/admin-layout": 35,
  "browser/every-state": 60,
  "browser/read-only": 44,
  "browser/hostile": 43,
  "browser/leaving-tenant": 40,
  "browser/remote-media": 40,
  "browser/page-shell": 60,
  "browser/same-dom": 35,
  "browser/media-input": 28,
  "browser/escape": 28,
  "browser/media": 20,
  "browser/media-screenshots": 25,
  "browser/rich": 25,
  "browser/prices": 20,
  "browser/long-history": 20,
  "testing/pipe": 29,
  "testing/upload-random": 20,
  "testing/tenant-command": 17,
  "testing/deploy-command": 40,
  "testing/silence": 13,
  "shared/parse-directives": 22,
  "shared/simulate-day": 16,
  "worker/intruders": 18,
  "worker/tenant-slices": 14,
  "worker/user-limits": 13,
  "client/long-answers": 15,
  "faults/faults": 37,
  "faults/mutants": 31,
  "faults/releases": 24,
}

/** Other files: seconds per byte, so that larger ones come first. */
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
