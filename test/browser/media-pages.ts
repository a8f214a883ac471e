/** media-pages.ts: opens pages that show media, and drops and uploads files in them. */

import type { BrowserContext, Page } from "playwright-core"
import type { PageSettings } from "../../shared/protocol/http-body.ts"
import { faultToWire } from "../../shared/fault.ts"
import type { WireMessage } from "../../shared/protocol/server-frame.ts"
import { withRoutedSockets } from "../support/reused-contexts.ts"
import { DESKTOP, openIn } from "./page.ts"
import { epochOf, createWireMessage, sendMessages, serveFiles, text } from "./samples.ts"
import type { BrowserSetup } from "./server-and-browser.ts"

/** A timeout that is longer than any loopback request takes, in milliseconds. */
export const SOON = { timeout: 20_000 }
/** The server's response to a file of a type that it doesn't accept. */
export const REFUSED = faultToWire({ reason: "asset_type_refused" })
export const FAR = "https://pictures.example.com/harbour.png"
export const PLAN = "/canvas/documents/plan/index.html"

interface Scene {
  readonly size?: typeof DESKTOP
  readonly theme?: "light" | "dark"
  readonly settings?: PageSettings
}

/** Opens a page that shows these messages, and serves this test's files. */
export async function openWithMessages(
  setup: BrowserSetup,
  messages: readonly WireMessage[],
  { size = DESKTOP, theme = "light", settings }: Scene = {},
) {
  const context = await setup.browser.newContext(withRoutedSockets({ viewport: size, colorScheme: theme }))
  const served = await serveFiles(context, setup.files, settings)
  const { id } = await setup.cuecard.createSession()
  const wire = await sendMessages(context, await epochOf(setup.cuecard.url, setup.cuecard.token, id), messages)
  const { page, errors, externalUrls } = await openIn(context, setup.cuecard, `#/s/${id}`)
  if (messages.length > 0) await page.waitForSelector("article >> nth=-1")
  return { context, page, errors, externalUrls, wire, ...served }
}

export const createMessages = (...segments: WireMessage["segments"]) => [
  createWireMessage("user", [text("Show me")]),
  createWireMessage("assistant", segments),
]
export const isShown = (page: Page, selector = ".frame img") =>
  page.waitForFunction((of) => {
    const image = document.querySelector<HTMLImageElement>(of)
    return image?.complete === true && image.naturalWidth > 0
  }, selector)

/** Holds back uploads until the returned function is called. */
export async function holdUploads(context: BrowserContext): Promise<() => void> {
  let resumeUploads = (): void => {}
  const held = new Promise<void>((done) => {
    resumeUploads = done
  })
  await context.route("**/assets?name=*", async (route) => {
    const label = new URL(route.request().url()).searchParams.get("name") ?? ""
    if (label.endsWith(".exe")) {
      return route.fulfill({ status: 415, json: REFUSED })
    }
    await held
    const id = label.replace(/\W.*$/, "")
    const kind = label.endsWith(".png") ? "image" : "file"
    const asset = { id, kind, mime_type: "text/plain", label, size: 24, duplicate: false }
    return await route.fulfill({ status: 201, json: asset })
  })
  return () => resumeUploads()
}

export const dropFiles = (page: Page, selector: string, names: readonly string[]) =>
  page.evaluate(
    ([of, ...all]) => {
      const data = new DataTransfer()
      for (const name of all) data.items.add(new File(["some words"], name, { type: "text/plain" }))
      const target = document.querySelector(of ?? "")
      for (const type of ["dragover", "drop"]) {
        target?.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
      }
    },
    [selector, ...names],
  )
