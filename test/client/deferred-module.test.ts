/** deferred-module.test.ts: code that loads late. */

import { expect, test, vi } from "vitest"
import { deferModule } from "../../client/ui/deferred-module.ts"

const CODE = { name: "code" }

test("[PF8] a failed import is tried again by the next call, but a successful one isn't", async () => {
  const importCode = vi.fn(async () => CODE).mockRejectedValueOnce(new Error("no such file"))
  const deferred = deferModule(importCode)
  expect(await deferred.load()).toBe(false)
  expect(await deferred.load()).toBe(true)
  expect(await deferred.load()).toBe(true)
  expect(importCode).toHaveBeenCalledTimes(2)
})
