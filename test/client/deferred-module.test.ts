/** deferred-module.test.ts: code that is loaded after the initial render. */

import type { Signal } from "@preact/signals"
import { afterEach, expect, test, vi } from "vitest"
import { deferModule, missingModules } from "../../client/ui/deferred-module.ts"

const CODE = { name: "code" }

afterEach(() => void vi.useRealTimers())

test("[PF14] the next call repeats a failed import, but not a successful one", async () => {
  const importCode = vi.fn(async () => CODE).mockRejectedValueOnce(new Error("no such file"))
  const deferred = deferModule(importCode)
  expect(await deferred.load()).toBe(false)
  expect(await deferred.load()).toBe(true)
  expect(await deferred.load()).toBe(true)
  expect(importCode).toHaveBeenCalledTimes(2)
})

test("[PF14] a timer repeats a failed import twice; the module then counts as missing until a call succeeds", async () => {
  vi.useFakeTimers()
  const importCode = vi.fn(async () => CODE)
  for (let attempt = 0; attempt < 3; attempt++) importCode.mockRejectedValueOnce(new Error("no such file"))
  const deferred = deferModule(importCode)
  await deferred.load()
  expect(missingModules.value).toBe(0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(importCode).toHaveBeenCalledTimes(3)
  expect(missingModules.value).toBe(1)
  expect(await deferred.load()).toBe(true)
  expect(missingModules.value).toBe(0)
})

test("[PF14] calls during an import share it, so that its failure counts once", async () => {
  vi.useFakeTimers()
  const importCode = vi.fn(async () => CODE).mockRejectedValueOnce(new Error("no such file"))
  const deferred = deferModule(importCode)
  expect(await Promise.all([deferred.load(), deferred.load(), deferred.load()])).toEqual([false, false, false])
  expect(importCode).toHaveBeenCalledTimes(1)
  expect(missingModules.value).toBe(0)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(importCode).toHaveBeenCalledTimes(2)
  expect(deferred.module.value).toBe(CODE)
})

test("[PF8] a call that finds the code loaded doesn't prevent a later import", async () => {
  const importCode = vi.fn(async () => CODE)
  const deferred = deferModule(importCode)
  await deferred.load()
  await deferred.load()
  // Tests remove the code in this way.
  ;(deferred.module as Signal<typeof CODE | null>).value = null
  expect(await deferred.load()).toBe(true)
  expect(deferred.module.value).toBe(CODE)
})
