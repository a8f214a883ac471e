/** message-renders.test.tsx: how many messages are rerendered when something changes. */

import { options } from "preact"
import { beforeEach, expect, test, vi } from "vitest"
import { MessageView } from "../../client/transcript/message-view.tsx"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { delay } from "./dom.ts"
import { messageFrame, ops, wireMessage } from "./fake-server.ts"
import { user } from "./open-session.ts"
import { transcript } from "./render-transcript.tsx"

/** The hook that Preact calls before it renders a component, under its name in the published package. */
const renderHook = options as unknown as { __r: ((vnode: { readonly type: unknown }) => void) | undefined }

/** Returns the number of messages that are rendered while `change` takes effect. */
async function countRenders(change: () => void): Promise<number> {
  const before = renderHook.__r
  let count = 0
  renderHook.__r = (vnode) => {
    if (vnode.type === MessageView) count++
    before?.(vnode)
  }
  change()
  await delay()
  renderHook.__r = before
  return count
}

const answer = (id: string, more: Partial<WireMessage> = {}): WireMessage =>
  wireMessage(id, { status: "completed", segments: [{ type: "text", content: "An answer." }], ...more })

function createTurns(from: number, to: number): WireMessage[] {
  return Array.from({ length: to - from }, (_, at) => [
    user(`q${from + at}`, "A question"),
    answer(`a${from + at}`, { exchange_id: `q${from + at}` }),
  ]).flat()
}

/** Renders a running conversation. Resolves when all messages have been drawn. The newest are drawn first. */
async function renderRunning() {
  const running = answer("a50", { exchange_id: "q50", status: "running" })
  const rendered = transcript([...createTurns(0, 50), user("q50", "A question"), running])
  await vi.waitFor(() => expect(rendered.log.querySelectorAll("article")).toHaveLength(102))
  return rendered
}

beforeEach(() => document.body.replaceChildren())

test("[LT7] a delta renders one message", async () => {
  const { store, log } = await renderRunning()
  const text = { op: "text", at: 0, offset: 10, text: " More." } as const
  expect(await countRenders(() => store.applyFrame(ops(2, 1, "a50", [text])))).toBe(1)
  expect(log.textContent).toContain("An answer. More.")
})

test("[LT7] typing renders no message", async () => {
  const { draft } = await renderRunning()
  expect(await countRenders(() => (draft.text.value = "A"))).toBe(0)
})

test("[LT7] adding a new message, and adding or dropping older ones, renders no other message", async () => {
  const { store, log } = await renderRunning()
  expect(await countRenders(() => store.applyFrame(messageFrame(2, 1, user("q51", "Next"))))).toBe(1)
  const added = createTurns(-6, 0)
  const shown = [...added.map(({ id }) => id), ...store.messageIds.value.slice(0, 60)]
  const newest = store.newestIds.slice(-10)
  const arrange = () => store.arrange({ added, shown, newest, cursor: "1", hasOlder: true })
  expect(await countRenders(arrange)).toBe(added.length)
  expect([...log.querySelectorAll("article")].map(({ dataset }) => dataset["id"])).toEqual(shown)
})

test("[PF11] a new message reads no layout while the view follows the end", async () => {
  const { store, scrollAnchor } = await renderRunning()
  const read = vi.spyOn(Element.prototype, "getBoundingClientRect")
  store.applyFrame(messageFrame(2, 1, user("q51", "Next")))
  await delay()
  expect(read).not.toHaveBeenCalled()
  scrollAnchor.stopFollowing()
  store.applyFrame(messageFrame(3, 2, user("q52", "One more")))
  await delay()
  expect(read).toHaveBeenCalled()
  read.mockRestore()
})
