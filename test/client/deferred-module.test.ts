/** deferred-module.test.ts: code that is loaded after the initial render. */

import { expect, test, vi } from "vitest"
import { deferModule } from "../../client/ui/deferred-module.ts"

const CODE = { name: "code" }

test("[PF8] the next call repeats a failed import, but not a successful one", async () => {
  const importCode = vi.fn(async () => CODE).mockRejectedValueOnce(new Error("no such file"))
  const deferred = deferModule(importCode)
  expect(await deferred.load()).toBe(false)
  expect(await deferred.load()).toBe(true)
  expect(await deferred.load()).toBe(true)
  expect(importCode).toHaveBeenCalledTimes(2)
})
