/**
 * build-state.ts: checks whether dist/ is an up-to-date local build, and makes builds.
 *
 * `npm run deploy` leaves a production build in dist/, which must not be served locally.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import process from "node:process"

export const BUILT_CONFIG = "dist/cuecard/wrangler.json"
const VARS = ".dev.vars"
/** The copy of VARS that a build contains. */
const BUILT_VARS = "dist/cuecard/.dev.vars"
const SOURCES = [
  "shared",
  "worker",
  "client",
  "widget",
  "public",
  "index.html",
  "admin.html",
  "share.html",
  "embed.html",
  "scripts/adapt-styles.ts",
  "scripts/bundling",
  "wrangler.toml",
  "vite.config.ts",
  "package-lock.json",
  VARS,
]

function newestMs(path: string): number {
  if (!existsSync(path)) return 0
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))))
}

function isLocal(config: string): boolean {
  const { vars } = JSON.parse(readFileSync(config, "utf8")) as { vars?: { ENVIRONMENT?: string } }
  return vars?.ENVIRONMENT === "local"
}

export function isBuilt(): boolean {
  if (!existsSync(BUILT_CONFIG) || !existsSync("dist/client/index.html")) return false
  if (existsSync(VARS) !== existsSync(BUILT_VARS)) return false
  return isLocal(BUILT_CONFIG) && statSync(BUILT_CONFIG).mtimeMs >= Math.max(...SOURCES.map(newestMs))
}

/** Builds the page and the Worker. If the build fails, the process exits with its code. */
export function buildApp(environment: "local" | "production"): void {
  // Production is the top level of wrangler.toml.
  const env = { ...process.env, CLOUDFLARE_ENV: environment === "production" ? "" : environment }
  const { status } = spawnSync(process.execPath, ["node_modules/vite/bin/vite.js", "build"], { stdio: "inherit", env })
  if (status !== 0) process.exit(status ?? 1)
}

/** Builds the package entries. If that fails, the process exits with its code. */
export function buildPackages(): void {
  const { status } = spawnSync("npm", ["run", "--silent", "build:packages"], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
