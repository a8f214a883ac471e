/** deploy.ts: builds for production and hands it to Cloudflare. Options go to `wrangler deploy` (`--dry-run`). */
import { spawnSync } from "node:child_process"
import process from "node:process"
import { BUILT_CONFIG, buildApp } from "./built.ts"

buildApp("production")
const args = ["node_modules/wrangler/bin/wrangler.js", "deploy", "--config", BUILT_CONFIG, ...process.argv.slice(2)]
const env = { ...process.env, WRANGLER_SEND_METRICS: "false" }
process.exit(spawnSync(process.execPath, args, { stdio: "inherit", env }).status ?? 1)
