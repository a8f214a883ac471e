/**
 * cards.ts: `npm run cards` checks a card template, or converts an A2UI 0.9 surface to a card template. The command
 * needs no server.
 *
 * `npm run cards -- check order-card.json` · `npm run cards -- convert surface.json --for orders > order-card.json`
 */

import { readFileSync, statSync } from "node:fs"
import process from "node:process"
import { parseArgs } from "node:util"
import { parseJson } from "../../shared/json.ts"
import { checkTemplate } from "../../shared/card/view/check-template.ts"
import { readSurface } from "./a2ui-surface.ts"
import { convertSurface } from "./convert-a2ui.ts"

const USAGE = `npm run cards -- check FILE                 check the template of a card, with its samples
npm run cards -- convert FILE [--for TOOL]   print the template of a surface of A2UI 0.9. FILE is an example of A2UI's
                                             catalogs, a list of messages, or one message per line`

/** Maximum size of a file, in bytes: more than a template and its samples can have. */
const MAX_FILE_BYTES = 1024 * 1024

function readText(file: string): string {
  if (statSync(file).size > MAX_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_FILE_BYTES} bytes.`)
  return readFileSync(file, "utf8")
}

/** Checks a template, and prints the first problem. Returns whether there is none. */
function reportCheck(body: Parameters<typeof checkTemplate>[0]): boolean {
  const checked = checkTemplate(body)
  if (!checked.ok) console.error(`"${checked.pointer}" ${checked.problem}`)
  return checked.ok
}

function checkFile(file: string): boolean {
  const body = parseJson(readText(file))
  if (body === undefined) throw new Error(`${file} isn't JSON.`)
  const isRight = reportCheck(body)
  if (isRight) console.log("The template is valid, and its samples fill it.")
  return isRight
}

function convertFile(file: string, tool: string | undefined): boolean {
  const surface = readSurface(readText(file))
  if (surface === null) throw new Error(`${file} has no messages of A2UI 0.9 with components.`)
  const name =
    tool ??
    (surface.name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^_|_$/g, "") ||
      "tool")
  const { template, notes } = convertSurface(surface, name)
  for (const note of notes) console.error(note)
  console.log(JSON.stringify(template, null, 2))
  return reportCheck(template)
}

function runCommand(): boolean {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { for: { type: "string" } } })
  const [command, file] = positionals
  if (file !== undefined && command === "check") return checkFile(file)
  if (file !== undefined && command === "convert") return convertFile(file, values.for)
  throw new Error(USAGE)
}

try {
  process.exitCode = runCommand() ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
