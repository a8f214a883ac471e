/**
 * bundle-sizes.ts: measures the gzipped scripts of the page, of the widget, of the Worker and of `cuecard/client` in
 * dist/.
 */

import { readdirSync, readFileSync } from "node:fs"
import { join, posix } from "node:path"
import { gzipSync } from "node:zlib"

const PAGE = "dist/client"
const WORKER = "dist/cuecard"
const SDK = "dist/sdk"

/** Gzipped sizes in KB (1,024 bytes). */
export interface BundleSizes {
  /** The scripts of the empty page. */
  readonly initialLoad: number
  /** The initial load and the transcript chunk: the scripts that draw a conversation. */
  readonly conversation: number
  /** The scripts that the first card of a tenant loads in addition to those of a conversation. */
  readonly cardRenderer: number
  /** The service worker of the page. */
  readonly serviceWorker: number
  /** The scripts that a cold start of the Worker loads. */
  readonly workerEntry: number
  /** All scripts of the Worker. Most are loaded on demand and don't slow a cold start. */
  readonly workerTotal: number
}

/** Maximum sizes, in KB. */
export const SIZE_BUDGETS: BundleSizes = {
  initialLoad: 38,
  conversation: 57,
  cardRenderer: 8,
  serviceWorker: 2,
  workerEntry: 155,
  workerTotal: 641,
}

/** Gzipped sizes in KB (1,024 bytes) of the widget's scripts, which contain its styles. */
export interface WidgetSizes {
  /** The scripts that a site loads to show the button. */
  readonly button: number
  /** The scripts of an empty conversation. */
  readonly initialLoad: number
  /** The initial load, and the scripts that draw messages. */
  readonly conversation: number
}

/** Maximum sizes, in KB. */
export const WIDGET_BUDGETS: WidgetSizes = { button: 5, initialLoad: 39, conversation: 60 }

/** The maximum size of a script that is loaded on demand, in KB. */
export const LAZY_PART_BUDGET = 30

/** Scripts without a size limit: the library that typesets formulas (Temml), which is loaded only for a formula. */
const UNLIMITED_PARTS = /(?:^|[/-])typeset-math-/

/**
 * Gzipped sizes in KB (1,024 bytes) of the scripts that each entry loads when it is imported, without the framework.
 */
export interface SdkSizes {
  readonly client: number
  /** `client`, and the scripts that it loads when a conversation is first used. */
  readonly conversation: number
  readonly preact: number
  readonly react: number
}

/** Maximum sizes, in KB. */
export const SDK_BUDGETS: SdkSizes = { client: 9, conversation: 19, preact: 1.5, react: 1.5 }

/** Returns the given scripts and everything they import statically, as paths under `folder`. */
function withStaticImports(folder: string, entries: readonly string[]): string[] {
  const queue = [...entries]
  const found = new Set<string>()
  for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
    if (found.has(path)) continue
    found.add(path)
    const code = readFileSync(join(folder, path), "utf8")
    for (const [, specifier = ""] of code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+)["']/g)) {
      queue.push(posix.join(posix.dirname(path), specifier))
    }
  }
  return [...found]
}

function listScripts(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.m?js$/.test(name))
}

/** Returns the scripts that an HTML file names. */
function listEntries(file: string): string[] {
  const html = readFileSync(`${PAGE}/${file}`, "utf8")
  return [...html.matchAll(/(?:src|href)="\/([^"]+\.m?js)"/g)].map((match) => match[1] ?? "")
}

/** Returns the chunk of a module that is loaded on demand. */
function findEntry(folder: string, module: string): string {
  const entry = listScripts(folder).find((name) => new RegExp(`(?:^|/)${module}-[\\w-]{8}\\.js$`).test(name))
  if (entry === undefined) throw new Error(`There is no ${module} chunk in ${folder}.`)
  return entry
}

/** The chunks that show a conversation in the widget: the views around the messages, the messages, and their styles. */
const WIDGET_MESSAGES = /(?:^|\/)widget-(?:deferred-views|transcript|conversation-styles)-[\w-]{8}\.js$/

/** Returns the gzipped size of these scripts, in units of 1,024 bytes. */
function gzipKb(folder: string, paths: readonly string[]): number {
  const sizes = paths.map((path) => gzipSync(readFileSync(join(folder, path)), { level: 9 }).byteLength)
  return sizes.reduce((sum, size) => sum + size, 0) / 1024
}

/** Measures the build in dist/. Throws if it has no transcript chunk. */
export function measureBundles(): BundleSizes {
  const initialLoad = listEntries("index.html")
  const conversation = withStaticImports(PAGE, [...initialLoad, findEntry(PAGE, "transcript")])
  return {
    initialLoad: gzipKb(PAGE, withStaticImports(PAGE, initialLoad)),
    conversation: gzipKb(PAGE, conversation),
    cardRenderer: measureRenderer(conversation),
    serviceWorker: gzipKb(PAGE, ["service-worker.js"]),
    workerEntry: gzipKb(WORKER, withStaticImports(WORKER, ["index.js"])),
    workerTotal: gzipKb(WORKER, listScripts(WORKER)),
  }
}

/**
 * Returns the size, in KB, of what a module of the Worker loads in addition to what the Worker's entry and the module
 * `other` have loaded.
 */
export function measureChunk(module: string, other: string): number {
  const loaded = new Set(withStaticImports(WORKER, ["index.js", findEntry(WORKER, other)]))
  const scripts = withStaticImports(WORKER, [findEntry(WORKER, module)])
  return gzipKb(
    WORKER,
    scripts.filter((script) => !loaded.has(script)),
  )
}

/**
 * Returns the size of the chunk that draws tenants' cards on the chat page, including the scripts that it imports but
 * that a conversation doesn't load.
 */
function measureRenderer(conversation: readonly string[]): number {
  const entries = listScripts(PAGE).filter((name) => /(?:^|\/)view-card-[^/]*\.js$/.test(name))
  // The admin page and the page for shared copies have a chunk of their own, which imports other scripts.
  const own = entries
    .map((entry) => withStaticImports(PAGE, [entry]))
    .find((scripts) => scripts.some((script) => conversation.includes(script)))
  if (own === undefined) throw new Error("There is no view-card chunk of the chat page.")
  return gzipKb(
    PAGE,
    own.filter((script) => !conversation.includes(script)),
  )
}

/**
 * Returns the largest script of the pages and of the widget that is loaded on demand, except scripts that have no
 * limit.
 */
export function measureLargestPart(): { readonly name: string; readonly kb: number } {
  const pages = readdirSync(PAGE).filter((name) => name.endsWith(".html"))
  // `widget-base` is the widget's initial load, which has a budget of its own.
  const entries = [...pages.flatMap(listEntries), "widget.js", findEntry(PAGE, "widget-base")]
  const first = new Set(withStaticImports(PAGE, entries))
  const parts = listScripts(PAGE).filter((name) => !first.has(name) && !UNLIMITED_PARTS.test(name))
  const sizes = parts.map((name) => ({ name, kb: gzipKb(PAGE, [name]) })).sort((a, b) => b.kb - a.kb)
  if (sizes[0] === undefined) throw new Error(`There are no scripts in ${PAGE}.`)
  return sizes[0]
}

/** Measures the widget in dist/. */
export function measureWidget(): WidgetSizes {
  const sizeOf = (...entries: readonly string[]): number => gzipKb(PAGE, withStaticImports(PAGE, entries))
  const initialLoad = ["widget.js", findEntry(PAGE, "widget-base")]
  // The build may combine some of these modules, so not all of them have a chunk of their own.
  const messages = listScripts(PAGE).filter((name) => WIDGET_MESSAGES.test(name))
  return {
    button: sizeOf("widget.js"),
    initialLoad: sizeOf(...initialLoad),
    conversation: sizeOf(...initialLoad, ...messages),
  }
}

/** Measures the package entries in dist/. */
export function measureSdk(): SdkSizes {
  const sizeOf = (...entries: readonly string[]): number => gzipKb(SDK, withStaticImports(SDK, entries))
  const conversation = sizeOf("index.js", findEntry(SDK, "session-handle"))
  return { client: sizeOf("index.js"), conversation, preact: sizeOf("preact.js"), react: sizeOf("react.js") }
}
