/** import-fixture-files.ts: reads the import fixtures from disk, for test projects that run in plain Node. */

import { readdirSync, readFileSync } from "node:fs"
import { type ImportFixture, parseImportFixture } from "./import-fixtures.ts"

export const IMPORT_FIXTURES = new URL("../shared/import/", import.meta.url)

export function readImportFixtures(): ImportFixture[] {
  return readdirSync(IMPORT_FIXTURES)
    .filter((file) => file.endsWith(".txt"))
    .sort()
    .map((file) => parseImportFixture(file.replace(".txt", ""), readFileSync(new URL(file, IMPORT_FIXTURES), "utf8")))
}
