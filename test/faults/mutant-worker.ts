/**
 * mutant-worker.ts: the Worker with the bug that the variable MUTANT names. Only the fault suite builds it.
 */

import type { Env } from "../../worker/env.ts"
import { Session as ProductionSession } from "../../worker/session/session-object.ts"
import { createMutantHooks } from "./mutants.ts"

export { Directory } from "../../worker/directory/directory-object.ts"
export { default } from "../../worker/index.ts"
export { Tenant } from "../../worker/tenant/tenant-object.ts"

export class Session extends ProductionSession {
  constructor(ctx: DurableObjectState, env: Env & { readonly MUTANT?: string }) {
    super(ctx, env, createMutantHooks(env.MUTANT))
  }
}
