/**
 * chromium.ts: a real Chromium for the browser tests, on any Linux machine.
 *
 * An installed one is preferred (CHROME_PATH, then the usual places), because it has the machine's fonts. Else the one
 * that comes as a package, which unpacks itself, its shared libraries and a font into the temporary folder.
 */
import { existsSync } from "node:fs"
import process from "node:process"
import { type Browser, chromium } from "playwright-core"

const INSTALLED = [
  process.env["CHROME_PATH"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
]

/** Quiet and offline: the browser opens no connection but those of the page under test. */
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
]

/** Starts it. Close it with `browser.close()`. */
export async function launchChromium(): Promise<Browser> {
  const installed = INSTALLED.find((path) => path !== "" && existsSync(path))
  if (installed !== undefined) return chromium.launch({ executablePath: installed, args: FLAGS })
  const { default: packed } = await import("@sparticuz/chromium")
  return chromium.launch({ executablePath: await packed.executablePath(), args: [...packed.args, ...FLAGS] })
}
