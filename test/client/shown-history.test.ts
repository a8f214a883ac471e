/** shown-history.test.ts: the part of a long history that is shown: its bounds, its ends, and jumps. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { hello, ops, settle, wireMessage } from "./fake-server.ts"
import { assertPropertyAsync } from "../support/seeded.ts"
import { createHistory, MAX_SHOWN, openLongSession } from "./history-server.ts"
import { user } from "./open-session.ts"

const idsOf = (messages: readonly WireMessage[]): string[] => messages.map(({ id }) => id)

/** The number of newest messages that stay loaded in addition to those that are shown. */
const MAX_NEWEST = 64

/** Expects the shown messages to be a part of the history without gaps. */
function expectContiguous(shown: readonly string[], path: readonly WireMessage[]): void {
  const from = path.findIndex(({ id }) => id === shown[0])
  expect(shown).toEqual(idsOf(path.slice(from, from + shown.length)))
}

async function waitForTask(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve))
}

describe("scrolling through a long history", () => {
  test("[LT1] back to the first message and forward again, at most MAX_SHOWN messages are shown", async () => {
    const path = createHistory(2_000)
    const { store, history, shown, requests } = await openLongSession(path)
    const seen = new Set(shown())
    const check = (): void => {
      for (const id of shown()) seen.add(id)
      expectContiguous(shown(), path)
      expect(shown().length).toBeLessThanOrEqual(MAX_SHOWN)
      expect(store.size).toBeLessThanOrEqual(MAX_SHOWN + MAX_NEWEST)
    }
    while (store.hasOlder.value) {
      await history.loadOlder()
      check()
    }
    expect(shown()[0]).toBe("m1")
    expect(seen.size).toBe(2_000)
    while (store.hasNewer.value) {
      await history.loadNewer()
      check()
    }
    expect(shown().at(-1)).toBe("m2000")
    await history.loadOlder()
    check()
    // The first pages have 24 messages, the later ones 100.
    expect(requests.length).toBeLessThan(50)
  })

  test("[LT3] pages are larger while the user scrolls fast", async () => {
    const { history, requests, clock } = await openLongSession(createHistory(1_000))
    await history.loadOlder()
    await history.loadOlder()
    clock.pass(2_000)
    await history.loadOlder()
    expect(requests).toEqual(["newest 24", "before 977 24", "before 953 100", "before 853 24"])
  })

  test("[LT1] after the newer end has been dropped, its messages are loaded again, starting after the last shown one", async () => {
    const path = createHistory(400)
    const { store, history, shown, requests } = await openLongSession(path)
    for (let i = 0; i < 4; i++) await history.loadOlder()
    expect(store.hasNewer.value).toBe(true)
    const last = shown().at(-1)
    requests.length = 0
    await history.loadNewer()
    expect(requests[0]).toBe(`around ${last} limit 120`)
    expectContiguous(shown(), path)
    await history.loadNewer()
    await history.loadNewer()
    expect(store.hasNewer.value).toBe(false)
    expect(shown().at(-1)).toBe("m400")
  })

  test("[LT1] without a limit, as in `cuecard/client`, all messages stay loaded", async () => {
    const { store, history, shown } = await openLongSession(createHistory(500), {
      maxShownMessages: undefined as never,
    })
    while (store.hasOlder.value) await history.loadOlder()
    expect(shown()).toHaveLength(500)
    expect(store.hasNewer.value).toBe(false)
  })
})

describe("live messages", () => {
  test("[LT4] messages that arrive while older ones are shown aren't added to them, and can be shown at once", async () => {
    const path = createHistory(400)
    const { store, history, shown, say, server, session } = await openLongSession(path)
    while (store.hasOlder.value) await history.loadOlder()
    const before = shown()
    say(user("q", "a question"))
    say(wireMessage("a", { exchange_id: "q" }))
    const { seq } = session
    server.last().say(ops(seq + 1, seq, "a", [{ op: "open", at: 0, segment: { type: "text", content: "An answer" } }]))
    await settle()
    expect(shown()).toBe(before)
    expect(store.isBusy.value).toBe(true)
    expect(store.activeTurn.value?.id).toBe("a")
    expect(store.newestIds.at(-1)).toBe("a")
    history.showNewest()
    expect(store.hasNewer.value).toBe(false)
    expect(shown().slice(-3)).toEqual(["m400", "q", "a"])
    expect(store.getMessageSignal("a")?.value.segments).toEqual([{ type: "text", content: "An answer" }])
    await history.loadOlder()
    expectContiguous(shown(), path)
  })

  test("[LT1] at the end, new messages push out the oldest ones; further up, they are not shown", async () => {
    const path = createHistory(300)
    const { controller, store, history, shown, say } = await openLongSession(path)
    for (let i = 0; i < 2; i++) await history.loadOlder()
    expect(shown()).toHaveLength(148)
    for (let i = 0; i < 5; i++) say(user(`n${i}`, "new"))
    await waitForTask()
    expect(shown()).toHaveLength(MAX_SHOWN)
    expect(shown().at(-1)).toBe("n4")
    const reading = shown()[3] ?? ""
    controller.findReadingPlace = () => ({ messageId: reading, offset: 0 })
    for (let i = 5; i < 9; i++) say(user(`n${i}`, "new"))
    await waitForTask()
    expect(shown()).toHaveLength(MAX_SHOWN)
    expect(shown()[3]).toBe(reading)
    expect(store.hasNewer.value).toBe(true)
    expect(store.newestIds.at(-1)).toBe("n8")
    expectContiguous(shown(), path)
  })
})

describe("a message far away", () => {
  test("[LT5] is shown with those around it, in one request", async () => {
    const path = createHistory(5_000)
    const { controller, store, shown, requests } = await openLongSession(path)
    expect(await controller.loadUntilMessage("m2500")).toBe(true)
    expect(requests.slice(1)).toEqual(["around m2500 limit 60"])
    expectContiguous(shown(), path)
    expect(shown()).toContain("m2500")
    expect(store.hasOlder.value && store.hasNewer.value).toBe(true)
  })

  test("[LT5] joins the newest messages if it is close to them", async () => {
    const path = createHistory(500)
    const { controller, store, shown } = await openLongSession(path)
    expect(await controller.loadUntilMessage("m465")).toBe(true)
    expect(store.hasNewer.value).toBe(false)
    expectContiguous(shown(), path)
    expect(shown().at(-1)).toBe("m500")
  })

  test("[LT5] that doesn't exist has no effect", async () => {
    const { controller, shown } = await openLongSession(createHistory(500))
    const before = shown()
    expect(await controller.loadUntilMessage("nowhere")).toBe(false)
    expect(shown()).toBe(before)
  })

  test("[LT6] [SO12] stays shown when the history is loaded again", async () => {
    const path = createHistory(3_000)
    const { controller, server, session, store, shown } = await openLongSession(path)
    await controller.loadUntilMessage("m1000")
    controller.findReadingPlace = () => ({ messageId: "m1000", offset: 0 })
    session.epoch = "e2"
    server.last().say(hello(10, "e2"))
    await settle()
    await waitForTask()
    expect(shown()).toContain("m1000")
    expectContiguous(shown(), path)
    expect(store.hasNewer.value).toBe(true)
    expect(store.newestIds.at(-1)).toBe("m3000")
  })

  test("[LT6] [SO12] close to the newest messages, it stays shown together with the history in between", async () => {
    const path = createHistory(300)
    const { controller, server, session, history, store, shown } = await openLongSession(path)
    await history.loadOlder()
    await history.loadOlder()
    controller.findReadingPlace = () => ({ messageId: "m220", offset: 0 })
    path.splice(218, 82, user("new", "another version"))
    session.epoch = "e2"
    server.last().say(hello(10, "e2"))
    await waitForTask()
    expect(store.hasNewer.value).toBe(false)
    expect(shown()).toContain("m218")
    expectContiguous(shown(), path)
  })

  test("[LT6] [SO12] if it is no longer on the active path, an earlier message is shown", async () => {
    const path = createHistory(3_000)
    const { controller, server, session, shown } = await openLongSession(path)
    await controller.loadUntilMessage("m1000")
    controller.findReadingPlace = () => ({ messageId: "m1001", offset: 0 })
    path.splice(998, 5)
    session.epoch = "e2"
    server.last().say(hello(10, "e2"))
    await settle()
    await waitForTask()
    expect(shown()).toContain("m998")
    expectContiguous(shown(), path)
  })
})

const step = fc.oneof(
  fc.constant({ type: "older" as const }),
  fc.constant({ type: "newer" as const }),
  fc.constant({ type: "newest" as const }),
  fc.constant({ type: "say" as const }),
  fc.record({ type: fc.constant("jump" as const), to: fc.integer({ min: 1, max: 600 }) }),
)

test("[LT1] [LT5] whatever the user does, the shown messages have no gaps and the newest messages are loaded", async () => {
  await assertPropertyAsync(
    fc.asyncProperty(fc.integer({ min: 1, max: 600 }), fc.array(step, { maxLength: 25 }), async (count, steps) => {
      const path = createHistory(count)
      // Frames are shown later than they arrive.
      const more = { scheduleRender: (callback: () => void) => queueMicrotask(callback) }
      const { controller, store, history, shown, say } = await openLongSession(path, more)
      for (const [at, one] of steps.entries()) {
        if (one.type === "older") await history.loadOlder()
        else if (one.type === "newer") await history.loadNewer()
        else if (one.type === "newest") history.showNewest()
        else if (one.type === "say") say(user(`n${at}`, "new"))
        else expect(await controller.loadUntilMessage(`m${one.to}`)).toBe(one.to <= count)
        await waitForTask()
        expectContiguous(shown(), path)
        expect(shown().length).toBeLessThanOrEqual(MAX_SHOWN)
        expect(store.hasNewer.value).toBe(shown().at(-1) !== path.at(-1)?.id)
        expect(store.hasOlder.value).toBe(shown()[0] !== path[0]?.id)
        expect(store.newestIds.at(-1)).toBe(path.at(-1)?.id)
        expect(store.size).toBeLessThanOrEqual(MAX_SHOWN + MAX_NEWEST + steps.length)
      }
    }),
    60,
  )
})
