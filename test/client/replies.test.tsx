/**
 * replies.test.tsx: how a quoted message is shown, where a click on the quote leads, and how a message is chosen as the
 * one to reply to.
 */

import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { Composer } from "../../client/composer/composer.tsx"
import { attachmentChips } from "../../client/composer/deferred-chips.ts"
import { Draft } from "../../client/session/draft.ts"
import { draw, delay, until } from "./dom.ts"
import { answer, text, user } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"

beforeAll(() => attachmentChips.load())
beforeEach(() => document.body.replaceChildren())

describe("replies", () => {
  const renderScene = () =>
    transcript([
      user("q", "What is *this*?"),
      answer("a", {
        reply_to: "q",
        segments: [text("**A** picture:"), { type: "media", url: "/media/p", kind: "image", label: "p" }],
      }),
      user("q2", "And?", { reply_to: "a" }),
      user("q3", "Hm.", { reply_to: "far" }),
    ])

  test("[PG43] a reply shows the author of the message it replies to, and an excerpt of that message in plain text", async () => {
    const { root } = renderScene()
    const quotes = [...root.querySelectorAll(".quote")].map((element) => element.textContent)
    expect(quotes).toEqual(["YouWhat is *this*?", "CuecardA picture: Image: p.", "An earlier message"])
  })

  test("[PG43] a click scrolls to the quoted message, loads it if necessary, and says so if it is gone", async () => {
    const { root, actions } = renderScene()
    const last = [...root.querySelectorAll<HTMLButtonElement>(".quote")][2]
    last?.click()
    await until(() => expect(last?.textContent).toBe("This message is no longer available."))
    expect(actions.loadUntilMessage.mock.calls).toEqual([["far"]])
  })

  test("[PG73] Reply adds a reply reference to the draft; the composer shows it, and can remove it", async () => {
    const { root, draft } = renderScene()
    root.querySelector<HTMLButtonElement>("[data-id=a] [data-focus-key=reply]")?.click()
    expect(draft.replyTo.value).toBe("a")
    const written = new Draft()
    written.replyTo.value = "a"
    const onSend = vi.fn()
    const quote = { author: "Cuecard", text: "A picture" }
    const box = draw(<Composer canSend draft={written} stop={null} onSend={onSend} quote={quote} />)
    expect(box.querySelector(".quoted .what")?.textContent).toBe("Reply to Cuecard A picture")
    written.text.value = "yes"
    await delay()
    box.querySelector<HTMLButtonElement>("button[type=submit]")?.click()
    expect(onSend.mock.calls).toEqual([["yes", { reply_to: "a" }]])
    expect(written.replyTo.value).toBe(null)
    written.replyTo.value = "a"
    box.querySelector<HTMLButtonElement>(".quoted button")?.click()
    expect(written.replyTo.value).toBe(null)
  })
})
