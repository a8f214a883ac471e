/** switch-user.test.ts: what happens to unsent messages when another user signs in. */

import { describe, expect, test, vi } from "vitest"
import { putUserAside, switchUser } from "../../client/account/switch-user.ts"
import { createUserGuard } from "../../client/account/user-guard.ts"
import { type KeyValueStorage, USER_KEY } from "../../client/net/outbox.ts"

function createStorage(rows: Readonly<Record<string, string>> = {}): KeyValueStorage & { rows(): object } {
  const map = new Map(Object.entries(rows))
  return {
    get length() {
      return map.size
    },
    key: (index) => [...map.keys()][index] ?? null,
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => void map.set(key, value),
    removeItem: (key) => void map.delete(key),
    rows: () => Object.fromEntries(map),
  }
}

const ADAS = {
  "cuecard.send..m1": "first message",
  "cuecard.send.s1.m2": "a message",
  "cuecard.edit.s1.m3": "an edit",
  "cuecard.import.s2": "under way",
}
const SHARED = { "cuecard.theme": "dark", "cuecard.draft.acme%2Fada.s1": "a draft" }

/** Starts a switch that loads the page again, and so never ends. */
async function switchAndReload(storage: KeyValueStorage, previous: string | null, user: string): Promise<void> {
  const reload = vi.fn()
  void switchUser(storage, previous, user, reload)
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce())
}

describe("another user", () => {
  test("[SP5] finds no unsent message, edit or import of the one before; who returns finds their own again", async () => {
    const storage = createStorage({ ...ADAS, ...SHARED, [USER_KEY]: "acme/ada" })
    await switchAndReload(storage, "acme/ada", "acme/bob")
    const asBob = Object.keys(storage.rows())
    expect(asBob.filter((key) => /^cuecard\.(send|edit|import)\./.test(key))).toEqual([])
    expect(storage.rows()).toMatchObject({ ...SHARED, [USER_KEY]: "acme/bob" })
    storage.setItem("cuecard.send.s9.m9", "bob's")
    await switchAndReload(storage, "acme/bob", "acme/ada")
    expect(storage.rows()).toMatchObject({ ...ADAS, ...SHARED, [USER_KEY]: "acme/ada" })
    expect(storage.getItem("cuecard.send.s9.m9")).toBe(null)
  })

  test("[SP5] a tab of another user doesn't sign the other tabs out, so that two can't reload each other forever", async () => {
    const storage = createStorage({ ...ADAS, [USER_KEY]: "acme/ada" })
    const removed: string[] = []
    const watched = {
      ...storage,
      removeItem: (key: string) => {
        removed.push(key)
        storage.removeItem(key)
      },
    }
    Object.defineProperty(watched, "length", { get: () => storage.length })
    await switchAndReload(watched, "acme/ada", "acme/bob")
    expect(removed).not.toContain(USER_KEY)
    expect(storage.getItem(USER_KEY)).toBe("acme/bob")
  })

  test("[SP5] users of two tenants with the same id are different users", async () => {
    const storage = createStorage({ ...ADAS, [USER_KEY]: "acme/ada" })
    await switchAndReload(storage, "acme/ada", "other/ada")
    expect(storage.getItem("cuecard.send..m1")).toBe(null)
  })

  test("[SP5] the first user of a browser keeps what version 0.1.0 stored, without loading the page again", async () => {
    const storage = createStorage(ADAS)
    const reload = vi.fn()
    await switchUser(storage, null, "acme/ada", reload)
    expect(reload).not.toHaveBeenCalled()
    expect(storage.rows()).toEqual({ ...ADAS, [USER_KEY]: "acme/ada" })
  })

  test("[SP6] signing out puts everything aside, and the storage belongs to nobody", async () => {
    const storage = createStorage({ ...ADAS, ...SHARED, [USER_KEY]: "acme/ada" })
    putUserAside(storage, "acme/ada")
    expect(Object.keys(storage.rows()).filter((key) => /^cuecard\.(send|edit|import|user)/.test(key))).toEqual([])
    await switchAndReload(storage, null, "acme/ada")
    expect(storage.rows()).toEqual({ ...ADAS, ...SHARED, [USER_KEY]: "acme/ada" })
  })

  test("[SP5] rows that were put aside are limited in number", () => {
    const storage = createStorage()
    for (let i = 0; i < 300; i++) storage.setItem(`cuecard.send.s.${i}`, "x")
    putUserAside(storage, "acme/ada")
    expect(storage.length).toBe(200)
  })

  test("[SP5] a renewed token of the same user changes nothing", async () => {
    const storage = createStorage({ [USER_KEY]: "acme/ada", ...ADAS })
    const guard = createUserGuard(storage)
    const token = `h.${btoa(JSON.stringify({ tenant: "acme", sub: "ada" }))}.s`
    await guard({ token })
    await guard({ token })
    expect(storage.rows()).toEqual({ [USER_KEY]: "acme/ada", ...ADAS })
  })
})
