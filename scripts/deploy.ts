/**
 * deploy.ts: builds for production and hands it to Cloudflare. Options go to `wrangler deploy` (`--dry-run`).
 *
 * The bucket of wrangler.toml has to be there before; where it fails it says how that is made.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { BUILT_CONFIG, buildApp } from "./build-state.ts"

buildApp("production")
const args = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--config", BUILT_CONFIG, ...process.argv.slice(2)]
const env = { ...process.env, WRANGLER_SEND_METRICS: "false" }
const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env })
if (status !== 0) {
  console.error("Where the bucket is missing, make it once: npx wrangler r2 bucket create cuecard-media")
}
process.exit(status ?? 1)
