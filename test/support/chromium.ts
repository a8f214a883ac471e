/**
 * chromium.ts: a real Chromium for the browser tests, on any Linux machine.
 *
 * An installed one is preferred: CHROME_PATH, then the usual places. Else the one that comes as an npm package is
 * unpacked once into node_modules/.cache, with the shared libraries (NSS, NSPR, Expat) and, for a machine without any,
 * the font that come with it. So `npm test` asks nothing of the machine but the C library.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { type Browser, chromium, type LaunchOptions } from "playwright-core"

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
  "--font-render-hinting=none",
]

const MODULES = join(import.meta.dirname, "../../node_modules")
const PACKAGE = join(MODULES, "@sparticuz/chromium")

/** The package unpacks into the temporary folder, so we lend it one; renaming last keeps half a browser from being seen. */
async function unpackInto(home: string): Promise<void> {
  mkdirSync(join(home, ".."), { recursive: true })
  const staging = mkdtempSync(`${home}-`)
  const before = process.env["TMPDIR"]
  process.env["TMPDIR"] = staging
  try {
    const { default: packed, inflate } = await import("@sparticuz/chromium")
    await packed.executablePath(join(PACKAGE, "bin"))
    await inflate(join(PACKAGE, "bin/al2023.tar.br"))
  } finally {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  }
  try {
    renameSync(staging, home)
  } catch {
    rmSync(staging, { recursive: true, force: true }) // another test file was first
  }
}

/** Where the packed browser lies and what it needs to run there. */
async function packedChromium(): Promise<LaunchOptions> {
  if (process.arch !== "x64" || !existsSync(PACKAGE)) {
    throw new Error("No Chromium found. Install one, or name it in CHROME_PATH.")
  }
  const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string }
  const home = join(MODULES, `.cache/cuecard/chromium-${version}`)
  if (!existsSync(home)) await unpackInto(home)
  const env: Record<string, string | undefined> = { ...process.env, LD_LIBRARY_PATH: join(home, "al2023/lib") }
  if (!existsSync("/etc/fonts/fonts.conf")) env["FONTCONFIG_PATH"] = join(home, "fonts")
  return { executablePath: join(home, "chromium"), env }
}

/** Starts it. Close it with `browser.close()`. */
export async function launchChromium(): Promise<Browser> {
  const installed = INSTALLED.find((path) => path !== "" && existsSync(path))
  const where = installed === undefined ? await packedChromium() : { executablePath: installed }
  return chromium.launch({ ...where, args: FLAGS })
}
