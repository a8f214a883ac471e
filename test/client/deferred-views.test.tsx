/** deferred-views.test.tsx: a transcript while the code for tool calls and media isn't loaded yet. */

import type { Signal } from "@preact/signals"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { mediaViews } from "../../client/media/loading/deferred-media.ts"
import { callViews } from "../../client/transcript/calls/deferred-calls.ts"
import { messageParts } from "../../client/transcript/message/deferred-parts.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { delay } from "./dom.ts"
import { wireMessage } from "./fake-server.ts"
import { pageOf, transcript } from "./render-transcript.tsx"

const LOADED = [callViews.module, mediaViews.module, messageParts.module].map(
  (module) => module as Signal<object | null>,
)
const VIEWS = LOADED.map((module) => module.peek())

beforeEach(() => {
  document.body.replaceChildren()
  for (const module of LOADED) module.value = null
})

afterEach(() => {
  for (const [at, module] of LOADED.entries()) module.value = VIEWS[at] ?? null
})

const CALL: Segment = { type: "tool", call_id: "c1", name: "weather", args: '{"city":"Oslo"}', status: "ok" }
const PICTURE: Segment = {
  type: "media",
  url: "/media/p1",
  kind: "image",
  label: "Sunset",
  width: 200,
  height: 100,
}

function renderAnswer(segments: readonly Segment[]) {
  return transcript([wireMessage("a1", { status: "completed", segments: [...segments] })]).log
}

test("[PF8] the code for calls and media is loaded after the text has been drawn, and the text isn't drawn again", async () => {
  const log = renderAnswer([{ type: "text", content: "Here it is." }, CALL, CALL, PICTURE])
  const text = log.querySelector("[data-segment=text]")
  expect(text?.textContent).toBe("Here it is.")
  expect(log.querySelectorAll(".call-place")).toHaveLength(2)
  expect(log.querySelector("[data-segment=tool]")).toBeNull()
  await expect.poll(() => log.querySelectorAll(".calls [data-segment=tool]").length).toBe(2)
  await delay()
  expect(log.querySelector("[data-segment=text]")).toBe(text)
  expect(log.querySelector(".call-place")).toBeNull()
  expect(log.querySelector(".media button.frame")?.getAttribute("aria-label")).toContain("Sunset")
})

test("[PF8] the space for an image has the image's proportions before the code for images is loaded", async () => {
  const log = renderAnswer([PICTURE])
  const style = () => log.querySelector(".media .frame")?.getAttribute("style")
  expect(log.querySelector(".media")?.innerHTML).toMatch(/^<span class="frame" data-sized=""/)
  const before = style()
  await expect.poll(() => log.querySelector(".media button.frame")).not.toBeNull()
  expect(style()).toBe(before)
})

test("[PF8] quotes and notes are empty until their code has loaded; if the code fails to load, the next message loads it again", async () => {
  const load = vi.spyOn(messageParts, "load").mockResolvedValueOnce(false)
  const question = wireMessage("q1", { role: "user", status: "completed", content: "Which one?" })
  const answer = wireMessage("a1", {
    status: "interrupted",
    reply_to: "q1",
    segments: [{ type: "text", content: "This." }],
  })
  const { log, store } = transcript([question, answer])
  await delay()
  expect(load).toHaveBeenCalledTimes(1)
  expect(log.querySelector(".quote-place")?.textContent?.trim()).toBe("")
  expect(log.querySelector("[data-note=interrupted]")?.textContent?.trim()).toBe("")
  store.loadPage(pageOf([question, answer, wireMessage("a2", { status: "completed" })]))
  await expect.poll(() => log.querySelector(".quote")?.textContent).toContain("Which one?")
  expect(log.querySelector("[data-note=interrupted]")?.textContent).toContain("Response interrupted.")
  expect(log.querySelector(".quote-place")).toBeNull()
  load.mockRestore()
})
