/** switch-user.test.ts: unsent messages when another user signs in. */

import { describe, expect, test, vi } from "vitest"
import { setUserAside, switchUser } from "../../client/account/switch-user.ts"
import { createUserGuard } from "../../client/account/user-guard.ts"
import { type KeyValueStorage, Outbox } from "../../client/net/outbox.ts"
import { readStorageRows, USER_KEY, createUserStorage, type UserStorage } from "../../client/net/user-storage.ts"

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

const ADA_ROWS = {
  "cuecard.send..m1": "first message",
  "cuecard.send.s1.m2": "a message",
  "cuecard.edit.s1.m3": "an edit",
  "cuecard.import.s2": "under way",
}
const SHARED = { "cuecard.theme": "dark", "cuecard.draft.acme%2Fada.s1": "a draft" }

/** Starts a switch that reloads the page. This function doesn't await the switch, whose promise never settles. */
async function switchAndReload(storage: KeyValueStorage, previous: string | null, user: string): Promise<void> {
  const reload = vi.fn()
  void switchUser(storage, previous, user, reload)
  await vi.waitFor(() => expect(reload).toHaveBeenCalledOnce())
}

/** Returns the unsent rows visible to a page where this user is signed in. */
function readUnsentRows(storage: KeyValueStorage, user: string | null): object {
  const page = createUserStorage(storage)
  page.user = user
  return Object.fromEntries(readStorageRows(page).filter(([key]) => /^cuecard\.(send|edit|import)\./.test(key)))
}

/** Returns storage as seen by a page where this user is signed in. Other users may have pages in the same browser. */
function openPage(storage: KeyValueStorage, user: string): UserStorage {
  const page = createUserStorage(storage)
  page.user = user
  return page
}

const ENTRY = { id: "m1", content: "ada's secret", at: 1, error: null }

test("[PF9] for the first user in a browser that stores nothing, the code for switching users isn't loaded", async () => {
  const storage = createStorage(SHARED)
  const page = createUserStorage(storage)
  const token = `.${btoa(JSON.stringify({ tenant: "acme", sub: "ada" }))}.`
  const accepted = createUserGuard(storage, page)({ token })
  // Checked at once, without waiting for code to load.
  expect(storage.getItem(USER_KEY)).toBe("acme/ada")
  await accepted
  expect(page.user).toBe("acme/ada")
})

describe("another user", () => {
  test("[SP5] whose page is open at the same time never reads the first user's unsent messages", () => {
    const storage = createStorage()
    const ada = openPage(storage, "acme/ada")
    const bob = openPage(storage, "acme/bob")
    new Outbox(ada, "").addEntry(ENTRY)
    const bobsOutbox = new Outbox(bob, "")
    bobsOutbox.mergeStored()
    expect(bobsOutbox.listPending()).toEqual([])
    expect(readUnsentRows(storage, "acme/bob")).toEqual({})
    expect(new Outbox(openPage(storage, "acme/ada"), "").listPending()).toEqual([ENTRY])
    new Outbox(ada, "").removeEntry("m1")
    expect(storage.rows()).toEqual({})
  })

  test("[SP5] finds no unsent message, edit or import of the previous user; a returning user finds their own again", async () => {
    const storage = createStorage({ ...SHARED, [USER_KEY]: "acme/ada" })
    const ada = createUserStorage(storage)
    for (const [key, value] of Object.entries(ADA_ROWS)) ada.setItem(key, value)
    await switchAndReload(storage, "acme/ada", "acme/bob")
    expect(readUnsentRows(storage, "acme/bob")).toEqual({})
    expect(storage.rows()).toMatchObject({ ...SHARED, [USER_KEY]: "acme/bob" })
    createUserStorage(storage).setItem("cuecard.send.s9.m9", "bob's")
    await switchAndReload(storage, "acme/bob", "acme/ada")
    expect(readUnsentRows(storage, "acme/ada")).toEqual(ADA_ROWS)
    expect(storage.rows()).toMatchObject({ ...SHARED, [USER_KEY]: "acme/ada" })
  })

  test("[SP5] a tab of one user doesn't sign out tabs of another user, so two tabs can't reload each other forever", async () => {
    const storage = createStorage({ [USER_KEY]: "acme/ada" })
    const removeItem = vi.spyOn(storage, "removeItem")
    await switchAndReload(storage, "acme/ada", "acme/bob")
    expect(removeItem).not.toHaveBeenCalledWith(USER_KEY)
    expect(storage.getItem(USER_KEY)).toBe("acme/bob")
  })

  test("[SP5] users with the same id in different tenants are different users", () => {
    const storage = createStorage()
    new Outbox(openPage(storage, "acme/ada"), "").addEntry(ENTRY)
    expect(readUnsentRows(storage, "other/ada")).toEqual({})
  })

  test("[SP5] the first user to sign in keeps the rows written by version 0.1.0, without a reload", async () => {
    const storage = createStorage(ADA_ROWS)
    expect(readUnsentRows(storage, null)).toEqual(ADA_ROWS)
    const reload = vi.fn()
    await switchUser(storage, null, "acme/ada", reload)
    expect(reload).not.toHaveBeenCalled()
    expect(readUnsentRows(storage, "acme/ada")).toEqual(ADA_ROWS)
    expect(readUnsentRows(storage, "acme/bob")).toEqual({})
  })

  test("[SP6] signing out keeps all of the user's rows, and the storage isn't assigned to any user", async () => {
    const storage = createStorage({ ...SHARED, [USER_KEY]: "acme/ada" })
    for (const [key, value] of Object.entries(ADA_ROWS)) createUserStorage(storage).setItem(key, value)
    setUserAside(storage, "acme/ada")
    expect(readUnsentRows(storage, null)).toEqual({})
    expect(storage.getItem(USER_KEY)).toBe(null)
    await switchAndReload(storage, null, "acme/ada")
    expect(readUnsentRows(storage, "acme/ada")).toEqual(ADA_ROWS)
    expect(storage.rows()).toMatchObject({ ...SHARED, [USER_KEY]: "acme/ada" })
  })

  test("[SP9] rows of users who are not signed in are limited in number", () => {
    const storage = createStorage({ [USER_KEY]: "acme/ada" })
    for (let i = 0; i < 300; i++) createUserStorage(storage).setItem(`cuecard.send.s.${i}`, "x")
    setUserAside(storage, "acme/ada")
    expect(storage.length).toBe(200)
  })

  test("[SP9] among the rows of users who are not signed in, the oldest are deleted first", () => {
    const storage = createStorage({ [USER_KEY]: "acme/ada" })
    const page = createUserStorage(storage)
    const writeRow = (kind: string, n: number, at: number) =>
      page.setItem(`cuecard.${kind}.s.${n}`, JSON.stringify({ id: `${n}`, at }))
    for (let n = 0; n < 150; n++) writeRow("send", n, 9_000 - n)
    for (let n = 150; n < 300; n++) writeRow("edit", n, 9_000 - n)
    setUserAside(storage, "acme/ada")
    const kept = Object.keys(storage.rows()).map((key) => Number(key.split(".").at(-1)))
    expect(kept.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n))
  })

  test("[SP5] renewing the same user's token changes nothing", async () => {
    const rows = { [USER_KEY]: "acme/ada", ...SHARED }
    const storage = createStorage(rows)
    const guard = createUserGuard(storage, createUserStorage(storage))
    const token = `h.${btoa(JSON.stringify({ tenant: "acme", sub: "ada" }))}.s`
    await guard({ token })
    await guard({ token })
    expect(storage.rows()).toEqual(rows)
  })
})
