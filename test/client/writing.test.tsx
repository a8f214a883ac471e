/** writing.test.tsx: suggestions, long pastes, dictation, notifications and reading aloud, without a server. */

import { signal } from "@preact/signals"
import fc from "fast-check"
import { act } from "preact/test-utils"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { openNotified } from "../../client/service-worker/open-notified.ts"
import { Draft } from "../../client/session/draft.ts"
import { splitSentences, guessLanguage, startReading, stopReading } from "../../client/writing/answers/read-aloud.ts"
import { deservesNotification, notifyAboutAnswer, switchNotifying } from "../../client/writing/answer-notifications.ts"
import { appendPhrase } from "../../client/writing/dictation.ts"
import { createPastedFile, isLongPaste } from "../../client/writing/long-paste.ts"
import { listedAgents, savedPrompts } from "../../client/writing/prompt-store.ts"
import { ComposerDialogs, ComposerTools } from "../../client/writing/composer-tools.tsx"
import { filterByName, findSuggestionQuery } from "../../client/writing/suggestion-query.ts"
import type { WritingHost } from "../../client/writing/writing-host.ts"
import type { Api } from "../../client/net/api.ts"
import { draw } from "./dom.ts"
import { wireMessage } from "./fake-server.ts"

beforeEach(() => document.body.replaceChildren())

describe("completions in the message box", () => {
  test.each([
    ["/", { kind: "prompt", text: "", from: 0, to: 1 }],
    ["/sum up", { kind: "prompt", text: "sum up", from: 0, to: 7 }],
    ["@", { kind: "agent", text: "", from: 0, to: 1 }],
    ["ask @res", { kind: "agent", text: "res", from: 4, to: 8 }],
    ["(@re", { kind: "agent", text: "re", from: 1, to: 4 }],
    ["me@example", null],
    [" /x", null],
    ["a/b", null],
    ["/usr/bin", null],
    ["/a\nb", null],
    ["@a b", null],
  ])("[WR21] %j looks up %j", (text, query) => {
    expect(findSuggestionQuery(text, text.length)).toEqual(query)
  })

  test("[WR21] names match at the beginning of a word, ignoring case and accents, and matches of the first word come first", () => {
    const entries = ["Long résumé", "Résumé", "Summary", "Re-write"].map((name) => ({ name }))
    expect(filterByName(entries, "re").map(({ name }) => name)).toEqual(["Résumé", "Re-write", "Long résumé"])
    expect(filterByName(entries, "")).toEqual(entries)
    expect(filterByName(entries, "x")).toEqual([])
  })
})

describe("long pastes", () => {
  test("[WR30] more than 4,000 characters or 60 lines become a text file", async () => {
    expect(isLongPaste("x".repeat(4_000))).toBe(false)
    expect(isLongPaste("x".repeat(4_001))).toBe(true)
    expect(isLongPaste("x\n".repeat(59))).toBe(false)
    expect(isLongPaste("x\n".repeat(60))).toBe(true)
    const file = createPastedFile("a\nb", "Pasted text", 2)
    expect([file.name, file.type, await file.text()]).toEqual(["Pasted text 2.txt", "text/plain", "a\nb"])
  })
})

describe("the composer's tools", () => {
  async function drawTools(isNew = true) {
    const draft = new Draft()
    const host: WritingHost = {
      api: {} as Api,
      controller: signal(isNew ? null : { id: "s1" }),
      nextOptions: signal({}),
      draft,
      showSession: () => {},
    }
    const onFiles = vi.fn()
    const onEnter = vi.fn()
    const form = document.createElement("form")
    const field = document.createElement("textarea")
    form.append(field)
    document.body.append(form)
    field.addEventListener("keydown", onEnter)
    const type = (text: string): Promise<void> =>
      act(() => {
        field.value = text
        draft.text.value = text
        field.setSelectionRange(text.length, text.length)
        field.dispatchEvent(new InputEvent("input", { bubbles: true }))
      })
    const press = async (key: string, more: KeyboardEventInit = {}): Promise<KeyboardEvent> => {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more })
      await act(() => void field.dispatchEvent(event))
      return event
    }
    vi.spyOn(savedPrompts, "ensure").mockResolvedValue()
    vi.spyOn(listedAgents, "ensure").mockResolvedValue()
    savedPrompts.entries.value = [
      { id: "p1", name: "Sum up", text: "Summarise this.", changed: 0 },
      { id: "p2", name: "Translate", text: "Translate this.", changed: 0 },
    ]
    listedAgents.entries.value = [
      { name: "general", description: "Everything" },
      { name: "researcher", description: "Looks things up" },
    ]
    await act(() => {
      draw(
        <>
          <ComposerTools host={host} field={{ current: field }} onFiles={onFiles} />
          <ComposerDialogs host={host} onFiles={onFiles} />
        </>,
      )
    })
    const options = () => [...document.querySelectorAll("[role=option] b")].map((element) => element.textContent)
    return { host, draft, field, onFiles, onEnter, type, press, options }
  }

  test("[TM9] for an agent with an effort, the user can choose another effort, which later messages then use until the choice is removed", async () => {
    const { host, draft } = await drawTools()
    const openMenu = () => act(() => void document.querySelector<HTMLButtonElement>("button.tools")?.click())
    const items = () => [...document.querySelectorAll<HTMLElement>("[role=menuitem]")]
    const findItem = () => items().find(({ textContent }) => textContent?.startsWith("Thinking: "))
    await openMenu()
    expect(findItem()).toBeUndefined()
    await openMenu()
    listedAgents.entries.value = [{ name: "general", description: "Everything", effort: "medium" }]
    await openMenu()
    await vi.waitFor(() => expect(findItem()?.textContent).toBe("Thinking: As usual"))
    for (const level of ["Short", "Medium", "Long"]) {
      await act(() => findItem()?.click())
      expect(findItem()?.textContent).toBe(`Thinking: ${level}`)
    }
    expect(document.querySelector(".chip b")?.textContent).toBe("Thinking: Long")
    expect([draft.takeExtras(), draft.takeExtras()]).toEqual([{ effort: "high" }, { effort: "high" }])
    await act(() => document.querySelector<HTMLButtonElement>(".chip button")?.click())
    expect([draft.takeExtras(), document.querySelector(".chip")]).toEqual([{}, null])
    host.nextOptions.value = { agent: "researcher" }
    await act(() => {})
    expect(findItem()).toBeUndefined()
    await openMenu()
  })

  test("[WR21] the list follows what is typed; the box refers to the list while it is open, and Enter inserts the entry", async () => {
    const { draft, field, onEnter, type, press, options } = await drawTools()
    await type("/")
    expect(options()).toEqual(["Sum up", "Translate"])
    expect([field.getAttribute("aria-autocomplete"), field.getAttribute("aria-haspopup")]).toEqual(["list", "listbox"])
    expect(document.getElementById(field.getAttribute("aria-controls") ?? "")?.getAttribute("role")).toBe("listbox")
    await press("ArrowDown")
    expect(field.getAttribute("aria-activedescendant")).toBe("composer-suggestions-p2")
    expect(document.querySelector("[aria-selected=true]")?.id).toBe("composer-suggestions-p2")
    expect((await press("Enter")).defaultPrevented).toBe(true)
    expect(onEnter).not.toHaveBeenCalled()
    expect(draft.text.value).toBe("Translate this.")
    expect([options(), field.getAttribute("aria-controls")]).toEqual([[], null])
  })

  test("[WR21] an Enter right after the list has closed sends the message", async () => {
    const { draft, field, onEnter, type, options } = await drawTools()
    await type("/su")
    const pressAtOnce = () => {
      const event = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true })
      field.dispatchEvent(event)
      return event
    }
    pressAtOnce()
    // Rendering happens in microtasks. Effects, which `act` would run, wait for a frame.
    while (options().length > 0) await Promise.resolve()
    expect([draft.text.value, onEnter.mock.calls.length]).toEqual(["Summarise this.", 0])
    expect(pressAtOnce().defaultPrevented).toBe(false)
    expect(onEnter).toHaveBeenCalledOnce()
  })

  test("[WR21] keys of an input method and keys with a modifier are ignored; Escape closes the list without inserting", async () => {
    const { draft, onEnter, type, press, options } = await drawTools()
    await type("/su")
    for (const more of [{ isComposing: true }, { keyCode: 229 }, { shiftKey: true }, { ctrlKey: true }]) {
      expect((await press("Enter", more)).defaultPrevented).toBe(false)
    }
    expect(onEnter).toHaveBeenCalledTimes(4)
    expect((await press("Escape")).defaultPrevented).toBe(true)
    expect([options(), draft.text.value]).toEqual([[], "/su"])
    await type("/sum")
    expect(options()).toEqual([])
    await type("")
    await type("/")
    expect(options()).toHaveLength(2)
  })

  test("[WR31] an agent is chosen for a new conversation, and its name is removed from the text", async () => {
    const { host, type, press, options } = await drawTools()
    await type("Look up tea @res")
    expect(options()).toEqual(["researcher"])
    await press("Tab")
    expect([host.nextOptions.value.agent, host.draft.text.value]).toEqual(["researcher", "Look up tea "])
    expect(document.querySelector(".chip.agent")?.textContent).toContain("researcher")
    await act(() => document.querySelector<HTMLElement>(".chip.agent button")?.click())
    expect([host.nextOptions.value.agent, document.querySelector(".chip.agent")]).toEqual([undefined, null])
  })

  test("[WR31] in an open conversation, the list says that choosing an agent starts a new conversation", async () => {
    const { type } = await drawTools(false)
    await type("@res")
    expect(document.querySelector("[role=option]")?.textContent).toContain("Starts a new conversation")
  })

  test("[WR30] a long paste is attached, and the browser handles a short one", async () => {
    const { field, onFiles } = await drawTools()
    const paste = (text: string): ClipboardEvent => {
      const clipboardData = new DataTransfer()
      clipboardData.setData("text/plain", text)
      const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })
      field.dispatchEvent(event)
      return event
    }
    expect(paste("short").defaultPrevented).toBe(false)
    expect(onFiles).not.toHaveBeenCalled()
    expect(paste("x".repeat(5_000)).defaultPrevented).toBe(true)
    expect(onFiles.mock.calls[0]?.[0]).toMatchObject([{ name: "Pasted text.txt", size: 5_000 }])
  })

  test("[WR22] [WR33] [WR34] the menu offers what the browser supports", async () => {
    await drawTools()
    await act(() => document.querySelector<HTMLElement>("button.tools")?.click())
    const items = [...document.querySelectorAll("[role=menuitem]")].map((element) => element.textContent)
    expect(items).toContain("Saved prompts…")
    expect(items).not.toContain("Dictate")
  })
})

test("[WR32] dictated phrases are joined with one space", () => {
  expect(appendPhrase("", " Hello ")).toBe("Hello")
  expect(appendPhrase("Hello", "world")).toBe("Hello world")
  expect(appendPhrase("Hello\n", "world")).toBe("Hello\nworld")
})

test("[WR34] only a long answer that ends while the page is hidden, and that the user didn't stop, causes a notification", () => {
  const ended = (ms: number, status: "completed" | "cancelled" | "failed" = "completed") =>
    wireMessage("a", { status, metrics: { ms, steps: 1 } })
  expect(deservesNotification(ended(9_000), true)).toBe(true)
  expect(deservesNotification(ended(9_000, "failed"), true)).toBe(true)
  expect(deservesNotification(ended(9_000), false)).toBe(false)
  expect(deservesNotification(ended(7_000), true)).toBe(false)
  expect(deservesNotification(ended(9_000, "cancelled"), true)).toBe(false)
})

describe("notifications", () => {
  const answer = wireMessage("a", { status: "completed", metrics: { ms: 9_000, steps: 1 } })
  const shown: Notification[] = []
  let canConstruct = true

  class FakeNotification {
    static permission = "granted"
    static requestPermission = async () => "granted"
    onclick: (() => void) | null = null
    readonly title: string
    constructor(title: string) {
      if (!canConstruct) throw new TypeError("Illegal constructor. Use ServiceWorkerRegistration.showNotification()")
      this.title = title
      shown.push(this as unknown as Notification)
    }
    close(): void {}
  }

  beforeEach(async () => {
    shown.length = 0
    canConstruct = true
    vi.stubGlobal("Notification", FakeNotification)
    vi.spyOn(document, "hidden", "get").mockReturnValue(true)
    await switchNotifying(true)
    location.hash = "#/s/one"
  })
  afterEach(() => {
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
    location.hash = ""
  })

  test("[WR34] a click opens the conversation, even if another one is open by that time", async () => {
    await notifyAboutAnswer(answer, "Tea")
    expect(shown.map(({ title }) => title)).toEqual(["Tea"])
    location.hash = "#/s/two"
    shown[0]?.onclick?.(new Event("click"))
    expect(location.hash).toBe("#/s/one")
  })

  test("[WR34] where only a service worker can show notifications, as on a phone, it shows them", async () => {
    canConstruct = false
    await expect(notifyAboutAnswer(answer, "Tea")).resolves.toBeUndefined()
    const showNotification = vi.fn(async () => {})
    const serviceWorker = { getRegistration: async () => ({ active: {}, showNotification }) }
    vi.stubGlobal("navigator", { ...navigator, serviceWorker })
    await notifyAboutAnswer(answer, "Tea")
    const options = { body: "Your response is ready.", tag: "a", data: "#/s/one" }
    expect(showNotification.mock.calls).toEqual([["Tea", options]])
  })

  test.each([
    [["https://chat.test/#/s/two", "https://chat.test/#/s/one"], "#/s/one", ["focus 1"]],
    [["https://chat.test/admin", "https://chat.test/#/s/two"], "#/s/one", ["focus 1", "1 https://chat.test/#/s/one"]],
    [["https://chat.test/admin"], "#/s/one", ["open https://chat.test/#/s/one"]],
    [[], "//else.test", ["open https://chat.test/"]],
  ])("[WR34] the service worker, with the windows %j, opens %j", async (urls, hash, expected) => {
    const done: string[] = []
    const windows = urls.map((url, at) => ({
      url,
      focus: async () => void done.push(`focus ${at}`),
      navigate: async (address: string) => void done.push(`${at} ${address}`),
    }))
    const openWindow = async (address: string) => void done.push(`open ${address}`)
    await openNotified({ matchAll: async () => windows, openWindow }, "https://chat.test", hash)
    expect(done).toEqual(expected)
  })
})

describe("reading aloud", () => {
  test("[WR35] text is read in pieces that every browser reads to the end, and nothing is left out", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 2_000 }), (text) => {
        const pieces = splitSentences(text)
        expect(pieces.every((piece) => piece.length <= 200)).toBe(true)
        expect(pieces.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""))
      }),
      { numRuns: 100 },
    )
    expect(splitSentences("One. Two! 三。")).toEqual(["One. Two! 三。"])
  })

  test.each([
    ["Hello there", null],
    ["今天天气很好", "zh"],
    ["今日は晴れです", "ja"],
    ["مرحبا بالعالم", "ar"],
    ["שלום עולם", "he"],
    ["नमस्ते", "hi"],
    ["123", null],
  ])("[WR35] %j is read in %j", (text, language) => {
    expect(guessLanguage(text)).toBe(language)
  })

  test("[WR35] a voice is requested only by language and region", () => {
    const languages: string[] = []
    vi.stubGlobal("SpeechSynthesisUtterance", class {})
    vi.stubGlobal("speechSynthesis", { cancel() {}, speak: ({ lang }: { lang: string }) => void languages.push(lang) })
    startReading("a", "Hello.", "en-US-u-nu-latn")
    stopReading()
    expect(languages).toEqual(["en-US"])
    vi.unstubAllGlobals()
  })
})
