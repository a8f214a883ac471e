/** env.ts: gives `cloudflare:test` the types of the Worker's bindings. */
import type { Env as WorkerEnv } from "../../worker/env.ts"

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {}
  }
}
