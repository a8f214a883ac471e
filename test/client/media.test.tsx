/**
 * media.test.tsx: images, files, audio and video: what they request, and the placeholders that are shown before they
 * load.
 */

import { findEnglishTexts, findTexts } from "../../client/words/languages/language.ts"
import { findPseudoTexts } from "../../client/words/languages/pseudo-language.ts"
import { beforeEach, describe, expect, test, vi } from "vitest"
import { forgetClicks } from "../../client/media/loading/allowed-media.ts"
import { trackPlay, stopPlayback } from "../../client/media/exclusive-playback.ts"
import { formatClock, formatExtension } from "../../client/words/media-descriptions.ts"
import { formatSize } from "../../client/words/format/file-size.ts"
import { lightboxModule } from "../../client/media/loading/deferred-lightbox.ts"
import { samplesToBars } from "../../client/media/waveform.ts"
import { segmentsToSpokenText } from "../../client/markdown/markdown-to-text.ts"
import { segmentsToCopyText } from "../../client/transcript/copy-text.ts"
import type { Segment } from "../../shared/protocol/segment.ts"
import { waitForElement, delay, until } from "./dom.ts"
import { answer, text } from "./sample-messages.ts"
import { transcript } from "./render-transcript.tsx"

const listSources = (root: Element) => [...root.querySelectorAll("img")].map((element) => element.getAttribute("src"))

const imageSegment = (url: string, label = "a chart"): Segment => ({ type: "media", url, kind: "image", label })
const REMOTE = "https://example.com/cat.png"
const createCanvas = (url: string): Segment => ({
  type: "canvas",
  preview: { kind: "canvas", surface: "assistant_message", render: "url", url, title: "Plan", preferredHeight: 200 },
})

beforeEach(() => {
  document.body.replaceChildren()
  forgetClicks()
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network in this test")))
})

describe("images", () => {
  test("[PG38] [PG39] [PG56] a stored image is signed and shown; text that streams in next to it doesn't reload it", async () => {
    const first = answer("a", { status: "running", segments: [text("See:"), imageSegment("/media/x"), text("So")] })
    const { root, store, actions } = transcript([first])
    const image = await waitForElement<HTMLImageElement>(root, "img")
    expect(image.getAttribute("src")).toBe("/media/x?token=t")
    expect(image.alt).toBe("a chart")
    store.applyFrame({
      type: "ops",
      seq: 2,
      prev: 1,
      message: "a",
      ops: [{ op: "text", at: 2, offset: 2, text: " it is" }],
    })
    await until(() => expect(root.textContent).toContain("So it is"))
    expect(root.querySelector("img")).toBe(image)
    expect(image.getAttribute("src")).toBe("/media/x?token=t")
    expect(actions.signUrls.mock.calls).toEqual([[["/media/x"]]])
  })

  test("[PG38] an image that fails gets another URL once, then shows the failure and a retry button", async () => {
    vi.stubGlobal("fetch", async () => new Response("no picture"))
    const { root, actions } = transcript([answer("a", { segments: [imageSegment("/media/x")] })])
    const first = await waitForElement(root, "img")
    first.dispatchEvent(new Event("error"))
    await until(() => expect(actions.signUrls).toHaveBeenCalledTimes(2))
    // Another element has replaced it.
    await until(() => expect(root.querySelector("img")).not.toBe(first))
    ;(await waitForElement(root, "img")).dispatchEvent(new Event("error"))
    const gate = await waitForElement(root, ".gate")
    expect(actions.signUrls).toHaveBeenCalledTimes(2)
    expect(gate.textContent).toBe("a chart Your browser can't open this file.Try again")
    root.querySelector<HTMLButtonElement>(".gate button")?.click()
    await waitForElement(root, "img")
    expect(actions.signUrls).toHaveBeenCalledTimes(3)
  })

  test("[PG38] an image whose URL expires after every load gets a new URL each time", async () => {
    const { root, actions } = transcript([answer("a", { segments: [imageSegment("/media/x")] })])
    for (let requests = 2; requests <= 4; requests++) {
      const shown = await waitForElement(root, "img")
      shown.dispatchEvent(new Event("load"))
      shown.dispatchEvent(new Event("error"))
      await until(() => expect(actions.signUrls).toHaveBeenCalledTimes(requests))
      await until(() => expect(root.querySelector("img")).not.toBe(shown))
    }
    expect(root.querySelector(".gate")).toBe(null)
  })

  test("[PG55] [LG2] media that failed because of the network loads without a click once the network is back, whether the URL or the bytes failed", async () => {
    const { root, actions, link } = transcript([
      answer("a", { segments: [imageSegment("/media/x"), imageSegment("/media/y")] }),
    ])
    await until(() => expect(listSources(root)).toHaveLength(2))
    const [first] = root.querySelectorAll("img")
    first?.dispatchEvent(new Event("error"))
    await until(() => expect(root.querySelector("img")).not.toBe(first))
    await until(() => expect(listSources(root)).toHaveLength(2))
    root.querySelector("img")?.dispatchEvent(new Event("error"))
    expect((await waitForElement(root, ".gate")).textContent).toBe("a chart Couldn't load.Try again")
    findTexts.value = findPseudoTexts
    await until(() => expect(root.querySelector(".gate")?.textContent, "[LG2]").toContain("⟦Couldn't load.⟧"))
    findTexts.value = findEnglishTexts
    link.value = "waiting"
    actions.signUrls.mockRejectedValueOnce(new TypeError("no network"))
    root.querySelector("img")?.dispatchEvent(new Event("error"))
    await until(() => expect(root.querySelectorAll(".gate")).toHaveLength(2))
    link.value = "live"
    await until(() => expect(listSources(root)).toHaveLength(2))
    expect(root.querySelectorAll(".gate")).toHaveLength(0)
  })

  test("[PG40] a remote image is shown as its text, its host and a button; nothing is requested before a click", async () => {
    const message = answer("a", { segments: [imageSegment(REMOTE, "a cat"), text(`Also ![a cat](${REMOTE}) here`)] })
    const { root, actions } = transcript([message])
    await waitForElement(root, ".gate")
    await delay()
    expect(root.querySelectorAll("img, video, audio, iframe")).toHaveLength(0)
    expect(actions.signUrls).not.toHaveBeenCalled()
    const gates = [...root.querySelectorAll(".gate")].map((element) => element.textContent)
    expect(gates).toEqual(Array(2).fill("a cat Image from example.comLoad"))
    root.querySelector<HTMLButtonElement>(".gate button")?.click()
    // The click applies to the URL wherever it is shown.
    await until(() => expect(listSources(root)).toEqual(Array(2).fill(`${REMOTE}?token=t`)))
    expect(root.querySelectorAll(".gate")).toHaveLength(0)
    expect(actions.signUrls.mock.calls).toEqual([[[REMOTE]]])
    // It also applies in another transcript of this page, but to no other URL.
    const other = transcript([answer("b", { segments: [imageSegment(REMOTE), imageSegment(`${REMOTE}?more`)] })])
    await waitForElement(other.root, "img")
    expect(other.root.querySelectorAll("img")).toHaveLength(1)
  })

  test("[PG40] an image on a host that the tenant allows needs no click, even if the settings arrive later; one on a look-alike host does", async () => {
    const segments = [
      imageSegment(REMOTE),
      imageSegment("https://example.com.evil.test/cat.png"),
      imageSegment("https://cdn.example.com/x.png"),
    ]
    const { root, settings } = transcript([answer("a", { segments })])
    await waitForElement(root, ".gate")
    await delay()
    expect(root.querySelectorAll("img")).toHaveLength(0)
    settings.value = { media_hosts: ["example.com"], embed_origins: [] }
    await until(() => expect(listSources(root)).toEqual([`${REMOTE}?token=t`]))
  })

  test("[PG63] for refused media, the server's error text is shown, with a link", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ text: "The address is not public." }, { status: 403 }))
    const { root } = transcript([answer("a", { segments: [imageSegment(REMOTE, "a cat")] })])
    root.querySelector<HTMLButtonElement>(".gate button")?.click()
    const first = await waitForElement(root, "img")
    first.dispatchEvent(new Event("error"))
    await until(() => expect(root.querySelector("img")).not.toBe(first))
    ;(await waitForElement(root, "img")).dispatchEvent(new Event("error"))
    await until(() => expect(root.querySelector(".gate small")?.textContent).toBe("The address is not public."))
    const link = root.querySelector<HTMLAnchorElement>(".gate a")
    expect([link?.href, link?.target, link?.rel]).toEqual([REMOTE, "_blank", "noopener noreferrer"])
  })

  test("[PG62] [PG63] a file is requested on a click, and becomes a link if it is refused", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ text: "That address gives nothing." }, { status: 502 }))
    const far = "https://example.com/report.pdf"
    const file: Segment = { type: "media", url: far, kind: "file", label: "report.pdf" }
    const { root, actions } = transcript([answer("a", { segments: [file] })])
    const button = await waitForElement<HTMLButtonElement>(root, "button.file")
    expect([button.getAttribute("aria-label"), button.textContent]).toEqual([
      "Download report.pdf, from example.com",
      "PDFreport.pdf PDF · example.com",
    ])
    expect(actions.signUrls).not.toHaveBeenCalled()
    expect(root.querySelector(".media a")).toBeNull()
    button.click()
    const link = await waitForElement<HTMLAnchorElement>(root, ".media a")
    expect([link.href, link.target, link.rel]).toEqual([far, "_blank", "noopener noreferrer"])
    expect(button.textContent).toContain("That address gives nothing.")
    expect(button.getAttribute("aria-label")).toContain("That address gives nothing.")
    expect(actions.signUrls.mock.calls).toEqual([[[far]]])
  })

  test("[MD6] Markdown shows images with the server's media URLs, and with no other URL of this origin", async () => {
    const { root, actions } = transcript([
      answer("a", {
        segments: [
          text(
            "![mine](/media/x) ![no](/media/x/../../v1/sessions) ![nor](/media/x?token=1) ![http](http://example.com/a.png)",
          ),
        ],
      }),
    ])
    await until(() => expect(listSources(root)).toEqual(["/media/x?token=t"]))
    expect(actions.signUrls.mock.calls).toEqual([[["/media/x"]]])
    expect(root.querySelector("a.picture")?.textContent).toBe("http example.com")
  })

  test("[PG57] a click opens an image among those of its message; Escape closes the viewer, and focus returns to the image", async () => {
    const { root, actions } = transcript([
      answer("a", { segments: [imageSegment("/media/x", "one"), imageSegment("/media/y", "two")] }),
      answer("b", { segments: [imageSegment("/media/z", "another")] }),
    ])
    await until(() => expect(listSources(root)).toHaveLength(3))
    const frame = [...root.querySelectorAll<HTMLElement>(".frame")][1]
    frame?.focus()
    frame?.click()
    const findLightbox = (): HTMLElement | null => root.querySelector("dialog.lightbox")
    await until(() => expect(findLightbox()?.querySelector("header p")?.textContent).toBe("two 2 of 2"))
    const pressKey = async (key: string): Promise<boolean> => {
      const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })
      findLightbox()?.dispatchEvent(event)
      await delay()
      return event.defaultPrevented
    }
    await pressKey("ArrowLeft")
    await until(() => expect(findLightbox()?.querySelector(".stage img")?.getAttribute("src")).toBe("/media/x?token=t"))
    await pressKey("ArrowLeft")
    expect(findLightbox()?.querySelector("header p")?.textContent).toBe("one 1 of 2")
    // The URL has expired since the image was loaded.
    const old = actions.signUrls.mock.calls.length
    findLightbox()?.querySelector(".stage img")?.dispatchEvent(new Event("error"))
    await until(() =>
      expect([actions.signUrls.mock.calls.length, findLightbox()?.querySelectorAll(".stage img").length]).toEqual([
        old + 1,
        1,
      ]),
    )
    await until(() => {
      findLightbox()?.querySelector(".stage img")?.dispatchEvent(new Event("error"))
      expect(findLightbox()?.querySelector(".stage")?.textContent).toBe("Couldn't load.")
    })
    expect(await pressKey("Escape")).toBe(true)
    await until(() => expect(findLightbox()).toBe(null))
    expect(document.activeElement).toBe(frame)
  })

  test("[PG57] if the viewer's code can't be loaded, the image opens in a new tab", async () => {
    const { root } = transcript([answer("a", { segments: [imageSegment("/media/x", "one")] })])
    await until(() => expect(listSources(root)).toHaveLength(1))
    const loading = vi.spyOn(lightboxModule, "load").mockResolvedValue(false)
    const opening = vi.spyOn(window, "open").mockReturnValue(null)
    root.querySelector<HTMLElement>(".frame")?.click()
    await until(() => expect(opening).toHaveBeenCalledTimes(1))
    expect(opening.mock.calls[0]?.[0]).toContain("/media/x?token=t")
    expect(root.querySelector("dialog.lightbox")).toBe(null)
    loading.mockRestore()
    opening.mockRestore()
  })
})

describe("audio", () => {
  const createAudio = (): HTMLMediaElement => Object.assign(document.createElement("audio"), { pause: vi.fn() })

  test("[PG58] only one element plays at a time, and stopping it a second time does nothing", () => {
    const [first, second] = [createAudio(), createAudio()]
    trackPlay(first)
    trackPlay(second)
    expect(first.pause).toHaveBeenCalledTimes(1)
    expect(stopPlayback()).toBe(true)
    expect(second.pause).toHaveBeenCalledTimes(1)
    expect(stopPlayback()).toBe(false)
  })

  test("[PG58] a player has a name and a position, and works by keyboard", async () => {
    const { root } = transcript([
      answer("a", { segments: [{ type: "media", url: "/media/s", kind: "audio", label: "note.wav", voice: true }] }),
    ])
    const sound = await waitForElement<HTMLAudioElement>(root, "audio[src]")
    expect(sound.getAttribute("src")).toBe("/media/s?token=t")
    expect(root.querySelector("fieldset")?.getAttribute("aria-label")).toBe("Voice note: note.wav")
    const range = root.querySelector("input[type=range]") as HTMLInputElement
    const seekForward = (): void => {
      range.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }))
    }
    // The length of a recording may be unknown until the recording has been played.
    let duration = Number.POSITIVE_INFINITY
    Object.defineProperty(sound, "duration", { get: () => duration })
    sound.dispatchEvent(new Event("durationchange"))
    await until(() => expect(root.querySelector(".time")?.textContent).toBe(""))
    seekForward()
    await until(() => expect([sound.currentTime, range.getAttribute("aria-valuetext")]).toEqual([5, "0:05"]))
    duration = 75
    sound.dispatchEvent(new Event("durationchange"))
    await until(() => expect(range.getAttribute("aria-valuetext")).toBe("0:05 of 1:15"))
    seekForward()
    await until(() => expect(root.querySelector(".time")?.textContent).toBe("0:10 / 1:15"))
    expect([sound.currentTime, range.getAttribute("aria-valuetext")]).toEqual([10, "0:10 of 1:15"])
  })

  test.each(["audio", "video"] as const)(
    "[PG59] %s whose URL has expired continues at the same position",
    async (kind) => {
      const { root, actions } = transcript([
        answer("a", { segments: [{ type: "media", url: "/media/s", kind, label: "talk" }] }),
      ])
      const element = await waitForElement<HTMLMediaElement>(root, `${kind}[src]`)
      const play = vi.spyOn(element, "play").mockResolvedValue()
      element.currentTime = 75
      Object.defineProperty(element, "paused", { value: false })
      element.dispatchEvent(new Event("error"))
      element.currentTime = 0
      await until(() => expect([actions.signUrls.mock.calls.length, root.querySelector(kind)]).toEqual([2, element]))
      element.dispatchEvent(new Event("loadedmetadata"))
      await until(() => expect([element.currentTime, play.mock.calls.length]).toEqual([75, 1]))
    },
  )

  test("[PG58] the waveform follows the loudness, and its highest value is 1", () => {
    const samples = Float32Array.from({ length: 400 }, (_, at) =>
      at < 100 ? 0 : at < 200 ? 0.25 : at < 300 ? 0.5 : 0.1,
    )
    expect(samplesToBars(samples, 4)).toEqual([0.06, 0.5, 1, 0.2])
    expect(samplesToBars(new Float32Array(4), 4)).toEqual([0.06, 0.06, 0.06, 0.06])
  })
})

describe("media descriptions", () => {
  test("[PG61] announcements and copies contain the kind and the label", () => {
    const voice: Segment = { type: "media", url: "/media/v", kind: "audio", label: "hello", voice: true }
    const segments = [text("Look."), imageSegment("/media/x"), voice, createCanvas("/canvas/documents/d/index.html")]
    expect(segmentsToSpokenText(segments)).toBe("Look. Image: a chart. Voice note: hello. Document: Plan.")
    expect(segmentsToCopyText(segments)).toBe("Look.\n\n[Image: a chart]\n\n[Voice note: hello]\n\n[Document: Plan]")
  })

  test("[PG60] sizes, extensions and durations are short", () => {
    expect([0, 1023, 1024, 10_000, 10_240, 1_047_551, 1_048_064, 12_400_000].map(formatSize)).toEqual([
      "0 bytes",
      "1023 bytes",
      "1 KB",
      "9.8 KB",
      "10 KB",
      "1023 KB",
      "1 MB",
      "11.8 MB",
    ])
    expect([
      formatExtension("a.pdf"),
      formatExtension("x", "application/json"),
      formatExtension("no.ending here"),
    ]).toEqual(["PDF", "JSON", ""])
    expect([0, 9.6, 75, Number.NaN].map(formatClock)).toEqual(["0:00", "0:10", "1:15", "0:00"])
  })
})
