/** dev.ts: serves the page and the Worker with hot reload on http://127.0.0.1:8787. Options are passed to Vite. */
import process from "node:process"
import { runGroup } from "./process-group.ts"

runGroup(["node_modules/vite/bin/vite.js", "dev", ...process.argv.slice(2)], ["ignore", "inherit", "inherit"])
