/** composer.test.tsx: writing and sending a message in the composer. */

import { type ComponentProps, render } from "preact"
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { Composer } from "../../client/composer/composer.tsx"
import { attachmentChips } from "../../client/composer/deferred-chips.ts"
import { Draft } from "../../client/session/draft.ts"
import { MAX_MESSAGE_BYTES } from "../../shared/limits.ts"
import { draw, delay } from "./dom.ts"

function renderComposer(canSend = true, more: Partial<ComponentProps<typeof Composer>> = {}) {
  const onSend = vi.fn()
  const root = draw(<Composer canSend={canSend} onSend={onSend} stop={null} draft={new Draft()} {...more} />)
  const field = root.querySelector("textarea") as HTMLTextAreaElement
  const button = root.querySelector("button") as HTMLButtonElement
  const typeText = async (text: string): Promise<void> => {
    field.value = text
    field.dispatchEvent(new Event("input", { bubbles: true }))
    await delay()
  }
  const pressKey = async (key: string, more: KeyboardEventInit = {}): Promise<boolean> => {
    const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more })
    field.dispatchEvent(event)
    await delay()
    return event.defaultPrevented
  }
  return { onSend, field, button, root, type: typeText, press: pressKey }
}

beforeAll(() => attachmentChips.load())
beforeEach(() => document.body.replaceChildren())

describe("the composer", () => {
  test("[PG5] Enter sends the text unchanged and empties the field", async () => {
    const { onSend, field, type, press } = renderComposer()
    await type("  hello\nthere ")
    expect(await press("Enter")).toBe(true)
    expect(onSend.mock.calls).toEqual([["  hello\nthere ", {}]])
    expect(field.value).toBe("")
  })

  test("[PG5] Shift+Enter, and Enter in an input method, don't send", async () => {
    const { onSend, type, press } = renderComposer()
    await type("hello")
    expect(await press("Enter", { shiftKey: true })).toBe(false)
    expect(await press("Enter", { isComposing: true })).toBe(false)
    expect(await press("Enter", { keyCode: 229 } as KeyboardEventInit)).toBe(false)
    expect(onSend).not.toHaveBeenCalled()
  })

  test("[PG5] text that is empty, blank or too long can't be sent", async () => {
    const { onSend, button, root, type, press } = renderComposer()
    expect(button.disabled).toBe(true)
    await type(" \n ")
    expect(button.disabled).toBe(true)
    await type("é".repeat(MAX_MESSAGE_BYTES / 2))
    expect(button.disabled).toBe(false)
    expect(root.querySelector(".size")?.textContent).toBe("64 KB of 64 KB")
    await type(`${"é".repeat(MAX_MESSAGE_BYTES / 2)}!`)
    expect(button.disabled).toBe(true)
    await press("Enter")
    expect(onSend).not.toHaveBeenCalled()
    await type("short")
    expect(root.querySelector(".size")?.textContent).toBe("")
  })

  test("[PG5] text can be typed while nothing can be sent", async () => {
    const { onSend, field, type, press } = renderComposer(false)
    await type("draft")
    await press("Enter")
    expect(onSend).not.toHaveBeenCalled()
    expect(field.value).toBe("draft")
    expect(field.disabled).toBe(false)
  })

  test("[PG28] without CSS support, a script keeps the field as tall as its text, even when its width changes", async () => {
    vi.stubGlobal("CSS", { supports: () => false })
    let changed = (): void => {}
    vi.stubGlobal(
      "ResizeObserver",
      class {
        constructor(call: () => void) {
          changed = call
        }
        observe() {}
        disconnect() {}
      },
    )
    const { field, type } = renderComposer()
    const size = { scrollHeight: 59, clientWidth: 300 }
    for (const name of ["scrollHeight", "clientWidth"] as const) {
      Object.defineProperty(field, name, { get: () => size[name] })
    }
    await type("two lines of it")
    expect(field.style.height).toBe("59px")
    Object.assign(size, { scrollHeight: 83, clientWidth: 200 })
    changed()
    expect(field.style.height).toBe("83px")
    size.scrollHeight = 99
    changed()
    expect(field.style.height).toBe("83px")
    vi.unstubAllGlobals()
  })

  test("[PG18] the composer has a button that stops a running answer, and a Send button as soon as there is text", async () => {
    const onStop = vi.fn()
    const { root, type, press, onSend } = renderComposer(true, { stop: { isRequested: false, onStop } })
    const listNames = () => [...root.querySelectorAll("button")].map((element) => element.getAttribute("aria-label"))
    expect(listNames()).toEqual(["Stop"])
    root.querySelector("button")?.click()
    expect(onStop).toHaveBeenCalledTimes(1)
    await type("next")
    expect(listNames()).toEqual(["Stop", "Send"])
    expect(await press("Enter")).toBe(true)
    expect(onSend).toHaveBeenCalledTimes(1)
  })

  test("[PG18] the composer shows at once that the answer is being stopped, not that it has stopped", () => {
    const { root } = renderComposer(true, { stop: { isRequested: true, onStop() {} } })
    expect(root.querySelector("[aria-live]")?.textContent?.trim()).toBe("Stopping…")
    expect(root.querySelector("button")?.getAttribute("aria-disabled")).toBe("true")
  })

  test("[PG18] the page handles Escape while there is something to stop", async () => {
    const { field, press } = renderComposer(true, { stop: { isRequested: false, onStop() {} } })
    field.focus()
    expect(await press("Escape")).toBe(false)
    expect(document.activeElement).toBe(field)
  })

  test("[PG27] the draft is kept outside the composer, and the next composer continues it", async () => {
    const draft = new Draft()
    const first = renderComposer(true, { draft })
    await first.type("half a")
    render(null, first.root)
    const second = renderComposer(true, { draft })
    expect(second.field.value).toBe("half a")
    await second.type("half a thought")
    await second.press("Enter")
    expect(second.onSend.mock.calls).toEqual([["half a thought", {}]])
    expect(draft.text.value).toBe("")
  })

  test("[PG19] withdrawn text is added after the current draft", async () => {
    const draft = new Draft()
    const { field, type } = renderComposer(true, { draft })
    draft.restoreText("taken back")
    await delay()
    expect(field.value).toBe("taken back")
    await type("something else")
    draft.restoreText("again")
    await delay()
    expect(field.value).toBe("something else\nagain")
  })
})
