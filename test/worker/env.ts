/** env.ts: declares the types of the Worker's bindings for `cloudflare:test`. */
import type { Env as WorkerEnv } from "../../worker/env.ts"

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {}
  }
}
