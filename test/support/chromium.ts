/**
 * chromium.ts: a real Chromium for the browser tests, on any Linux machine.
 *
 * It uses an installed Chromium if it finds one at CHROME_PATH or at the usual paths. Otherwise, it unpacks the
 * Chromium from an npm package into node_modules/.cache, once. This includes the shared libraries (NSS, NSPR, Expat)
 * and, if the machine has no fonts, a font. So `npm test` needs only the machine's C library.
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
  // With fewer processes, the tests take about a tenth less processor time. This list replaces Playwright's list,
  // which contains the first feature.
  "--in-process-gpu",
  "--enable-features=CDPScreenshotNewSurface,NetworkServiceInProcess2",
]

/** If one of these is missing, the machine has no usable fonts and the packed font is used. */
const SYSTEM_FONTS = ["/etc/fonts/fonts.conf", "/usr/share/fonts/truetype"]

const MODULES = join(import.meta.dirname, "../../node_modules")
const PACKAGE = join(MODULES, "@sparticuz/chromium")

/** Interval at which a process checks whether another process has unpacked the browser, in milliseconds. */
const UNPACK_POLL_MS = 100
/** Time after which a process that has not finished unpacking is assumed to have been killed, in milliseconds. */
const UNPACK_TIMEOUT_MS = 90_000

/**
 * Unpacks the browser once. Unpacking takes seconds of processor time, so only the first test process does it, and the
 * others wait.
 */
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

/**
 * Unpacks the browser through a staging folder. TMPDIR points to that folder meanwhile, because the package unpacks
 * into the temporary folder. The final rename is atomic.
 */
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
    rmSync(staging, { recursive: true, force: true }) // another process was faster
  }
}

/** Writes a font configuration, because the one in the package contains another platform's paths. */
function writeFontsConfig(home: string): string {
  const file = join(home, "fonts/cuecard.conf")
  const dirs = ["/usr/share/fonts", "/usr/local/share/fonts", join(home, "fonts/fonts")]
  const lines = [...dirs.map((dir) => `<dir>${dir}</dir>`), `<cachedir>${join(home, "fonts/cache")}</cachedir>`]
  writeFileSync(file, `<?xml version="1.0"?><fontconfig>${lines.join("")}</fontconfig>\n`)
  return file
}

/** Returns the launch options of the packed browser. */
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

/** Starts a Chromium. The test files of a process share it, and it ends together with the process. */
async function launchChromium(): Promise<Browser> {
  const installed = INSTALLED.find((path) => path !== "" && existsSync(path))
  const where = installed === undefined ? await packedChromium() : { executablePath: installed }
  return watchBrowser(await chromium.launch({ ...where, args: FLAGS }))
}

let shared: Promise<Browser> | null = null

/**
 * Returns the Chromium of this process. It is started on first use and after a crash. Call `closeContexts` at the end
 * of each test file.
 */
export async function openChromium(): Promise<Browser> {
  const running = await shared?.catch(() => null)
  if (running?.isConnected() === true) return running
  shared = launchChromium()
  return shared
}

/** Closes all pages, so that the next test file in this process starts without any. */
export async function closeContexts(browser: Browser | undefined): Promise<void> {
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()))
}
