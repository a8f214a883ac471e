/**
 * message-actions.test.tsx: the actions in a transcript, including how they look while they are pending and after a
 * refusal.
 */

import type { Signal } from "@preact/signals"
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest"
import { focusRequests } from "../../client/ui/focus.ts"
import { answerTools } from "../../client/writing/deferred-writing.ts"
import { messageEditor } from "../../client/transcript/message-view.tsx"
import { segmentsToCopyText } from "../../client/transcript/copy-text.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { buttonsIn, findButton, pressKey } from "./buttons.ts"
import { delay, until, waitForElement } from "./dom.ts"
import { answer, call, text, user } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"
import { messageFrame, ops, wireMessage } from "./fake-server.ts"

const TRACE = "0123456789abcdef0123456789abcdef"

beforeAll(async () => {
  await messageEditor.load()
  await answerTools.load()
})
beforeEach(() => document.body.replaceChildren())

describe("a call that needs approval", () => {
  const renderWaiting = () => transcript([user("q", "go"), answer("a", { status: "waiting", segments: [call()] })])

  test("[PG20] shows its arguments expanded, and asks the user to approve it", () => {
    const { root, log } = renderWaiting()
    expect(root.querySelector("details")?.open).toBe(true)
    expect(root.querySelector(".data")?.textContent).toContain('"text": "now"')
    expect(buttonsIn(root.querySelector("[data-segment=tool]") as Element)).toEqual(["Allow", "Deny"])
    expect(root.querySelector(".ask")?.getAttribute("aria-label")).toBe("Allow probe_ask?")
    expect(root.querySelector("article:last-of-type > .note")?.textContent).toBe("Waiting for your approval.")
    expect(log.querySelector("[data-typing]")).toBe(null)
  })

  test("[PG20] a decision is sent once, and is shown as pending until the server's state arrives", async () => {
    const { root, actions, commands, store } = renderWaiting()
    findButton(root, "Deny").click()
    expect(actions.decideApproval.mock.calls).toEqual([["a", "c1", "deny"]])
    expect(document.activeElement?.localName).toBe("summary")
    commands.sendCommand("a", { type: "approve", call_id: "c1", decision: "deny" })
    await delay()
    expect(buttonsIn(root.querySelector(".ask") as Element)).toEqual(["Allow", "Denying…"])
    findButton(root, "Allow").click()
    expect(actions.decideApproval).toHaveBeenCalledTimes(1)
    const error = { code: "denied", message: "The call was not allowed." }
    store.applyFrame(ops(2, 1, "a", [{ op: "set", at: 0, fields: { status: "failed", approval: "denied", error } }]))
    await delay()
    expect(root.querySelector(".ask")).toBe(null)
    expect(root.querySelector("details")?.open).toBe(false)
    expect(root.querySelector(".badge")?.textContent).toBe("Denied")
  })

  test("[PG20] an allowed call is labelled as allowed while it is running and afterwards; if the server refuses the decision, the error is shown", async () => {
    const allowed = transcript([answer("a", { segments: [call({ status: "ok", approval: "allowed" })] })])
    expect(allowed.root.querySelector(".verdict")?.textContent).toBe("Allowed")
    expect(allowed.root.querySelector(".badge")?.textContent).toBe("Done")
    const { root, commands } = renderWaiting()
    commands.sendCommand("a", { type: "approve", call_id: "c1", decision: "allow" })
    commands.refuseCommand("c1", "call_unknown", "We couldn't find that tool call.")
    await delay()
    expect(root.querySelector(".ask [role=alert]")?.textContent).toBe("We couldn't find that tool call.")
    expect(buttonsIn(root.querySelector(".ask") as Element)).toEqual(["Allow", "Deny"])
  })
})

describe("retry, continue, regenerate", () => {
  const renderEnded = (status: WireMessage["status"], more: Partial<WireMessage> = {}) =>
    transcript([user("q", "go"), answer("a", { status, ...more })])

  test.each([
    ["failed", "Try again", "retry"],
    ["interrupted", "Continue", "retry"],
    ["cancelled", "Continue", "retry"],
  ] as const)("[PG21] [WR1] an answer with the status %s offers “%s”", async (status, name, action) => {
    const { root, actions, commands } = renderEnded(status)
    const before = focusRequests.value
    findButton(root, name).click()
    expect(actions[`${action}Answer` as const].mock.calls).toEqual([["a"]])
    expect(focusRequests.value).toBe(before + 1)
    commands.sendCommand("a", { type: action, id: "n", message: "a" })
    await delay()
    expect(findButton(root, name).getAttribute("aria-disabled")).toBe("true")
    findButton(root, name).click()
    expect(actions[`${action}Answer` as const]).toHaveBeenCalledTimes(1)
    commands.refuseCommand("n", "turn_running", "A response is in progress. Stop it first.")
    await delay()
    expect(root.querySelector("article[data-id=a] [role=alert]")?.textContent).toContain("Stop it first")
  })

  test.each(["completed", "failed", "interrupted", "cancelled"] as const)(
    "[PG21] an external answer with the status %s can't be requested again",
    (status) => {
      const { root } = renderEnded(status, { mode: "external" })
      const names = buttonsIn(root.querySelector("article[data-id=a]") as Element)
      expect(names.filter((name) => /again|Continue|Regenerate/.test(name ?? ""))).toEqual([])
    },
  )

  test("[PG21] a stopped answer without content is only a note and a button", () => {
    const { root } = renderEnded("cancelled", { segments: [] })
    const article = root.querySelector("article[data-id=a]") as Element
    expect(article.textContent).toBe("You stopped this response. Regenerate")
    expect(buttonsIn(article)).toEqual(["Regenerate"])
  })

  test("[PG21] only the last answer can be requested again, and only while none is running", async () => {
    const { root, store, actions } = transcript([user("q", "go"), answer("a"), user("q2", "on"), answer("b")])
    const buttonNames = () => [...root.querySelectorAll("article[data-role=assistant]")].map(buttonsIn)
    expect(buttonNames()).toEqual([
      ["Copy", "Reply"],
      ["Copy", "Reply", "Regenerate"],
    ])
    expect(root.querySelector("[data-id=b] .acts")?.hasAttribute("data-last")).toBe(true)
    findButton(root, "Regenerate").click()
    expect(actions.regenerateAnswer.mock.calls).toEqual([["b"]])
    store.applyFrame(messageFrame(2, 1, user("q3", "and?", { timestamp: "2026-05-02T14:00:01.000Z" })))
    store.applyFrame(messageFrame(3, 2, wireMessage("c", { exchange_id: "q3", timestamp: "2026-05-02T14:00:01.000Z" })))
    await delay()
    expect(buttonNames()).toEqual([["Copy", "Reply"], ["Copy", "Reply"], []])
    expect(
      [...root.querySelectorAll("[data-focus-key=edit]")].map((element) => element.getAttribute("aria-disabled")),
    ).toEqual(["true", "true", "true"])
  })

  test("[PG21] an answer is copied as Markdown, without thinking and tools", async () => {
    const writeText = vi.fn(() => Promise.resolve())
    vi.spyOn(navigator, "clipboard", "get").mockReturnValue({ writeText } as unknown as Clipboard)
    const segments = [
      { type: "thinking", content: "hm" },
      text("An **Array&lt;T>**"),
      call({ status: "ok" }),
      { type: "rich", tag: "weather_1", payload: {}, synthesis: "and wind" },
    ] as Segment[]
    expect(segmentsToCopyText(segments)).toBe("An **Array<T>**\n\nand wind")
    const { root } = transcript([answer("a", { segments })])
    findButton(root, "Copy").click()
    await delay()
    expect(writeText.mock.calls).toEqual([["An **Array<T>**\n\nand wind"]])
    expect(buttonsIn(root)).toContain("Copied")
  })
})

describe("queued messages", () => {
  test("[PG19] are marked as queued, and can be withdrawn", async () => {
    const { root, actions, commands, store } = transcript([
      user("q", "go"),
      answer("a", { status: "running" }),
      user("q2", "later", { status: "queued" }),
    ])
    const article = root.querySelector("article[data-id=q2]") as Element
    expect(article.querySelector(".note")?.textContent).toBe("Queued Cancel")
    expect(buttonsIn(article)).toEqual(["Cancel"])
    findButton(article, "Cancel").click()
    expect(actions.withdrawMessage.mock.calls).toEqual([["q2"]])
    commands.sendCommand("q2", { type: "withdraw", id: "n", message: "q2" })
    await delay()
    expect(buttonsIn(article)).toEqual(["Cancelling…"])
    store.applyFrame(ops(2, 1, "q2", [{ op: "end", status: "cancelled", reason: null, metrics: null }]))
    await delay()
    expect(root.querySelector("article[data-id=q2]")).toBe(null)
  })
})

describe("editing a message", () => {
  async function openEditor() {
    const all = transcript([user("q", "old text"), answer("a")])
    findButton(all.root, "Edit").click()
    await delay()
    const field = all.root.querySelector("textarea") as HTMLTextAreaElement
    const typeText = async (value: string) => {
      field.value = value
      field.dispatchEvent(new Event("input", { bubbles: true }))
      await delay()
    }
    return { ...all, field, type: typeText }
  }

  test("[PG22] if the editor's code can't be loaded, a note says so, and the next press tries again", async () => {
    const { module } = messageEditor
    const loaded = module.peek()
    const setModule = (value: typeof loaded) => ((module as Signal<typeof loaded>).value = value)
    setModule(null)
    const load = vi.spyOn(messageEditor, "load").mockResolvedValue(false)
    try {
      const { root } = transcript([user("q", "old text"), answer("a")])
      findButton(root, "Edit").click()
      const note = await waitForElement(root, "[data-id=q] [role=alert]")
      expect(note.textContent).toContain("Couldn't open that.")
      expect(root.querySelector("[data-id=q] p")?.textContent).toBe("old text")
      load.mockResolvedValue(true)
      setModule(loaded)
      findButton(root, "Edit").click()
      await waitForElement(root, "textarea")
      await until(() => expect(root.querySelector("[data-id=q] [role=alert]")).toBe(null))
    } finally {
      load.mockRestore()
      setModule(loaded)
    }
  })

  test("[PG22] happens in place; Escape cancels it, and focus returns to the Edit button", async () => {
    const { root, field, actions } = await openEditor()
    expect(field.value).toBe("old text")
    expect(document.activeElement).toBe(field)
    expect(pressKey(field, "Escape", { isComposing: true }).defaultPrevented).toBe(false)
    expect(pressKey(field, "Escape").defaultPrevented).toBe(true)
    await delay()
    expect(root.querySelector("textarea")).toBe(null)
    expect(root.querySelector("article[data-id=q] p")?.textContent).toBe("old text")
    expect(document.activeElement?.getAttribute("aria-label")).toBe("Edit")
    expect(actions.editMessage).not.toHaveBeenCalled()
  })

  test("[PG22] Ctrl+Enter or Cmd+Enter saves; the editor stays until the edited message appears", async () => {
    const { root, field, type, actions, commands, store } = await openEditor()
    pressKey(field, "Enter")
    expect(actions.editMessage).not.toHaveBeenCalled()
    await type("new text")
    pressKey(field, "Enter", { ctrlKey: true })
    expect(actions.editMessage.mock.calls).toEqual([["q", "new text"]])
    commands.sendCommand("q", { type: "edit", id: "n", message: "q", content: "new text" })
    commands.acknowledgeCommand("n")
    await delay()
    expect(field.readOnly).toBe(true)
    expect(buttonsIn(root.querySelector(".editor") as Element)).toEqual(["Cancel", "Saving…"])
    pressKey(field, "Escape")
    await delay()
    expect(root.textContent).not.toContain("old text")
    store.loadPage({ messages: [user("n", "new text"), answer("b")], has_more: false, epoch: "e2", seq: 2 })
    await delay()
    expect(root.querySelector("textarea")).toBe(null)
    expect(root.querySelector("article[data-id=n] p")?.textContent).toBe("new text")
  })

  test("[PG22] until the server has received a saved edit, Escape or Cancel cancels it", async () => {
    for (const way of ["Escape", "Cancel"]) {
      const { root, type, actions, commands } = await openEditor()
      await type("new text")
      commands.sendCommand("q", { type: "edit", id: "n", message: "q", content: "new text" })
      await delay()
      // After a click on Save, focus is on that button.
      if (way === "Escape") pressKey(findButton(root, "Saving…"), "Escape")
      else findButton(root, "Cancel").click()
      await delay()
      expect(actions.cancelEdit.mock.calls).toEqual([["q"]])
      expect(root.querySelector("textarea")).toBe(null)
    }
  })

  test("[PG27] an editor that is removed and created again keeps its text", async () => {
    const { root, type, store, draft } = await openEditor()
    await type("half of it")
    expect([...draft.editTexts]).toEqual([["q", "half of it"]])
    store.loadPage({ messages: [], has_more: false, epoch: "e1", seq: 2 })
    await delay()
    expect(root.querySelector("textarea")).toBe(null)
    store.loadPage({ messages: [user("q", "old text")], has_more: false, epoch: "e1", seq: 2 })
    await delay()
    expect(root.querySelector("textarea")?.value).toBe("half of it")
  })

  test("[PG22] a refusal keeps the text; text that is empty or too long can't be saved", async () => {
    const { root, field, type, actions, commands } = await openEditor()
    await type(" ")
    pressKey(field, "Enter", { metaKey: true })
    await type("é".repeat(40_000))
    pressKey(field, "Enter", { metaKey: true })
    expect(root.querySelector(".editor .note")?.textContent).toBe("Messages can be up to 64 KB.")
    expect(actions.editMessage).not.toHaveBeenCalled()
    await type("new text")
    commands.sendCommand("q", { type: "edit", id: "n", message: "q", content: "new text" })
    await delay()
    commands.refuseCommand("n", "turn_running", "A response is in progress. Stop it first.")
    await delay()
    expect(field.value).toBe("new text")
    expect(field.readOnly).toBe(false)
    expect(root.querySelector("article[data-id=q] [role=alert]")?.textContent).toContain("Stop it first")
  })
})

describe("refused messages", () => {
  test("[PG5] Retry and Discard disappear when pressed, and focus moves to the composer", () => {
    const { root } = transcript([], [{ id: "n", content: "hi", at: 1, error: "No." }])
    for (const name of ["Retry", "Discard"]) {
      const before = focusRequests.value
      findButton(root, name).click()
      expect(focusRequests.value).toBe(before + 1)
    }
  })

  test("[OB9] a refused message offers its trace id for copying", async () => {
    const writeText = vi.fn(async () => {})
    vi.spyOn(navigator, "clipboard", "get").mockReturnValue({ writeText } as unknown as Clipboard)
    const { root } = transcript([], [{ id: "n", content: "hi", at: 1, error: "No.", trace: TRACE }])
    findButton(root, "Copy trace ID").click()
    expect(writeText).toHaveBeenCalledWith(TRACE)
    await delay()
    expect(root.querySelector(".fault")?.textContent).toContain("Copied")
  })

  test("[OB9] a message that was refused without a trace has no button to copy one", () => {
    const { root } = transcript([], [{ id: "n", content: "hi", at: 1, error: "No." }])
    expect(root.textContent).not.toContain("Copy trace ID")
  })
})

describe("versions", () => {
  const second = { version: 2, versions: 3 }

  test("[PG23] a message with versions shows which is active, and lets the user switch", async () => {
    const { root, actions, commands } = transcript([user("q", "go", second), answer("a", { version: 1, versions: 2 })])
    const [questionSwitch, answerSwitch] = [...root.querySelectorAll(".versions")]
    expect(questionSwitch?.textContent).toBe("2/3")
    expect(questionSwitch?.getAttribute("aria-label")).toBe("Version 2 of 3")
    findButton(questionSwitch as Element, "Previous version").click()
    findButton(questionSwitch as Element, "Next version").click()
    findButton(answerSwitch as Element, "Previous version").click()
    expect(actions.switchVersion.mock.calls).toEqual([
      ["q", 1],
      ["q", 3],
    ])
    commands.sendCommand("a", { type: "switch", id: "n", message: "a", version: 2 })
    await delay()
    findButton(answerSwitch as Element, "Next version").click()
    expect(actions.switchVersion).toHaveBeenCalledTimes(2)
  })

  test("[PG23] a message with one version has no version switch", () => {
    const { root } = transcript([user("q", "go"), answer("a", { version: 1, versions: 1 })])
    expect(root.querySelector(".versions")).toBe(null)
  })

  test("[PG23] another version keeps the elements of unchanged parts, and focus stays on the switch", async () => {
    const open: Segment = { type: "thinking", content: "long", ms: 1 }
    const first = answer("first", { segments: [open, text("**same**")] })
    const { root, store } = transcript([user("q", "go"), first, user("q2", "on"), answer("b1", second)])
    const firstArticle = root.querySelector("article[data-id=first]") as HTMLElement
    const strong = firstArticle.querySelector("strong")
    ;(firstArticle.querySelector("details") as HTMLDetailsElement).open = true
    const shown = store.getMessageSignal("first")?.value.segments
    findButton(root, "Next version").focus()
    const page = [user("q", "go"), structuredClone(first), user("q2", "on"), answer("b2", { version: 3, versions: 3 })]
    store.loadPage({ messages: page, has_more: false, epoch: "e2", seq: 2 })
    await delay()
    expect(root.querySelector("article[data-id=first]")).toBe(firstArticle)
    expect(firstArticle.querySelector("strong")).toBe(strong)
    expect(firstArticle.querySelector("details")?.open).toBe(true)
    expect(store.getMessageSignal("first")?.value.segments[1]).toBe(shown?.[1])
    expect(document.activeElement?.getAttribute("aria-label")).toBe("Next version")
    expect(document.activeElement?.closest("article")?.dataset["id"]).toBe("b2")
  })
})
