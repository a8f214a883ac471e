/**
 * deploy.ts: makes a production build and deploys it to Cloudflare. Options are passed to `wrangler deploy`, such as `--dry-run`.
 *
 * The bucket in wrangler.toml must exist.
 */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { BUILT_CONFIG, buildApp } from "./build-state.ts"

buildApp("production")
const args = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--config", BUILT_CONFIG, ...process.argv.slice(2)]
const env = { ...process.env, WRANGLER_SEND_METRICS: "false" }
const { status } = spawnSync(process.execPath, args, { stdio: "inherit", env })
if (status !== 0) {
  console.error("If the bucket is missing, create it once: npx wrangler r2 bucket create cuecard-media")
}
process.exit(status ?? 1)
