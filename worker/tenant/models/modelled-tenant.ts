/** modelled-tenant.ts: the calls of the tenant object that concern its own models. Source: SPEC TM1. */

import type { Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { ModelInput, ModelRpc, TenantModelView } from "../../settings/model-config.ts"
import { ListenedTenant } from "../questions/listened-tenant.ts"
import { TenantModels } from "./tenant-models.ts"

export abstract class ModelledTenant extends ListenedTenant implements ModelRpc {
  listModels(): TenantModelView[] {
    return new TenantModels(this.host).list()
  }

  async putModel(actor: Actor, name: string, model: ModelInput): Promise<Result<TenantModelView>> {
    return await new TenantModels(this.host).put(actor, name, model)
  }

  removeModel(actor: Actor, name: string): Result<null> {
    return new TenantModels(this.host).remove(actor, name)
  }

  async getModelKey(name: string): Promise<string | null> {
    return await new TenantModels(this.host).openKey(name)
  }

  noteKeyRefusal(name: string, status: number): void {
    new TenantModels(this.host).noteRefusal(name, status)
  }
}
