/** weight.ts: gzipped sizes of the first view of the page and of the Worker. */

import { readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import type { Row } from "./table.ts"

const DIST = new URL("../../dist/", import.meta.url)

function gzipKb(path: string): number {
  return gzipSync(readFileSync(new URL(path, DIST)), { level: 9 }).length / 1000
}

/** Scripts that index.html loads at once: those it names and those they preload. */
function firstScripts(): string[] {
  const html = readFileSync(new URL("client/index.html", DIST), "utf8")
  return Array.from(html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g), (match) => `client/${match[1]}`)
}

export async function benchWeight(): Promise<Row[]> {
  const page = firstScripts().reduce((sum, path) => sum + gzipKb(path), 0)
  const scripts = readdirSync(new URL("client/assets/", DIST)).filter((name) => name.endsWith(".js"))
  const whole = scripts.reduce((sum, name) => sum + gzipKb(`client/assets/${name}`), 0)
  const worker = readdirSync(new URL("cuecard/", DIST)).filter((name) => name.endsWith(".js"))
  const size = worker.reduce((sum, name) => sum + gzipKb(`cuecard/${name}`), 0)
  const kb = (size: number): string => `${size.toFixed(1)} KB`
  const row = (what: string, ours: string, goal: string, peer: string): Row => ({ what, ours, goal, floor: "", peer })
  return [
    row("JavaScript that the page asks for at once, gzip", kb(page), "≤ 35 KB", "200–322 KB"),
    row("the same, and what it loads to draw a conversation", kb(whole), "", ""),
    row("Worker, gzip", kb(size), "≤ 150 KB", "426 KB"),
  ]
}
