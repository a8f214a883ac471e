/** watch-user.test.ts: the page watches for sign-ins in other tabs, and stops when its view is removed. */

import { expect, test, vi } from "vitest"
import { watchUser } from "../../client/account/watch-user.ts"

test("[SP6] stopping the watch removes all of its listeners", () => {
  const listeners = new Set<string>()
  const add = vi.spyOn(globalThis, "addEventListener").mockImplementation((type) => void listeners.add(type))
  const remove = vi.spyOn(globalThis, "removeEventListener").mockImplementation((type) => void listeners.delete(type))
  const end = watchUser(() => true)
  expect([...listeners]).toEqual(["storage", "pageshow"])
  end()
  expect([...listeners]).toEqual([])
  expect(add.mock.calls.map(([, listener]) => listener)).toEqual(remove.mock.calls.map(([, listener]) => listener))
  vi.restoreAllMocks()
})
