/** history-fixture-files.ts: reads the histories of test/shared/history from disk, for test projects in plain Node. */

import { readdirSync, readFileSync } from "node:fs"
import { type HistoryFixture, parseHistoryFixture } from "./history-fixtures.ts"

const FOLDER = new URL("../shared/history/", import.meta.url)

export function readHistoryFixtures(): HistoryFixture[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"))
  return names.sort().map((name) => parseHistoryFixture(name, readFileSync(new URL(name, FOLDER), "utf8")))
}
