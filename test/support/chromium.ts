/**
 * chromium.ts: a real Chromium for the browser tests, on any Linux machine.
 *
 * It uses an installed Chromium if there is one: CHROME_PATH, then the usual paths. Otherwise it unpacks the Chromium of
 * an npm package once into node_modules/.cache, with its shared libraries (NSS, NSPR, Expat) and, if the machine has no
 * fonts, its font. So `npm test` needs only the C library of the machine.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"
import { type Browser, chromium, type LaunchOptions } from "playwright-core"
import { watchBrowser } from "./watch-browser.ts"

const INSTALLED = [
  process.env["CHROME_PATH"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
]

/** The browser opens no connections except those of the page under test. */
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
  // Fewer processes need about a tenth less processor time. The first feature is from Playwright's list, which this one replaces.
  "--in-process-gpu",
  "--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2",
]

/** If one of these is missing, the machine has no usable fonts and the packed font is used. */
const SYSTEM_FONTS = ["/etc/fonts/fonts.conf", "/usr/share/fonts/truetype"]

const MODULES = join(import.meta.dirname, "../../node_modules")
const PACKAGE = join(MODULES, "@sparticuz/chromium")

/** Interval at which a process checks whether another process has unpacked the browser, in milliseconds. */
const UNPACK_POLL_MS = 100
/** A process that has not finished unpacking after this time has been killed, in milliseconds. */
const UNPACK_TIMEOUT_MS = 90_000

/** Unpacks the browser once. It takes seconds of processor time, so the other test processes wait for the first one. */
async function ensureUnpacked(home: string): Promise<void> {
  const lock = `${home}.lock`
  mkdirSync(join(home, ".."), { recursive: true })
  while (!existsSync(home)) {
    if (tryCreateFolder(lock)) {
      try {
        if (!existsSync(home)) await unpackInto(home)
      } finally {
        rmSync(lock, { recursive: true, force: true })
      }
      return
    }
    await new Promise((resolve) => setTimeout(resolve, UNPACK_POLL_MS))
    const created = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - created > UNPACK_TIMEOUT_MS) rmSync(lock, { recursive: true, force: true })
  }
}

/** Returns whether this call has created the folder. */
function tryCreateFolder(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch {
    return false
  }
}

/** The package unpacks into the temporary folder, so TMPDIR points to a staging folder meanwhile. The final rename is atomic. */
async function unpackInto(home: string): Promise<void> {
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
    rmSync(staging, { recursive: true, force: true }) // another process was first
  }
}

/** The configuration in the package contains paths of another platform. */
function writeFontsConfig(home: string): string {
  const file = join(home, "fonts/cuecard.conf")
  const dirs = ["/usr/share/fonts", "/usr/local/share/fonts", join(home, "fonts/fonts")]
  const lines = [...dirs.map((dir) => `<dir>${dir}</dir>`), `<cachedir>${join(home, "fonts/cache")}</cachedir>`]
  writeFileSync(file, `<?xml version="1.0"?><fontconfig>${lines.join("")}</fontconfig>\n`)
  return file
}

/** The launch options of the packed browser. */
async function packedChromium(): Promise<LaunchOptions> {
  if (process.arch !== "x64" || !existsSync(PACKAGE)) {
    throw new Error("No Chromium found. Install one, or set CHROME_PATH to its path.")
  }
  const { version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as { version: string }
  const home = join(MODULES, `.cache/cuecard/chromium-${version}`)
  await ensureUnpacked(home)
  const env: Record<string, string | undefined> = { ...process.env, LD_LIBRARY_PATH: join(home, "al2023/lib") }
  if (!SYSTEM_FONTS.every(existsSync)) env["FONTCONFIG_FILE"] = writeFontsConfig(home)
  return { executablePath: join(home, "chromium"), env }
}

/** Starts a Chromium. The files of a worker process share it, and it ends with the process. */
async function launchChromium(): Promise<Browser> {
  const installed = INSTALLED.find((path) => path !== "" && existsSync(path))
  const where = installed === undefined ? await packedChromium() : { executablePath: installed }
  return watchBrowser(await chromium.launch({ ...where, args: FLAGS }))
}

let shared: Promise<Browser> | null = null

/** The Chromium of this process, started on first use and after a crash. Call `closeContexts` at the end of the file. */
export async function openChromium(): Promise<Browser> {
  const running = await shared?.catch(() => null)
  if (running?.isConnected() === true) return running
  shared = launchChromium()
  return shared
}

/** Closes all pages, so that the next file of this process starts with none. */
export async function closeContexts(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
}
