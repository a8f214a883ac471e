/** weight.ts: bytes shipped: the page's first view and the Worker, both gzipped. */

import { readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import type { Row } from "./table.ts"

const DIST = new URL("../../dist/", import.meta.url)

function gzipKb(path: string): number {
  return gzipSync(readFileSync(new URL(path, DIST)), { level: 9 }).length / 1000
}

/** Scripts that index.html loads before anything is clicked: those it names, and those they are preloaded with. */
function firstScripts(): string[] {
  const html = readFileSync(new URL("client/index.html", DIST), "utf8")
  return Array.from(html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g), (match) => `client/${match[1]}`)
}

export async function benchWeight(): Promise<Row[]> {
  const page = firstScripts().reduce((sum, path) => sum + gzipKb(path), 0)
  const worker = readdirSync(new URL("cuecard/", DIST)).filter((name) => name.endsWith(".js"))
  const size = worker.reduce((sum, name) => sum + gzipKb(`cuecard/${name}`), 0)
  return [
    {
      what: "JavaScript of the first view, gzip",
      ours: `${page.toFixed(1)} KB`,
      goal: "≤ 35 KB",
      floor: "",
      peer: "200–322 KB",
    },
    { what: "Worker, gzip", ours: `${size.toFixed(1)} KB`, goal: "≤ 150 KB", floor: "", peer: "426 KB" },
  ]
}
