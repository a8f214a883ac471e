/**
 * tenant-models.ts: adds, lists and removes a tenant's own models, and opens their keys. Source: SPEC TM1 to TM5.
 *
 * A key is only sent to the URL for which it was set: if the URL or the provider changes, the key is removed. Otherwise
 * an administrator could read a key by sending it to another server.
 */

import { fail, type Result, succeed } from "../../../shared/fault.ts"
import { openSecret, sealSecret, type SecretLocation } from "../../platform/crypto/seal-secret.ts"
import { type Actor, SYSTEM_ACTOR } from "../../platform/rpc/actor.ts"
import {
  MAX_TENANT_MODELS,
  type CheckedModel,
  type TenantModel,
  type TenantModelView,
} from "../../settings/model-config.ts"
import type { TenantHost } from "../tenant-host.ts"
import { ModelRows, type StoredModel } from "./model-rows.ts"

/** Minimum time between two records of a key's refusal, in milliseconds. */
const REFUSAL_INTERVAL_MS = 60 * 60_000

/**
 * Number of characters at the end of a key that administrators can still see. They would reveal too much of a key with
 * fewer than MIN_CHARS_FOR_END characters, so none of its characters are shown.
 */
const KEY_END_CHARS = 4
const MIN_CHARS_FOR_END = 16

export class TenantModels {
  readonly #host: TenantHost
  readonly #rows: ModelRows

  constructor(host: TenantHost) {
    this.#host = host
    this.#rows = new ModelRows(host.sql)
  }

  list(): TenantModelView[] {
    return this.#host.tables.exist() ? this.#rows.list().map(toView) : []
  }

  async put(actor: Actor, name: string, { key, ...config }: CheckedModel): Promise<Result<TenantModelView>> {
    const sealed = typeof key === "string" ? await sealSecret(this.#host.env, this.#locationOf(name), key) : null
    return this.#host.change(() => {
      const before = this.#rows.find(name)
      if (before === null && this.#rows.list().length >= MAX_TENANT_MODELS)
        return fail({ reason: "models_full", max: MAX_TENANT_MODELS })
      const model = { name, ...config }
      const unchanged = key === undefined && before !== null && hasSameUrl(before.model, model) ? before : null
      const stored: StoredModel =
        typeof key === "string"
          ? { model, sealed, keyEnd: readKeyEnd(key), refused: null }
          : {
              model,
              sealed: unchanged?.sealed ?? null,
              keyEnd: unchanged?.keyEnd ?? null,
              refused: unchanged?.refused ?? null,
            }
      this.#rows.put(stored)
      const { provider, base_url } = config
      const details = {
        provider,
        base_url,
        model: config.model,
        has_key: stored.sealed !== null,
        is_new_key: sealed !== null,
      }
      this.#host.audit.append(actor, { action: "model.changed", target: name, details }, Date.now())
      return succeed(toView(stored))
    })
  }

  remove(actor: Actor, name: string): Result<null> {
    return this.#host.change(() => {
      if (!this.#rows.remove(name)) return fail({ reason: "model_unknown" })
      this.#host.audit.append(actor, { action: "model.removed", target: name }, Date.now())
      return succeed(null)
    })
  }

  async openKey(name: string): Promise<string | null> {
    const sealed = this.#host.tables.exist() ? (this.#rows.find(name)?.sealed ?? null) : null
    if (sealed === null) return null
    return (await openSecret(this.#host.env, this.#locationOf(name), sealed))?.text ?? null
  }

  noteRefusal(name: string, status: number): void {
    const now = Date.now()
    const stored = this.#host.tables.exist() ? this.#rows.find(name) : null
    if (stored === null || (stored.refused !== null && now - stored.refused.at < REFUSAL_INTERVAL_MS)) return
    this.#host.change(() => {
      this.#rows.put({ ...stored, refused: { status, at: now } })
      const event = { action: "model.key_refused", target: name, details: { status } }
      this.#host.audit.append(SYSTEM_ACTOR, event, now)
      return succeed(null)
    })
  }

  #locationOf(name: string): SecretLocation {
    return { tenant: this.#host.tenant, purpose: "model key", name }
  }
}

function hasSameUrl(before: TenantModel, after: TenantModel): boolean {
  return before.provider === after.provider && before.base_url === after.base_url
}

function readKeyEnd(key: string): string {
  return key.length < MIN_CHARS_FOR_END ? "" : key.slice(-KEY_END_CHARS)
}

function toView({ model, keyEnd, refused }: StoredModel): TenantModelView {
  return { ...model, key_end: keyEnd, refused }
}
