/** tool-names.test.ts: checks that only the registry and the files in EXCEPTIONS name a built-in tool. */

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { listSourceFiles, readSource } from "./support/source-tree.ts"

/**
 * The registry and the other files that may name a tool. Adding a tool requires no change to these other files:
 * - the scripted model, which chooses tools as any model does;
 * - the default agents, which are examples of a configuration;
 * - translated labels and icons: a tool without them is shown with its name and a generic icon;
 * - the view of messages between agents.
 */
const EXCEPTIONS = [
  "worker/tool/built-in-tools.ts",
  "worker/model/scripted/",
  "worker/tool/default-agents.ts",
  "client/words/",
  "client/transcript/tool-call.tsx",
  "client/transcript/agent-exchange.tsx",
]

const REGISTRY = readFileSync("worker/tool/built-in-tools.ts", "utf8")
const NAMES = [...REGISTRY.matchAll(/^ {2}\["(\w+)",/gm)].map(([, name]) => name ?? "")

test("[TO13] only the registry names a built-in tool", () => {
  expect(NAMES).toContain("canvas_create")
  // Single-word names, such as `search`, aren't checked, because they have other meanings too.
  const quoted = NAMES.filter((name) => name.includes("_")).map((name) => `"${name}"`)
  const files = ["worker", "client", "shared"]
    .flatMap((folder) => listSourceFiles(folder))
    .filter((file) => !EXCEPTIONS.some((exception) => file.startsWith(exception)))
  const naming = files.filter((file) => quoted.some((name) => readSource(file).includes(name)))
  expect(naming).toEqual([])
})
