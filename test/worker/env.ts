/** env.ts: the bindings that `cloudflare:test` hands to tests are those of the Worker. */
import type { Env as WorkerEnv } from "../../worker/env.ts"

declare global {
  namespace Cloudflare {
    interface Env extends WorkerEnv {}
  }
}
