/**
 * model-tenant.ts: the tenant object's methods for the tenant's own models. Their code is loaded on the first call.
 * Source: SPEC TM1.
 */

import type { Result } from "../../../shared/fault.ts"
import type { Actor } from "../../platform/rpc/actor.ts"
import type { CheckedModel, ModelRpc, TenantModelView } from "../../settings/model-config.ts"
import { QuestionTenant } from "../questions/question-tenant.ts"
import type { TenantModels } from "./tenant-models.ts"

export abstract class ModelTenant extends QuestionTenant implements ModelRpc {
  async listModels(): Promise<TenantModelView[]> {
    return (await this.#loadModels()).list()
  }

  async putModel(actor: Actor, name: string, model: CheckedModel): Promise<Result<TenantModelView>> {
    return await (await this.#loadModels()).put(actor, name, model)
  }

  async removeModel(actor: Actor, name: string): Promise<Result<null>> {
    return (await this.#loadModels()).remove(actor, name)
  }

  async getModelKey(name: string): Promise<string | null> {
    return await (await this.#loadModels()).openKey(name)
  }

  async noteKeyRefusal(name: string, status: number): Promise<void> {
    ;(await this.#loadModels()).noteRefusal(name, status)
  }

  async #loadModels(): Promise<TenantModels> {
    const { TenantModels } = await import("./tenant-models.ts")
    return new TenantModels(this.host)
  }
}
