/** stored-drafts.test.ts: how drafts are stored: contents, times, users and limits. */

import { describe, expect, test } from "vitest"
import { Draft } from "../../client/session/draft.ts"
import { SessionRouter } from "../../client/session/session-router.ts"
import { StoredDrafts } from "../../client/session/stored-drafts.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { createMemoryStorage, setUp } from "./open-session.ts"
import { createClock, settle } from "./fake-server.ts"

const asset = { id: "f1", kind: "image", label: "tea.png", mime_type: "image/png", size: 5 } as const

function openPage(user = "demo/you", storage = createMemoryStorage(), clock = createClock()) {
  const drafts = new StoredDrafts({ storage, now: clock.now, setTimer: clock.setTimer }, user)
  const keepDraft = (session: string): Draft => {
    const draft = new Draft()
    drafts.keepDraft(session, draft)
    return draft
  }
  return { drafts, storage, clock, keep: keepDraft }
}

describe("stored drafts", () => {
  test("[PG77] text, reply and uploaded files are written after a pause, and restored by the next page", () => {
    const { keep, storage, clock } = openPage()
    const draft = keep("s1")
    draft.text.value = "h"
    draft.text.value = "half a thought"
    draft.replyTo.value = "m1"
    draft.attachments.restoreAssets([asset])
    expect(storage.all.size).toBe(0)
    clock.pass(250)
    expect(storage.all.size).toBe(1)
    const next = openPage("demo/you", storage).keep("s1")
    expect([next.text.value, next.replyTo.value]).toEqual(["half a thought", "m1"])
    expect(next.attachments.listUploaded()).toEqual([asset])
  })

  test("[PG77] only the text of a new conversation is stored, because the session with its files is erased when the page is closed", () => {
    const { keep, storage, clock } = openPage()
    const draft = keep("")
    draft.attachments.restoreAssets([asset])
    clock.pass(250)
    expect(storage.all.size).toBe(0)
    draft.text.value = "words"
    clock.pass(250)
    const next = openPage("demo/you", storage).keep("")
    expect([next.text.value, next.attachments.listUploaded()]).toEqual(["words", []])
  })

  test("[PG77] [PG90] a sent draft is deleted at once, and a closing page writes pending changes", () => {
    const { keep, drafts, storage, clock } = openPage()
    const draft = keep("s1")
    draft.text.value = "words"
    drafts.flush()
    expect(storage.all.size).toBe(1)
    draft.takeExtras()
    draft.text.value = ""
    expect(storage.all.size).toBe(0)
    draft.text.value = "more"
    drafts.forgetDraft("s1")
    clock.pass(1_000)
    draft.text.value = "even more"
    clock.pass(1_000)
    expect(storage.all.size).toBe(0)
  })

  test("[PG77] each user and each session has a separate draft", () => {
    const { keep, storage, clock } = openPage("demo/you")
    keep("s1").text.value = "one"
    keep("").text.value = "new"
    clock.pass(250)
    const other = openPage("demo/you.s1", storage)
    expect([other.keep("s1").text.value, other.keep("").text.value]).toEqual(["", ""])
    const same = openPage("demo/you", storage)
    expect([same.keep("s1").text.value, same.keep("s2").text.value, same.keep("").text.value]).toEqual([
      "one",
      "",
      "new",
    ])
  })

  test("[PG77] text typed before the draft was restored is added after it", () => {
    const { keep, storage, clock } = openPage()
    keep("s1").text.value = "stored"
    clock.pass(250)
    const draft = new Draft()
    draft.text.value = "typed"
    openPage("demo/you", storage).drafts.keepDraft("s1", draft)
    expect(draft.text.value).toBe("stored\ntyped")
  })

  test("[PG91] the oldest drafts are deleted to make room, and a huge text is truncated", () => {
    const { keep, storage, clock } = openPage()
    for (let at = 0; at < 60; at++) {
      keep(`s${at}`).text.value = `draft ${at}`
      clock.pass(250)
    }
    expect(storage.all.size).toBe(50)
    expect(openPage("demo/you", storage).keep("s9").text.value).toBe("")
    expect(openPage("demo/you", storage).keep("s10").text.value).toBe("draft 10")
    for (let at = 0; at < 12; at++) {
      keep(`big${at}`).text.value = "x".repeat(10_000_000)
      clock.pass(250)
    }
    const sizes = [...storage.all.values()].map((row) => row.length)
    expect(Math.max(...sizes)).toBeLessThan(2 * MAX_MESSAGE_BYTES + 100)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(1_000_000)
    expect(sizes.length).toBeGreaterThan(5)
  })

  test("[PG77] if rows are damaged or can't be written, nothing but stored drafts is lost", () => {
    const { keep, storage, clock } = openPage()
    keep("s1").text.value = "words"
    clock.pass(250)
    const [key = ""] = storage.all.keys()
    for (const row of ["", "{", "null", "[1]", '{"text":5}', '{"at":"x","text":{}}']) {
      storage.all.set(key, row)
      expect(openPage("demo/you", storage).keep("s1").text.value).toBe("")
    }
    const refuseAccess = (): never => {
      throw new Error("storage is blocked")
    }
    const forbidden = {
      ...storage,
      length: 0,
      getItem: refuseAccess,
      setItem: refuseAccess,
      removeItem: refuseAccess,
      all: storage.all,
    }
    const page = openPage("demo/you", forbidden)
    const draft = page.keep("s1")
    draft.text.value = "typed"
    page.clock.pass(250)
    draft.text.value = ""
    expect(draft.text.value).toBe("")
  })

  test("[PG90] when another tab sends the same draft, this tab's draft is cleared unless it has changed", () => {
    const { keep, drafts, storage, clock } = openPage()
    const [same, changed] = [keep("s1"), keep("s2")]
    same.text.value = "same"
    changed.text.value = "first"
    clock.pass(250)
    const rows = [...storage.all]
    changed.text.value = "second"
    for (const [key, row] of rows) drafts.handleRemoved(key, row)
    expect([same.text.value, changed.text.value]).toEqual(["", "second"])
  })

  test("[PG90] erasing a conversation deletes its stored draft, even before drafts have been restored", async () => {
    const { deps, storage } = setUp()
    storage.setItem("cuecard.draft.demo%2Fyou.s1", '{"at":1,"text":"words"}')
    storage.setItem("cuecard.draft.demo%2Fyou.s2", '{"at":1,"text":"words"}')
    const router = new SessionRouter({ ...deps, readHash: () => "#/", writeHash() {} })
    await router.eraseSession("s1")
    await settle()
    expect([...storage.all.keys()]).toEqual(["cuecard.draft.demo%2Fyou.s2"])
  })
})
