/** card-templates.ts: reads the shipped templates, for tests. */

import { readdirSync, readFileSync } from "node:fs"
import type { CardTemplate } from "../../../shared/card/view/card-template.ts"

const FOLDER = "shared/card/templates"

/**
 * Returns the templates by name (`search`, `bar-chart`). Each call reads the files again, so that a test can change the
 * returned templates.
 */
export function readTemplates(): ReadonlyMap<string, CardTemplate> {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".json"))
  return new Map(
    files.map((file) => [file.replace(".json", ""), JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8"))]),
  )
}

export function readTemplate(name: string): CardTemplate {
  const template = readTemplates().get(name)
  if (template === undefined) throw new Error(`There is no template ${name}.`)
  return template
}
