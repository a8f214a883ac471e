/** feedback-counter.ts: the tenant object's methods that count feedback. Source: SPEC WR13. */

import { DurableObject } from "cloudflare:workers"
import type { FeedbackCount } from "../../../shared/protocol/writing/feedback.ts"
import type { Env } from "../../env.ts"
import type { FeedbackChange } from "../../platform/rpc/session-types.ts"
import type { TenantHost } from "../tenant-host.ts"
import type { FeedbackCounts } from "./feedback-counts.ts"

export abstract class FeedbackCounter extends DurableObject<Env> {
  protected abstract readonly host: TenantHost

  async countFeedback(change: FeedbackChange): Promise<void> {
    ;(await this.#loadCounts()).add(change)
  }

  async listFeedbackCounts(): Promise<FeedbackCount[]> {
    return (await this.#loadCounts()).list()
  }

  async #loadCounts(): Promise<FeedbackCounts> {
    const { FeedbackCounts } = await import("./feedback-counts.ts")
    return new FeedbackCounts(this.host)
  }
}
