/**
 * worker-chunks.test.ts: tests which chunks of the built Worker are evaluated at startup, and for each kind of model.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { describe, expect, test } from "vitest"

const FOLDER = "dist/cuecard"

const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".js"))

/** Returns the name of a chunk without its hash. */
const nameOf = (file: string): string => posix.basename(file, ".js").replace(/-[\w-]{8}$/, "")

function findChunk(name: string): string {
  const file = files.find((file) => nameOf(file) === name)
  if (file === undefined) throw new Error(`There is no chunk ${name}: ${files.map(nameOf).join(" ")}`)
  return file
}

/**
 * Returns the chunks that are evaluated together with the given ones, which are all the chunks that they import
 * statically, directly or indirectly.
 */
function listEvaluated(...entries: readonly string[]): Set<string> {
  const found = new Set<string>()
  const queue = [...entries]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const code = readFileSync(join(FOLDER, file), "utf8")
    for (const [, specifier = ""] of code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+)["']/g))
      queue.push(posix.join(posix.dirname(file), specifier))
  }
  return found
}

/** Returns the chunks that are evaluated together with a chunk and were not already evaluated at startup. */
function listAdded(name: string): string[] {
  const atStart = listEvaluated("index.js")
  return [...listEvaluated(findChunk(name))].filter((file) => !atStart.has(file)).map(nameOf)
}

const PROVIDERS = ["openai-compatible", "openai-responses", "anthropic", "google"] as const

describe("the built Worker", () => {
  test("[MO15] startup evaluates no model's code", () => {
    const names = [...listEvaluated("index.js")].map(nameOf)
    expect(names.sort()).toEqual(["base", "index", "rolldown-runtime"])
  })

  test("[MO15] a turn with the scripted model evaluates no provider's code", () => {
    const added = listAdded("scripted-model")
    expect(added.filter((name) => name === "model-stream" || PROVIDERS.some((provider) => provider === name))).toEqual(
      [],
    )
  })

  test("[MO15] a turn with Workers AI evaluates the code for its format, and no other provider's code", () => {
    const added = listAdded("workers-ai")
    expect(added.filter((name) => PROVIDERS.some((provider) => provider === name))).toEqual(["openai-compatible"])
  })

  test.each(PROVIDERS)("[MO15] a turn with %s evaluates no other provider's code", (provider) => {
    const added = listAdded(provider)
    expect(added).toContain("model-stream")
    expect(added.filter((name) => PROVIDERS.some((provider) => provider === name))).toEqual([provider])
  })
})
