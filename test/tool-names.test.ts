/** tool-names.test.ts: a built-in tool is named only by the registry, and by files that a new tool doesn't need. */

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { listSourceFiles, readSource } from "./support/source-tree.ts"

/**
 * The files outside the registry that may name a tool. A new tool needs none of them:
 * - the scripted model, which chooses tools as any model does;
 * - the default agents, which are examples of a configuration;
 * - translated labels and icons; a tool without them has its name and a general icon;
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
  // Names of one word, such as `search`, are also words for other things.
  const quoted = NAMES.filter((name) => name.includes("_")).map((name) => `"${name}"`)
  const files = ["worker", "client", "shared"]
    .flatMap((folder) => listSourceFiles(folder))
    .filter((file) => !EXCEPTIONS.some((exception) => file.startsWith(exception)))
  const naming = files.filter((file) => quoted.some((name) => readSource(file).includes(name)))
  expect(naming).toEqual([])
})
