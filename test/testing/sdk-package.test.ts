/**
 * sdk-package.test.ts: tests the built `cuecard/client`: its size, its public types, and the example script that uses
 * it.
 */

import { execFile } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { startCuecard } from "cuecard/testing"
import { expect, test } from "vitest"
import { measureSdk, SDK_BUDGETS } from "../../scripts/bundle-sizes.ts"

const TYPES = resolve("dist/sdk/types/sdk")

test("[SK11] the entries are within their size budgets", () => {
  const sizes = measureSdk()
  expect(sizes.client).toBeLessThanOrEqual(SDK_BUDGETS.client)
  expect(sizes.conversation).toBeLessThanOrEqual(SDK_BUDGETS.conversation)
  expect(sizes.preact).toBeLessThanOrEqual(SDK_BUDGETS.preact)
  expect(sizes.react).toBeLessThanOrEqual(SDK_BUDGETS.react)
})

/** Returns the declaration files that an entry's types import, directly or indirectly. */
function listDeclarations(entry: string): string[] {
  const found = new Set([join(TYPES, entry)])
  // The set grows while it is iterated.
  for (const file of found) {
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)) {
      const target = join(dirname(file), specifier).replace(/(?:\.d)?\.[jt]s$/, ".d.ts")
      if (existsSync(target)) found.add(target)
    }
  }
  return [...found]
}

test.each(["index.d.ts", "preact.d.ts", "react.d.ts"])(
  "[SK12] the public types of %s mention no framework",
  (entry) => {
    const files = listDeclarations(entry)
    expect(files.length).toBeGreaterThan(3)
    const leaking = files.filter((file) => /signals|from "p?react|\/client\//.test(readFileSync(file, "utf8")))
    expect(leaking).toEqual([])
  },
)

test("[SK10] the example script prints the answer and ends by itself", async () => {
  const cuecard = await startCuecard()
  try {
    const env = { ...process.env, CUECARD_URL: cuecard.url, CUECARD_TOKEN: cuecard.token }
    const askExample = (question: string) =>
      promisify(execFile)(process.execPath, ["examples/node/ask.js", question], { env, timeout: 60_000 })
    expect((await askExample("/say Printed by a script.")).stdout).toContain("Printed by a script.")
    const refused = askExample("x".repeat(70_000))
    await expect(refused).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("message_too_large") })
  } finally {
    await cuecard.close()
  }
})
