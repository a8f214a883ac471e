/** golden-files.ts: reads the golden files from disk, for test projects that run in plain Node. */

import { readdirSync, readFileSync } from "node:fs"
import { type Golden, parseGolden } from "./golden.ts"

const FOLDER = new URL("../golden/", import.meta.url)

export function readGoldens(): Golden[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith(".txt"))
    .sort()
    .map((file) => parseGolden(file.replace(".txt", ""), readFileSync(new URL(file, FOLDER), "utf8")))
}
