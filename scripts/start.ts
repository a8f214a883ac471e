/**
 * start.ts: serves the built page and Worker on this machine. Builds first if dist/ is out of date.
 *
 * The server needs no account, key or network. Objects and the bucket are stored in `.wrangler/state`. Options are
 * passed to `wrangler dev`: `npm start -- --port 9000 --persist-to DIR`.
 */
import { resolve } from "node:path"
import process from "node:process"
import { parseArgs } from "node:util"
import { BUILT_CONFIG, buildApp, isBuilt } from "./build-state.ts"
import { runGroup } from "./process-group.ts"

const READY_POLL_MS = 100
const MIN_NODE = 22

const { values, tokens } = parseArgs({
  options: {
    ip: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8787" },
    "persist-to": { type: "string", default: ".wrangler/state" },
    "log-level": { type: "string", default: "warn" },
  },
  strict: false,
  tokens: true,
})

/** Returns the arguments that this script does not handle itself, in order. */
function readOtherArgs(argv: readonly string[]): string[] {
  const ours = new Set(["ip", "port", "persist-to", "log-level"])
  const taken = new Set<number>()
  for (const token of tokens) {
    if (token.kind !== "option" || !ours.has(token.name)) continue
    taken.add(token.index)
    if (token.value !== undefined && !token.inlineValue) taken.add(token.index + 1)
  }
  return argv.filter((_, index) => !taken.has(index))
}

/** Whether a server responds. Any response counts, including an error. */
async function isServing(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/healthz`)
    return true
  } catch {
    return false
  }
}

async function announceWhenReady(url: string): Promise<void> {
  while (!(await isServing(url))) await new Promise((done) => setTimeout(done, READY_POLL_MS))
  console.log(`Cuecard is ready: ${url}`)
}

if (Number(process.versions.node.split(".")[0]) < MIN_NODE) {
  console.error(
    `Node ${MIN_NODE} or newer is required. On Linux, npm ci installs it unless optional packages are omitted.`,
  )
  process.exit(1)
}
const url = `http://${values.ip}:${values.port}`
if (await isServing(url)) {
  console.error(`${url} is in use. Choose another port: npm start -- --port 9000`)
  process.exit(1)
}
if (!isBuilt()) buildApp("local")
runGroup(
  [
    "node_modules/wrangler/bin/wrangler.js",
    "dev",
    "--config",
    BUILT_CONFIG,
    "--local",
    "--inspector-port",
    "0",
    "--ip",
    String(values.ip),
    "--port",
    String(values.port),
    "--log-level",
    String(values["log-level"]),
    "--persist-to",
    resolve(String(values["persist-to"])),
    ...readOtherArgs(process.argv.slice(2)),
  ],
  ["ignore", "inherit", "inherit"],
)
await announceWhenReady(url)
